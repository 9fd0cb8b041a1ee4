"""One head and a key of varying length: c swings between v_a and v_b."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headwright.exercise.instances import Instance, smallest
from headwright.homework.judges.claims import (
    LETTERS_OF_PAIR,
    NEAR,
    VALUE_ROLES,
    about_output,
    consistent_members,
    words_spent,
)
from headwright.homework.judges.points.judge import judged_by_points, read
from headwright.homework.judges.points.sentences import sentences, stated
from headwright.homework.judges.steps.kinds import formula_in_length
from headwright.homework.judges.steps.points import step_context
from headwright.homework.judges.variation.swinging import crossed, is_value
from headwright.homework.locating.answer import Answer, Judged
from headwright.homework.meaning.formula import Chain
from headwright.homework.meaning.statements import Statement
from headwright.homework.scenes.arithmetic import agree
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene
from headwright.homework.verdict import Outcome

SHARP = 10.0  # the beta of the examples
# Words beside a formula, or beside the average, up to which it must be the whole answer
BESIDE_FORMULA = 15
BESIDE_AVERAGE = 6


def judge_one_head(answer: Answer) -> Judged:
    """What is said of c in cases and in words; then a covariance, a formula, the bare average. What
    is lacking in the words counts last."""
    ends = _ends(answer)
    if crossed(sentences(answer)):
        return _crossed(ends)
    in_words = judged_by_points(read(answer, "c.var", ends))
    if in_words.outcome.status == "correct":
        return in_words
    found = _covariance(answer) or _formula(answer) or _average_only(answer)
    return found or in_words


def _ends(answer: Answer) -> dict[str, Statement]:
    """`c ~ v_a` in one case and `c ~ v_b` in the other, as the points of the rubric."""
    claims = stated(answer)
    ends = {}
    for letter in LETTERS_OF_PAIR:
        found = [statement for statement in claims if is_value(statement.chain, letter)]
        if found:
            ends[f"to_{letter}"] = found[-1]
    return ends


def _crossed(ends: dict[str, Statement]) -> Judged:
    outcome = Outcome(
        "wrong",
        "the cases are crossed: a longer k_a (gamma > 1) gives v_a, a shorter one v_b",
        {"beta": SHARP, "gamma": 1.5, "alpha_a": weight_of_a(1.5)},
        "exchange v_a and v_b",
    )
    return Judged(outcome, tuple(ends.values()))


def _covariance(answer: Answer) -> Judged | None:
    found = [s for s in answer.statements if _is_covariance(s.chain)]
    if not found:
        return None
    reason = "the limit covariance of c is (v_a - v_b)(v_a - v_b)'/4"
    return Judged(Outcome("correct", reason), tuple(found))


def _is_covariance(chain: Chain) -> bool:
    instance = smallest()
    difference = (instance.v_a - instance.v_b)[:, None]
    truth = difference @ difference.T / 4
    found = consistent_members(chain.terms, Scene(instance, Roles(VALUE_ROLES)))
    matrices = [member for member in found if np.shape(member) == truth.shape]
    return any(agree(matrix, truth, NEAR) for matrix in matrices)


def _formula(answer: Answer) -> Judged | None:
    """A formula for c or alpha_a in the length of k_a. A false one decides only where nothing else
    was said that could be the answer."""
    context = step_context(answer)
    tested = [(s, formula_in_length(s.chain, context)) for s in answer.statements]
    found = [(statement, outcome) for statement, outcome in tested if outcome is not None]
    if not found:
        return None
    statement, outcome = found[-1]
    if outcome.status == "correct":
        return Judged(outcome, (statement,))
    if words_spent(answer) > BESIDE_FORMULA:
        return None
    repair = "alpha_a = 1 / (1 + exp(beta (1 - gamma))), and c = alpha_a v_a + (1 - alpha_a) v_b"
    return Judged(replace(outcome, repair=repair), (statement,))


def _average_only(answer: Answer) -> Judged | None:
    """The whole answer is `c ~ (v_a + v_b)/2`."""
    if words_spent(answer) > BESIDE_AVERAGE or len(answer.statements) != 1:
        return None
    if not _is_average(answer.statements[0]):
        return None
    long = weight_of_a(1.5)
    short = weight_of_a(0.5)
    gives = f"a length of 1.5 gives alpha_a = {long:.3f}, one of 0.5 gives {short:.3f}"
    outcome = Outcome(
        "wrong",
        f"c does not stay at (v_a + v_b)/2: at beta = {SHARP:g} {gives}",
        {"beta": SHARP, "gamma": [1.5, 0.5], "alpha_a": [long, short]},
        "c is near v_a when gamma > 1 and near v_b when gamma < 1",
    )
    return Judged(outcome, tuple(answer.statements))


def _is_average(statement: Statement) -> bool:
    chain = statement.chain
    if not about_output(chain) or len(chain.terms) < 2:
        return False
    instance = smallest()
    found = consistent_members(chain.terms[-1:], Scene(instance, Roles(VALUE_ROLES)))
    return bool(found) and agree(found[0], average(instance), NEAR)


def average(instance: Instance) -> np.ndarray:
    """(v_a + v_b)/2 as a column."""
    return ((instance.v_a + instance.v_b) / 2)[:, None]


def weight_of_a(gamma: float) -> float:
    """1 / (1 + exp(beta (1 - gamma))): the weight of a key of length gamma against one of 1."""
    return 1.0 / (1.0 + math.exp(SHARP * (1.0 - gamma)))
