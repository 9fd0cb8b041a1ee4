"""What says that nothing was answered, and what is a short answer."""

from __future__ import annotations

import pytest

from headwright.homework.locating.silent import is_silent
from headwright.homework.reading.document import Segment

BLANK = (
    "TODO", "- ", "???", "...", "not done", "I don't know.", "idk, sorry", "(out of time :( )",
    "Didn’t get to this one", "skipped, no time", "see the handwritten sheet", "Answer: left blank",
    "keine Zeit mehr", "weiß ich nicht", "Lösung: fehlt noch", "pas fait, manque de temps",
    "je ne sais pas", "no lo hice", "no me dio tiempo", "não fiz", "Resposta: em branco",
    "没写", "时间不够，没做", "略，见手写稿。", "解答：未記入", "時間が足りませんでした",
    "分かりません",
    "모르겠습니다", "(시간이 부족했음)",
)  # fmt: skip
ANSWERED = (
    "No.", "Yes", "不会", "不能", "できません", "Nein", "não", "아니오", "as above", "c", "v_j",
    "nothing changes", "It is missing the order", "time", "the same as in (c)",
)  # fmt: skip


def _spoken(text: str, kind: str = "prose") -> Segment:
    return Segment(kind, text, 0, len(text), line_start=1, line_end=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", BLANK)
def test_these_words_say_that_nothing_was_answered(text):
    assert is_silent(_spoken(text))


@pytest.mark.parametrize("text", ANSWERED)
def test_a_short_answer_is_an_answer(text):
    assert not is_silent(_spoken(text))


@pytest.mark.parametrize(("formula", "silent"), [(r"\ldots", True), ("?", True), ("c", False)])
def test_dots_in_a_formula_are_no_answer(formula, silent):
    assert is_silent(_spoken(formula, "math")) == silent
