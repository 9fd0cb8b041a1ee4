"""What a student's own page says of the marks."""

from __future__ import annotations

from headwright.course.class_report import own_marks
from headwright.course.marks import Graded, Mark
from headwright.course.people import Student
from headwright.homework.verdict import Report

EVIL = "<img src=x onerror=alert(1)>"
MARKS = (
    Mark("b.M", "correct", 2.0, 2.0),
    Mark("b.q", "wrong", 1.5, 3.0, text=EVIL, by_hand=f"oral {EVIL}"),
    Mark("a.intu", "unread", None, 1.0),
)


def graded(*marks):
    return Graded(Student("u1"), Report("u1.md", ()), marks)


def test_points_and_texts_are_told_and_a_person_is_announced():
    html = own_marks(graded(*MARKS))

    assert "3.5 of 6 points, 1 still open" in html
    assert "1.5&nbsp;of&nbsp;3" in html
    assert "Points given by a person: oral" in html
    assert "A person will read it." in html
    assert "<img" not in html


def test_a_hidden_question_and_what_would_tell_it_are_left_out():
    html = own_marks(graded(*MARKS, Mark("d.q", "wrong", 0.0, 2.0, visibility="hidden")))

    assert "d.q" not in html
    assert "points" not in html
    assert own_marks(graded(Mark("d.q", "wrong", 0.0, 2.0, visibility="after_due_date"))) == ""


def test_several_documents_are_one_hand_in():
    assert "count as one" in own_marks(graded(*MARKS), documents=2)
    assert "count as one" not in own_marks(graded(*MARKS))
