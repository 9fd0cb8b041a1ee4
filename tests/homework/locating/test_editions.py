"""A published numbering tells what was left out, however its numbers are written."""

from __future__ import annotations

import pytest

from headwright.homework.one_document import judge_document
from headwright.homework.reading.formats import read_text

ANSWERS = {
    "a.cond": r"$k_j^\top q \gg k_i^\top q$ for all $i \ne j$",
    "a.out": r"$c \approx v_j$",
    "b.q": r"$q = \beta(k_a + k_b)$, $\beta \gg 0$",
    "c.q": r"$q = \beta(\mu_a + \mu_b)$, $\beta \gg 0$",
    "c.var": "$c$ swings between $v_a$ and $v_b$ by sample, as the length of $k_a$ varies.",
    "d.q": r"$q_1 = \beta\mu_a$, $q_2 = \beta\mu_b$, $\beta \gg 0$",
    "d.var": r"$c$ stays near $\frac12(v_a+v_b)$, its variance is much smaller.",
    "e.sum": "",
}
NUMBERS = {
    "digits": ("Q1.1.1", "Q1.1.2", "Q1.2", "Q1.3.1", "Q1.3.2", "Q1.4.1", "Q1.4.2", "Q1.5"),
    "counted": tuple(f"1.{number}" for number in range(1, 9)),
    "glued": ("1a i)", "1a ii)", "1b)", "1c i)", "1c ii)", "1d i)", "1d ii)", "1e)"),
    "words": tuple(
        f"Aufgabe 1, Teil {part}:"
        for part in ("a (i)", "a (ii)", "b", "c (i)", "c (ii)", "d (i)", "d (ii)", "e")
    ),
}


def _statuses(text: str) -> dict[str, str]:
    verdicts = judge_document(read_text(text, name="t", suffix=".md")).verdicts
    return {verdict.question: verdict.status for verdict in verdicts}


def _written(style: str, answers: dict[str, str]) -> str:
    numbered = zip(NUMBERS[style], answers.values(), strict=True)
    return "\n\n".join(f"**{number}**\n{answer}" for number, answer in numbered)


@pytest.mark.parametrize("style", NUMBERS)
def test_an_empty_number_is_missing_and_the_others_are_judged(style):
    found = _statuses(_written(style, ANSWERS))
    wanted = dict.fromkeys(ANSWERS, "correct") | {"e.sum": "missing"}
    assert {question: found.get(question) for question in ANSWERS} == wanted


@pytest.mark.parametrize("left_out", ["c.var", "d.q"])
def test_a_number_that_is_not_there_is_missing(left_out):
    lines = _written("glued", ANSWERS).split("\n\n")
    del lines[list(ANSWERS).index(left_out)]
    assert _statuses("\n\n".join(lines)).get(left_out) == "missing"


def test_a_number_named_inside_an_answer_is_not_left_out():
    lines = _written("glued", ANSWERS).split("\n\n")
    lines[0] += r" and then (ii) all that is left is the value of the winner"
    del lines[1]
    assert _statuses("\n\n".join(lines)).get("a.out") != "missing"


def test_an_exercise_that_was_only_announced_is_missing():
    text = _written("glued", ANSWERS | {"e.sum": "Each head looks at a key of its own."})
    positions = {"p.perm", "p.why", "p.help", "p.same"}
    assert positions.isdisjoint(_statuses(text))
    found = _statuses(f"{text}\n\n2. not done")
    assert {question for question in positions if found.get(question) == "missing"} == positions


def test_a_list_inside_an_answer_numbers_no_question():
    listed = ANSWERS | {"b.q": f"I need\n\n1. equal scores\n2. large ones\n\nso {ANSWERS['b.q']}"}
    found = _statuses(_written("digits", listed))
    assert (found["b.q"], found["c.q"], found["e.sum"]) == ("correct", "correct", "missing")


def test_a_document_that_goes_on_in_numbers_of_its_own_has_not_ended():
    """The letter (d) is forgotten, and its numbers stand inside the formulas."""
    known = "\n\n".join(
        f"({part}) {answer}"
        for part, answer in (
            ("a", f"i. {ANSWERS['a.cond']}\n\nii. {ANSWERS['a.out']}"),
            ("b", ANSWERS["b.q"]),
            ("c", f"i. {ANSWERS['c.q']}\n\nii. {ANSWERS['c.var']}"),
        )
    )
    rest = "\n\n".join(
        (
            "or",
            r"$$i \quad q_1 = \beta\mu_a \quad q_2 = \beta\mu_b \quad \beta \gg 0$$",
            r"$$ii \quad q_1 = \beta\mu_a \quad q_2 = \beta\mu_b$$",
            r"$$i) \quad k_a^\top q_1 = \gamma\beta$$",
            r"$$\therefore c \approx \frac12(v_a + v_b)$$",
        )
    )
    assert _statuses(known).get("d.var") == "missing"
    assert _statuses(f"{known}\n\n{rest}").get("d.var") != "missing"
