"""The questions of one sheet as a bank, so that `check` judges a variant like any other exercise.

The classic exercise is worded in `classic.toml`. A teacher's own bank is worded by itself: where
its `asked` and `right` have marks such as <<share_one>>, they are filled in, and the question's
target follows them.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

from headwright.course.variants.variant import Variant
from headwright.design.closed_form import sharpness
from headwright.errors import InputError
from headwright.exercise.bank import Bank, Question, load

_MARK = re.compile(r"<<(\w+)>>")
_SHARES = ("share_one", "share_two", "share_varying", "share_steady")
_LETTERS = ("one", "two", "varying", "steady")


@cache
def _classic() -> Mapping[str, Any]:
    source = resources.files("headwright.course.variants").joinpath("classic.toml")
    return tomllib.loads(source.read_text("utf-8"))


def sheet_bank(base: Bank) -> Bank:
    """What a sheet asks, before anything is filled in: the classic questions in the words of
    `classic.toml`, all questions of another bank as they are."""
    wording = _classic()["question"]
    asked_there = {question.id: question.asked for question in base}
    classic = load()
    if any(asked_there.get(id) != classic[id].asked for id in wording):
        return base
    asked = tuple(replace(base[id], **texts) for id, texts in wording.items())
    courses = tuple(c for c in base.courses if c.handouts and c.exercises == (tuple(wording),))
    setting = _classic()["setting"]
    return replace(base, questions=asked, courses=courses, setting=setting)


def variant_bank(sheet: Bank, variant: Variant) -> Bank:
    """The sheet of one student."""
    values = _values(variant)
    questions = tuple(_filled_question(question, variant, values) for question in sheet)
    lettered = any(_marks(question, _LETTERS) for question in sheet)
    letters = {"a": variant.varying, "b": variant.steady} if lettered else sheet.letters
    setting = _filled(sheet.setting, values, "the setting")
    return replace(sheet, questions=questions, letters=letters, setting=setting)


def varied(question: Question) -> bool:
    """Does this question's right answer differ from sheet to sheet?"""
    return bool(_MARK.search(question.right))


def _values(variant: Variant) -> dict[str, str]:
    shares = {variant.varying: variant.share, variant.steady: 1 - variant.share}
    beta = sharpness(variant.n, leak=variant.leak / 100, m=2)
    root = math.isqrt(variant.d)
    scaled = rf" Here all scores are divided by $\sqrt{{d}}$, and $d = {variant.d}$."
    return {
        "one": variant.one,
        "two": variant.two,
        "varying": variant.varying,
        "steady": variant.steady,
        "share_one": f"{shares[variant.one]:g}",
        "share_two": f"{shares[variant.two]:g}",
        "share_varying": f"{shares[variant.varying]:g}",
        "share_steady": f"{shares[variant.steady]:g}",
        "n": str(variant.n),
        "leak": str(variant.leak),
        "scale": f"{beta:.2f}",
        "variance": variant.variance,
        "scores": scaled if variant.d else "",
        "root": str(root) if variant.d else "",
    }


def _filled_question(question: Question, variant: Variant, values: Mapping[str, str]) -> Question:
    return replace(
        question,
        asked=_filled(question.asked, values, question.id),
        right=_filled(question.right, values, question.id),
        parameters={**question.parameters, **_parameters(question, variant)},
    )


def _parameters(question: Question, variant: Variant) -> dict[str, Any]:
    """What the judges are told, for every mark that the question has."""
    told: dict[str, Any] = {}
    if _marks(question, _SHARES):
        told["target"] = {"a": variant.share, "b": 1 - variant.share}
    if _marks(question, ("leak", "n")):
        told |= {"n": variant.n, "leak": variant.leak / 100}
    if _marks(question, ("scores",)) and variant.d:
        told |= {"d": variant.d, "scaled": True}
    if question.test in ("queries", "variation"):
        told["variance"] = variant.variance_number
    if _marks(question, _LETTERS):
        told["lettered"] = True
    return told


def _marks(question: Question, names: tuple[str, ...]) -> bool:
    found = _MARK.findall(question.asked + question.right)
    return any(name in found for name in names)


def _filled(text: str, values: Mapping[str, str], where: str) -> str:
    unknown = [name for name in _MARK.findall(text) if name not in values]
    if unknown:
        raise InputError(
            wanted=f"marks among {', '.join(f'<<{name}>>' for name in values)}",
            got=f"<<{unknown[0]}>> in {where}",
            attempt="correct its name",
        )
    return _MARK.sub(lambda mark: values[mark[1]], text)
