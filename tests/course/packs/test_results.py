"""The results of both platforms: every field documented, and nothing green that was not read."""

from __future__ import annotations

import pytest
from tests.course.packs.documented import faults, green

from headwright.course.marks import Graded, Mark
from headwright.course.packs import gradescope, prairielearn
from headwright.course.people import Student
from headwright.homework.verdict import Report, Verdict, unreadable

FORMS = {"gradescope": gradescope, "prairielearn": prairielearn}
EXTRA = {"version": "1", "bank": "ab", "rubric": "cd", "variant": "", "verdicts": ["secret"]}
platform = pytest.mark.parametrize("platform", list(FORMS))


def results(platform, *marks, verdicts=(), notes=()):
    report = Report("a.md", tuple(verdicts))
    graded = Graded(Student("submission"), report, marks)
    found = FORMS[platform].results(graded, {"b.q": "a < b"}, EXTRA, notes)
    assert faults(platform, found) == []
    return found


def test_the_validator_notices():
    right = {"score": 0.5, "gradable": True, "tests": [{"name": "x", "points": 0, "max_points": 1}]}
    assert faults("prairielearn", right) == []
    assert faults("prairielearn", {**right, "score": 1.5})
    assert faults("prairielearn", {**right, "status": "passed"})
    assert faults("prairielearn", {**right, "message": "x" * 1_000_001})
    assert faults("gradescope", {"tests": [{"status": "green"}]})
    assert faults("gradescope", {"score": True})
    assert green("gradescope", {"tests": [{"name": "x", "score": 0, "max_score": 0}]}) == ["x"]
    assert green("prairielearn", {"tests": [{"name": "x", "points": 0, "max_points": 0}]}) == ["x"]


@platform
def test_all_points_are_green_and_fewer_are_not(platform):
    whole = results(platform, Mark("b.q", "correct", 2.0, 2.0))
    part = results(platform, Mark("b.q", "incomplete", 1.0, 2.0))

    assert green(platform, whole) == ["b.q a < b"]
    assert green(platform, part) == []


@platform
@pytest.mark.parametrize(
    "mark",
    [
        Mark("b.q", "unread", None, 2.0),
        Mark("b.q", "unread", None, 0.0),
        Mark("b.q", "unread", 2.0, 2.0),  # a rubric may give points for what nobody has read yet
        Mark("b.q", "unread", 0.0, 0.0),
        Mark("b.q", "missing", 0.0, 0.0),
        Mark("b.q", "wrong", 0.0, 0.0),
    ],
)
def test_what_was_not_read_or_has_no_points_is_never_green(platform, mark):
    found = results(platform, mark)

    assert green(platform, found) == []


@platform
def test_points_of_a_person_count_for_an_unread_answer(platform):
    found = results(platform, Mark("b.q", "unread", 2.0, 2.0, by_hand="read aloud"))

    assert green(platform, found) == ["b.q a < b"]


@platform
def test_a_failed_checker_gives_nothing_green_and_says_why(platform):
    found = FORMS[platform].not_graded("it broke", {"version": "1"})

    assert faults(platform, found) == []
    assert green(platform, found) == []
    assert found["score"] == 0
    assert "it broke" in str(found)


@platform
def test_a_thousand_long_answers_fit(platform):
    marks = [Mark(f"q{k}", "wrong", 0.0, 1.0) for k in range(1_000)]
    long = "\N{GRINNING FACE}" * 5_000
    verdicts = [Verdict(mark.question, long, "wrong", long) for mark in marks]

    assert len(results(platform, *marks, verdicts=verdicts)["tests"]) == 1_000


@platform
def test_characters_that_no_page_can_show_are_replaced(platform):
    mark = Mark("b.q", "wrong", 0.0, 1.0)
    answer = Verdict("b.q", "a < b\x1b[31m\x00\ud800", "wrong", "c < d")
    said = results(platform, mark, verdicts=[answer])["tests"][0]["output"]

    assert "a < b\ufffd[31m\ufffd\ufffd" in said


def test_hidden_marks_are_hidden_on_gradescope_and_left_out_on_prairielearn():
    marks = (
        Mark("b.q", "correct", 1.0, 1.0),
        Mark("c.q", "unread", None, 3.0, visibility="after_published"),
    )
    there = results("gradescope", *marks)
    left = results("prairielearn", *marks)

    assert [test["visibility"] for test in there["tests"]] == ["visible", "after_published"]
    assert "wait for a person" not in there["output"]
    assert [test["name"] for test in left["tests"]] == ["b.q a < b"]
    assert left["score"] == 0.25
    assert "c.q" not in str(left)
    assert "secret" not in str(left)


def test_a_hand_in_that_cannot_be_read_costs_no_attempt():
    graded = Graded(Student("s"), unreadable("a.md", "the document is empty"), ())
    found = prairielearn.results(graded, {})

    assert found["gradable"] is False
    assert found["format_errors"] == ["the document is empty"]
