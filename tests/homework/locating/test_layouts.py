"""Every layout of every course: each answer ends in the row of its question, and in no other."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from headwright.exercise.bank import load
from headwright.homework.locating.locate import locate
from headwright.homework.meaning.statements import stream
from headwright.homework.reading.formats import read_text

from .layouts import ANSWERS, COURSES, LAYOUTS

TABLE = Path(__file__).with_name("cases.toml")
OTHER_EXERCISES = """

# {k}. Pretraining and knowledge access

(a) Done in the code.

(b) 4.8 percent on the dev set.

(c) The model makes up a place.
"""


def located(text: str, suffix: str = ".md") -> dict[str, str]:
    """What stands in the row of each question, without spaces and markup."""
    document = read_text(text, name="x", suffix=suffix)
    rows = locate(document, load(), stream(document))
    return {row.question: "".join(document.segments[k].text for k in row.segments) for row in rows}


def squeezed(text: str) -> str:
    return "".join(text.replace("$", "").split())


def filled(course: str) -> list[list[list[tuple[str, str]]]]:
    return [
        [[(question, ANSWERS[question]) for question in part] for part in exercise]
        for exercise in COURSES[course]
    ]


def asked(course: str) -> set[str]:
    return {question for exercise in COURSES[course] for part in exercise for question in part}


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_answer_is_in_its_own_row(layout, course):
    write, suffix = LAYOUTS[layout]
    rows = located(write(filled(course)), suffix)
    misplaced = {
        question: squeezed(rows.get(question, ""))
        for question in asked(course)
        if squeezed(ANSWERS[question]) not in squeezed(rows.get(question, ""))
    }
    assert misplaced == {}
    assert set(rows) <= asked(course)


@pytest.mark.parametrize("layout", ["chained", "headings", "nested enumerate", "counted sections"])
@pytest.mark.parametrize("course", COURSES)
def test_other_exercises_on_the_sheet_answer_none_of_these_questions(layout, course):
    write, suffix = LAYOUTS[layout]
    other = OTHER_EXERCISES.format(k=len(COURSES[course]) + 1)
    if suffix == ".tex":
        other = other.replace("# ", r"\section*{").replace("access\n", "access}\n")
    whole = write(filled(course)).replace(r"\end{document}", "") + other
    rows = located(whole, suffix)
    assert set(rows) == asked(course)
    elsewhere = ("4.8", "makes up", "Done in")
    assert not [q for q, text in rows.items() for words in elsewhere if words in text]


CASES = {case["name"]: case for case in tomllib.loads(TABLE.read_text("utf-8"))["case"]}


@pytest.mark.parametrize("case", CASES)
def test_nothing_vanishes_and_labels_win(case):
    wanted = CASES[case]["rows"]
    rows = located(CASES[case]["text"], "")
    lost = {q: rows.get(q) for q, words in wanted.items() if words not in rows.get(q, "")}
    assert lost == {}
