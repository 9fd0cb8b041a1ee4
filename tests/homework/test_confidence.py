"""What is computed is surer than what is told by words, and a doubtful place makes all doubtful."""

from __future__ import annotations

import pytest

from headwright.homework.batch import check
from headwright.homework.confidence import confidence
from headwright.homework.locating.answer import Judged
from headwright.homework.verdict import Outcome


def sure(status="correct", test="query", place=0.9):
    return confidence(place, test, Judged(Outcome(status, "reason")))


def test_a_formula_is_surer_than_a_claim_and_a_claim_than_a_proof():
    assert sure() > sure(test="condition") > sure(test="variation") > sure(test="equivariance")
    assert sure(test="equivariance") >= sure(test="a test that reads words")


def test_an_accusation_is_less_sure_than_praise_and_a_doubtful_place_counts():
    assert sure("wrong") < sure()
    assert sure(place=0.3) < sure(place=0.9)


@pytest.mark.parametrize("status", ["unread", "missing"])
def test_what_is_not_judged_is_as_sure_as_its_place(status):
    assert sure(status, test="variation") == 0.9


def test_words_that_decide_without_a_formula_are_less_sure():
    formula = check("(a) i. $\\alpha_i \\ge 0$ and $\\sum_i \\alpha_i = 1$").verdicts[0]
    words = check("(a) i. The weights are positive and they sum to one.").verdicts[0]
    assert formula.status == "correct"
    assert words.confidence < formula.confidence
