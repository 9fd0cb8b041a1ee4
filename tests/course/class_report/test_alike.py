"""The same answer by different students, and only that."""

import pytest

from headwright.course.class_report.alike import SHORTEST, alike
from headwright.course.marks import Graded
from headwright.course.people import Student
from headwright.homework.verdict import Report, Verdict

PROSE = "Both heads look at the same key, so averaging their outputs changes nothing at all."
LONG_FORMULA = r"q = \beta (k_a + k_b) + \beta (k_a + k_b) - \beta (k_a + k_b) + \gamma k_c"


def hand_in(id, answer, *, question="e.sum", status="wrong"):
    return Graded(Student(id), Report(id, (Verdict(question, answer, status, "because"),)), ())


def groups(*hand_ins, right=None):
    found = alike(hand_ins, right or {})
    return [[student.id for student in one.students] for one in found]


@pytest.mark.parametrize(
    "other",
    [
        PROSE,
        PROSE.upper(),
        "  " + PROSE.replace(" ", "\n ") + " ",
        PROSE.rstrip("."),
        PROSE.replace("same key", r"$\left.\right.$same~key".replace(".", "")),
    ],
)
def test_layout_and_case_make_no_difference(other):
    assert groups(hand_in("u1", PROSE), hand_in("u2", other)) == [["u1", "u2"]]


def test_one_word_makes_a_difference():
    assert groups(hand_in("u1", PROSE), hand_in("u2", PROSE.replace("nothing", "little"))) == []


def test_the_same_words_under_another_question_are_not_the_same_answer():
    assert groups(hand_in("u1", PROSE), hand_in("u2", PROSE, question="d.var")) == []


def test_short_answers_and_right_formulas_are_left_out():
    short = "x" * (SHORTEST - 1)
    assert groups(hand_in("u1", short), hand_in("u2", short)) == []
    assert groups(hand_in("u1", short + "x"), hand_in("u2", short + "x")) == [["u1", "u2"]]

    right = [hand_in(id, LONG_FORMULA, status="correct") for id in ("u1", "u2")]
    wrong = [hand_in(id, LONG_FORMULA) for id in ("u3", "u4")]
    assert groups(*right) == []
    assert groups(*wrong) == [["u3", "u4"]]
    right_in_words = [hand_in(id, PROSE, status="correct") for id in ("u1", "u2")]
    assert groups(*right_in_words) == [["u1", "u2"]]


def test_what_the_bank_calls_right_is_nobodys_own():
    assert groups(hand_in("u1", PROSE), hand_in("u2", PROSE), right={"e.sum": PROSE}) == []
