"""Hand-ins of the sample class, in the formats that students use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from headwright.course.demo.tables import Asked, HandIn, SampleClass

_TITLE = "Exercise 5: attention"


def documents(sample: SampleClass) -> Iterator[tuple[str, str]]:
    """Paths below the folder of the hand-ins, with what stands in the files."""
    for one in sample.hand_ins:
        path = f"{one.student}/answers.{one.format}"
        yield path, "" if one.is_empty else _FORMATS[one.format](_answers(one, sample.asked))


def _answers(one: HandIn, asked: Sequence[Asked]) -> list[str]:
    """What is written, under the labels of the handout."""
    given = [(question.label, one.answers[question.id]) for question in asked]
    return [
        f"{label} {answer.typst if one.format == 'typ' else answer.latex}"
        for label, answer in given
        if answer is not None
    ]


def _markdown(answers: Sequence[str]) -> str:
    return "\n\n".join([f"# {_TITLE}", *answers]) + "\n"


def _latex(answers: Sequence[str]) -> str:
    body = "\n\n".join([rf"\section*{{{_TITLE}}}", *answers])
    return f"\\documentclass{{article}}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"


def _notebook(answers: Sequence[str]) -> str:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": text}
        for text in (f"# {_TITLE}", *answers)
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _typst(answers: Sequence[str]) -> str:
    return "\n\n".join([f"= {_TITLE}", *answers]) + "\n"


_FORMATS: Mapping[str, Callable[[Sequence[str]], str]] = {
    "md": _markdown,
    "tex": _latex,
    "ipynb": _notebook,
    "typ": _typst,
}
