"""Right answers changed minimally into wrong ones, and back: both ways are judged, in several
notations. A fault that is called correct, or a right answer that is called faulty, is a failure;
`unread` is honest, and its share is counted."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from headwright.homework.one_document import judge_document
from headwright.homework.reading.formats import read_text

from .corpus.notation import Notation

FAULTY = {"wrong", "incomplete"}
# Shares of verdicts that may be missing: of answers with formulas, and of those told by words
MOST_UNREAD = {False: 0.08, True: 0.95}
FOUND = ("right", "unread", "misjudged")


@dataclass(frozen=True)
class Pair:
    question: str
    change: str
    label: str
    right: str
    faulty: str
    context: str = ""
    step: str = ""
    words: bool = False


def _pairs() -> list[Pair]:
    text = Path(__file__).with_name("mutations.toml").read_text("utf-8")
    return [Pair(**record) for record in tomllib.loads(text)["pair"]]


def _inline(latex: str) -> str:
    return f"${latex}$"


def _tall(latex: str) -> str:
    taller = latex.replace("^T", r"^\top").replace("(", r"\left(").replace(")", r"\right)")
    return f"${taller}$"


def _bold(latex: str) -> str:
    vectors = re.sub(r"(?<![A-Za-z\\])([kqvuc])(?=[_^ ,=]|$)", r"\\mathbf{\1}", latex)
    return f"${vectors.replace(chr(92) + 'mu', chr(92) + 'boldsymbol{' + chr(92) + 'mu}')}$"


def _displayed(latex: str) -> str:
    return f"\n\\[ {latex} \\]\n" if "=" in latex or "approx" in latex else f"${latex}$"


NOTATIONS = {
    "LaTeX": _inline,
    "tall LaTeX": _tall,
    "bold LaTeX": _bold,
    "displays": _displayed,
    "Unicode": Notation(spelling="unicode").written,
    "ASCII": Notation(spelling="ascii").written,
}
PAIRS = _pairs()


def _written(text: str, notation: str) -> str:
    return re.sub(r"\$([^$]+)\$", lambda match: NOTATIONS[notation](match[1]), text)


@cache  # two tests ask
def _status(pair: Pair, answer: str, notation: str) -> str:
    """What the answer, or the step in it, is called."""
    text = f"{pair.context}\n\n{pair.label} {answer}\n"
    verdicts = judge_document(read_text(_written(text, notation), name="one.md")).verdicts
    if pair.step:
        verdicts = [step for verdict in verdicts for step in verdict.steps]
    wanted = f"{pair.question}/step:{pair.step}" if pair.step else pair.question
    return next((v.status for v in verdicts if v.question == wanted), "unread")


def _found(status: str, deserved: set[str]) -> str:
    if status in deserved:
        return "right"
    return "unread" if status in ("unread", "missing") else "misjudged"


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.question}, {pair.change}")
def test_a_small_change_turns_the_verdict(pair, notation):
    right = _status(pair, pair.right, notation)
    faulty = _status(pair, pair.faulty, notation)
    assert _found(right, {"correct"}) != "misjudged", f"right answer called {right}"
    assert _found(faulty, FAULTY) != "misjudged", f"fault called {faulty}"


@pytest.mark.parametrize("words", [False, True], ids=["formulas", "words"])
def test_few_of_them_are_unread(words):
    counts: Counter[str] = Counter()
    for pair in (pair for pair in PAIRS if pair.words == words):
        for notation in NOTATIONS:
            counts[_found(_status(pair, pair.right, notation), {"correct"})] += 1
            counts[_found(_status(pair, pair.faulty, notation), FAULTY)] += 1
    assert set(counts) <= set(FOUND)
    assert counts["unread"] <= MOST_UNREAD[words] * counts.total(), counts


def test_every_formula_question_and_every_kind_of_change_is_there():
    formulas = {pair.question for pair in PAIRS if not pair.words}
    assert formulas >= {"a.prob", "a.cond", "a.out", "b.M", "b.q", "c.q", "c.var", "d.q", "d.var"}
    assert formulas >= {"e.c2", "e.KQV", "p.perm", "p.help"}
    changes = {pair.change for pair in PAIRS}
    assert changes >= {
        "sign", "index swapped", "transpose dropped", "scale removed", "exp lost", "1/2 inserted",
        "head duplicated", "permutation on the wrong side", "negation inserted",
    }  # fmt: skip
