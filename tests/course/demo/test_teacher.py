"""The files of the sample class are what a course has, and every answer in its table is given."""

from __future__ import annotations

import tomllib

import pytest

from headwright.course.demo import teacher, write_demo
from headwright.course.demo.tables import sample_class
from headwright.course.gradebook import columns
from headwright.course.roster import read_roster
from headwright.course.rubric import read_rubric
from headwright.course.sheet import read_sheet
from headwright.exercise.bank import load
from headwright.homework.verdict import Status

SAMPLE = sample_class()


def test_thirty_students_are_in_the_roster_and_in_both_gradebooks(tmp_path):
    write_demo(tmp_path)
    students = {student.id for student in read_roster(tmp_path / "roster.csv")}

    assert len(students) == 30
    for name, platform in (("canvas.csv", "Canvas"), ("moodle.csv", "Moodle")):
        sheet = read_sheet(tmp_path / name)
        assert columns(sheet).platform.name == platform
        assert students <= {cell for _, cells in sheet.lines() for cell in cells}


def test_the_rubric_is_worth_what_is_expected(tmp_path):
    """Two routes to the shares: the rubric as it is read, and the table of what is expected."""
    write_demo(tmp_path)
    rubric = read_rubric(tmp_path / "rubric.toml", load())
    expected = teacher.expected(SAMPLE)["students"]

    assert expected["u01"]["points"] == pytest.approx(rubric.max_points)
    share = rubric.questions["a.cond"].shares["incomplete"]
    assert expected["u02"]["marks"]["a.cond"] == pytest.approx(share * 2)
    assert len(rubric.overrides) == len(tomllib.loads(teacher.rubric(SAMPLE))["override"]) == 2


def test_every_answer_of_the_table_is_given_by_somebody():
    given = {answer.latex for one in SAMPLE.hand_ins for answer in one.answers.values() if answer}
    for question in SAMPLE.asked:
        for answer in question.answers:
            assert answer.latex in given, (question.id, answer.latex)


def test_every_status_and_format_occurs():
    found = {
        status
        for one in teacher.expected(SAMPLE)["students"].values()
        for status in one["statuses"].values()
    }
    assert found == set(Status.__args__)
    assert {one.format for one in SAMPLE.hand_ins} == {"md", "tex", "ipynb", "typ"}
