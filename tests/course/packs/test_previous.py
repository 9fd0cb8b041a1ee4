from dataclasses import replace

import pytest

from headwright.course.marks import Graded, Mark
from headwright.course.packs.previous import difference, record
from headwright.course.people import Student
from headwright.course.rubric.record import Rubric
from headwright.homework.reading.sources import Source
from headwright.homework.verdict import Report

WRONG = Mark("b.q", "wrong", 0.0, 2.0)
RIGHT = Mark("b.q", "correct", 2.0, 2.0)
HIDDEN = Mark("c.q", "wrong", 0.0, 1.0, visibility="hidden")


def graded(*marks, name="a.md"):
    return Graded(Student("submission"), Report(name, ()), marks)


def kept(hand_in, digest="plain", text="old", path=None):
    source = Source(hand_in.report.document, path, text)
    return record(hand_in, Rubric("r", {}, digest=digest), [source], "bank", "7")


def facts(*extras):
    earlier = [
        {"submission_time": f"2026-11-{day:02}T10:00:00-08:00", "results": {"extra_data": extra}}
        for day, extra in enumerate(extras, 1)
    ]
    return {"previous_submissions": earlier}


def test_the_record_names_version_bank_rubric_and_variant():
    found = kept(graded(WRONG))

    assert (found["bank"], found["rubric"], found["variant"]) == ("bank", "plain", "7")
    assert found["version"]


def test_the_document_is_named_as_what_differs(tmp_path):
    files = {name: tmp_path / f"{name}.md" for name in ("old", "new")}
    for name, path in files.items():
        path.write_text(name)
    old = kept(graded(WRONG, name="first.md"), path=files["old"])
    now = graded(RIGHT)
    lines = difference(facts(old), kept(now, path=files["new"]), now)

    assert lines == [
        "Since your hand-in of 2026-11-01T10:00:00-08:00:",
        "b.q: wrong with 0 of 2 points before, correct with 2 of 2 points now "
        "(what differs: document)",
    ]


def test_the_latest_of_several_is_compared_whatever_their_order():
    now = graded(RIGHT)
    known = facts(kept(graded(WRONG)), kept(now))
    known["previous_submissions"].reverse()

    (line,) = difference(known, kept(now), now)
    assert line == "Nothing changed since your hand-in of 2026-11-02T10:00:00-08:00."


def test_a_hidden_mark_is_not_compared_aloud():
    now = graded(WRONG, replace(HIDDEN, status="correct", points=1.0))
    lines = difference(facts(kept(graded(WRONG, HIDDEN))), kept(now), now)

    assert len(lines) == 1
    assert "Nothing changed" in lines[0]


@pytest.mark.parametrize(
    "known",
    [
        {},
        {"previous_submissions": None},
        {"previous_submissions": [None, 3, {"results": None}, {"results": {"score": 1}}]},
    ],
)
def test_a_first_hand_in_has_no_difference(known):
    now = graded(RIGHT)
    assert difference(known, kept(now), now) == []


@pytest.mark.parametrize(
    "extra",
    [{}, {"verdicts": 3}, {"documents": [], "verdicts": []}, {"documents": [3], "verdicts": [4]}],
)
def test_results_of_another_autograder_are_not_compared(extra):
    now = graded(RIGHT)
    (line,) = difference(facts(extra), kept(now), now)

    assert "graded in another way" in line
