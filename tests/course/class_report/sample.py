"""A class of any size with made-up marks, for tests of the page."""

from __future__ import annotations

import random

from headwright.course.class_report import ClassRecord
from headwright.course.marks import Graded, Mark
from headwright.course.people import Student
from headwright.exercise.bank import load
from headwright.homework.verdict import Report, Verdict, unreadable

FIRST = ("Ana", "Björn", "Chidi", "Dilnoza", "Eoin", "Fatima", "Grzegorz", "Hye-jin")
LAST = ("Lima", "Åkesson", "Okafor", "Yusupova", "Ó Briain", "Haddad", "Wiśniewski", "Park")
BANK = load()
SAID = {
    "correct": "it holds",
    "incomplete": "right, but nothing says how large the scale has to be",
    "wrong": "the factor makes the query too short: at n = 10 it gives 0.146 on each",
    "missing": "nothing stands under this number",
    "unread": "words that could not be read with certainty",
}
TOLD = {
    "correct": 1.0,
    "incomplete": 0.5,
    "wrong": 0.0,
    "missing": 0.0,
    "unread": None,
}


def sample(number: int, *, seed: int = 0) -> ClassRecord:
    draw = random.Random(seed)
    graded = [_hand_in(k, draw) for k in range(number)]
    pages = {one.student.id: [f"{one.student.id}-{k:012x}.html"] for k, one in enumerate(graded)}
    without = [Student(f"w{k}", f"{FIRST[k % 8]} Without") for k in range(number // 20)]
    return ClassRecord(graded, pages, frozenset({graded[-1].student.id}), without)


def _hand_in(k: int, draw: random.Random) -> Graded:
    student = Student(
        f"u{k:03}", f"{draw.choice(FIRST)} {draw.choice(LAST)}", names=(f"secret{k}",)
    )
    if k % 40 == 7:
        report = unreadable(f"hw5-{k}.pdf", "a scan: it has no text")
        marks = [Mark(question.id, "unread", None, question.points) for question in BANK]
        return Graded(student, report, tuple(marks))
    verdicts = []
    marks = []
    for question in BANK:
        weights = (50, 12, 20, 8, 10 if k % 3 == 0 else 0)
        (status,) = draw.choices(list(SAID), weights)
        answer = rf"q = \frac{{1}}{{{draw.randint(2, 9)}}}(k_a + k_b)"
        verdicts.append(Verdict(question.id, answer, status, SAID[status]))
        share = TOLD[status]
        points = None if share is None else share * question.points
        marks.append(Mark(question.id, status, points, question.points))
    return Graded(student, Report(f"{student.id}/hw5.md", tuple(verdicts)), tuple(marks))
