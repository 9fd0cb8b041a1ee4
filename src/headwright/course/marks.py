"""A verdict becomes points.

An answer that was not read has no points until a person gives them: `points` is None, and the total
says how much is still open.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from headwright.course.people import Student
from headwright.homework.verdict import Report

VISIBLE = "visible"  # to the student; everything else is not, or not yet


@dataclass(frozen=True)
class Mark:
    """What one answer is worth. `text` is for the student; `by_hand` is why a person gave other
    points than the rubric."""

    question: str
    status: str
    points: float | None
    max_points: float
    text: str = ""
    visibility: str = VISIBLE
    by_hand: str = ""


@dataclass(frozen=True)
class Graded:
    """A student's hand-in with its marks, in the order of the question bank."""

    student: Student
    report: Report
    marks: tuple[Mark, ...]

    @property
    def points(self) -> float:
        """What is certain already."""
        return fsum(mark.points for mark in self.marks if mark.points is not None)

    @property
    def open_points(self) -> float:
        """What a person may still give."""
        return fsum(mark.max_points for mark in self.marks if mark.points is None)

    @property
    def max_points(self) -> float:
        return fsum(mark.max_points for mark in self.marks)
