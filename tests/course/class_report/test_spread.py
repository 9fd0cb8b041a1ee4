"""Distributions of a class: each hand-in is counted once, and what is open is in no bin."""

from collections import Counter

import pytest
from tests.course.class_report.sample import sample

from headwright.course.class_report import spread
from headwright.course.class_report.bars import bar, counted_share, percent
from headwright.course.marks import Graded, Mark
from headwright.course.people import Student
from headwright.homework.verdict import Report


def worth(points, most=10.0):
    marks = (Mark("b.q", "wrong", points, most),)
    return Graded(Student("u"), Report("d", ()), marks)


@pytest.mark.parametrize(
    ("points", "tenth"), [(0, 0), (0.99, 0), (1, 1), (2.9999, 2), (3, 3), (9.5, 9), (10, 9)]
)
def test_totals_fall_into_their_tenth(points, tenth):
    found = spread.totals([worth(points)])

    assert [k for k, number in enumerate(found.bins) if number] == [tenth]


def test_a_tenth_is_the_same_whatever_the_points_add_up_to():
    """0.7 of 0.7 / 0.1 and the like are not exact in floating point."""
    for whole in (0.7, 3.0, 7.0, 28.0, 0.1):
        found = spread.totals([worth(whole * k / 10, whole) for k in range(10)])
        assert found.bins == (1,) * 10


def test_what_is_open_is_in_no_bin_and_what_is_worth_nothing_is_left_out():
    found = spread.totals([worth(None), worth(4), worth(0, 0.0)])

    assert (sum(found.bins), found.still_open, found.shares) == (1, 1, (0.4,))


def test_questions_count_every_hand_in_once():
    record = sample(80)
    for one in spread.by_question(record.graded):
        marks = [mark for hand_in in record.graded for mark in hand_in.marks]
        marks = [mark for mark in marks if mark.question == one.id]
        settled = [mark.points for mark in marks if mark.points is not None]
        assert one.statuses == Counter(mark.status for mark in marks)
        assert one.statuses.total() == 80
        assert one.mean == pytest.approx(sum(settled) / len(settled))


@pytest.mark.parametrize(
    ("part", "said"), [(0, "0%"), (1, "< 1%"), (50, "10%"), (499, "> 99%"), (500, "100%")]
)
def test_shares_are_rounded_but_not_to_nothing(part, said):
    assert percent(part, 500).replace("\N{NO-BREAK SPACE}", " ") == said


def test_a_bar_for_50_of_500_is_a_tenth_of_the_width():
    assert 'style="width:10%"' in bar(50, 500)
    assert counted_share(50, 500).startswith("50 of 500 (10")
