"""The queue for a person: nothing doubtful is left out, the most doubtful stands first."""

from __future__ import annotations

import csv
import io

from headwright.homework.showing.human_queue import human_queue
from headwright.homework.verdict import Report, Span, Verdict, unreadable

STEP = Verdict("b.q/step:weights", "alpha_a = 1", "wrong", "differs", confidence=0.7)
REPORTS = [
    Report(
        "one.md",
        (
            Verdict("a.out", "c = v_j", "correct", "fine", confidence=0.9),
            Verdict("b.M", "M = A'", "wrong", "shape", span=Span(4, 9, 3, 3), confidence=0.9),
            Verdict("b.q", "q = k_a", "correct", "fine", steps=(STEP,), confidence=0.9),
            Verdict("d.q", "", "missing", "nothing", confidence=0.1),
        ),
    ),
    Report(
        "=two.md",
        (
            Verdict("a.intu", "It copies.", "unread", "words", confidence=0.8),
            Verdict("a.out", "c = v_j", "correct", "found far away", confidence=0.3),
            Verdict("b.M", "=A", "wrong", "shape", confidence=0.4),
            Verdict("b.q", "q = k_a + k_b", "incomplete", "no scale", confidence=0.2),
        ),
    ),
    unreadable("three.md", "the document is empty"),
]


def queue():
    return list(csv.DictReader(io.StringIO(human_queue(REPORTS))))


def test_what_nobody_judged_comes_first_and_what_is_not_there_last():
    assert [(row["document"], row["question"]) for row in queue()] == [
        ("three.md", "*"),
        ("'=two.md", "a.intu"),
        ("'=two.md", "b.M"),
        ("one.md", "b.q/step:weights"),
        ("one.md", "b.M"),
        ("'=two.md", "b.q"),
        ("'=two.md", "a.out"),
        ("one.md", "d.q"),
    ]


def test_a_row_says_where_and_why_and_runs_nothing():
    row = queue()[4]
    assert (row["line"], row["status"], row["confidence"]) == ("3", "wrong", "0.90")
    assert (row["reason"], row["answer"]) == ("shape", "M = A'")
    assert queue()[2]["answer"] == "'=A"


def test_nothing_doubtful_is_an_empty_table():
    sure = Report("a.md", (Verdict("a.out", "c = v_j", "correct", "fine", confidence=0.9),))
    assert human_queue([sure]) == "document,line,question,status,confidence,reason,answer\n"
