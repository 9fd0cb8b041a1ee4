import pytest

from headwright.course.gradebook import fill
from headwright.course.marks import Graded, Mark
from headwright.course.people import Student
from headwright.course.sheet import read_sheet
from headwright.errors import InputError
from headwright.homework.verdict import Report

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Attention (9911),Final Score (read only)\r\n"
    "    Points Possible,,,,,10,(read only)\r\n"
    '"Lima, Ana",12,u1,al1,A,,71.2\r\n'
    '"Groß, Jörg",13,u2,jg2,A,,\r\n'
    '"Student, Test",99,,zz,A,,\r\n'
)
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Feedback comments\n"
    "Participant 5,Ana Lima,ana@x.org,Submitted,,10,Yes,\n"
    "Participant 6,Jörg Groß,joerg@x.org,Submitted,,10,No,\n"
)
MOODLE = (
    "First name;Surname;ID number;Email address;Assignment: Attention (Real);"
    "Assignment: Attention (Feedback);Last downloaded from this course\n"
    "Ana;Lima;u1;ana@x.org;;;1700000000\n"
)
PLAIN = "login,mark\nal1,\nnobody,\n"
ANA = Student("u1", "Ana Lima", "ana@x.org", ("al1",))
JOERG = Student("u2", "Jörg Groß", "joerg@x.org", ("jg2",))


def graded(student, points, open_points=0.0):
    marks = [Mark("b.q", "correct", points, 10.0)]
    if open_points:
        marks.append(Mark("a.intu", "unread", None, open_points))
    return Graded(student, Report("hw.md", ()), tuple(marks))


def sheet(tmp_path, text, encoding="utf-8"):
    file = tmp_path / "exported.csv"
    file.write_bytes(text.encode(encoding))
    return read_sheet(file)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (CANVAS, "u1,al1,A,,71.2", "u1,al1,A,7.5,71.2"),
        (WORKSHEET, "ana@x.org,Submitted,,10", "ana@x.org,Submitted,7.5,10"),
        (MOODLE, "u1;ana@x.org;;;17", 'u1;ana@x.org;"7,5";;17'),
        (MOODLE.replace("ana@x.org;;", "ana@x.org;-;"), "org;-;", 'org;"7,5";'),
        (PLAIN, "al1,", "al1,7.5"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_one_cell_changes_and_no_other_byte(tmp_path, text, before, after, encoding):
    result = fill(sheet(tmp_path, text, encoding), [graded(ANA, 7.5)])

    assert result.filled == ("u1",)
    assert result.sheet.written() == text.replace(before, after).encode(encoding)


def test_who_is_left_is_listed(tmp_path):
    stranger = Student("u9", "Nobody Known")
    result = fill(sheet(tmp_path, CANVAS), [graded(ANA, 7.5, open_points=2), graded(stranger, 3)])

    assert result.still_open == ("u1",)
    assert result.unmatched_students == ("u9",)
    assert result.unmatched_rows == ("13",)
    assert result.sheet.written() == CANVAS.encode()


def test_a_row_that_the_platform_locked_stays(tmp_path):
    result = fill(sheet(tmp_path, WORKSHEET), [graded(JOERG, 9)])

    assert result.locked == ("u2",)
    assert result.sheet.written() == WORKSHEET.encode()


def test_a_mark_by_hand_survives_a_rerun(tmp_path):
    by_hand = CANVAS.replace("u1,al1,A,,71.2", "u1,al1,A,8,71.2")
    result = fill(sheet(tmp_path, by_hand), [graded(ANA, 7.5)])
    assert result.other_mark == ("u1",)
    assert result.sheet.written() == by_hand.encode()

    replaced = fill(sheet(tmp_path, by_hand), [graded(ANA, 7.5)], overwrite=True)
    assert b"A,7.5,71.2" in replaced.sheet.written()


def test_the_same_mark_written_differently_is_left(tmp_path):
    there = CANVAS.replace("u1,al1,A,,71.2", "u1,al1,A,7.50,71.2")
    result = fill(sheet(tmp_path, there), [graded(ANA, 7.5)])

    assert result.filled == ("u1",)
    assert result.sheet.written() == there.encode()


def test_two_columns_that_could_be_meant_are_refused(tmp_path):
    two = CANVAS.replace("Attention (9911)", "Attention (9911),Parsing (9912)")
    with pytest.raises(InputError, match=r"2: Attention \(9911\), Parsing"):
        fill(sheet(tmp_path, two), [graded(ANA, 7.5)])
    named = fill(sheet(tmp_path, two), [graded(ANA, 7.5)], column="attention")
    assert named.filled == ("u1",)


def test_two_rows_of_one_student_are_refused(tmp_path):
    with pytest.raises(InputError, match="several for u1"):
        fill(sheet(tmp_path, "id,mark\nu1,\nal1,\n"), [graded(ANA, 7.5)])


def test_a_name_that_two_students_share_names_neither(tmp_path):
    twin = Student("u3", "Ana Lima")
    result = fill(sheet(tmp_path, "name,mark\nAna Lima,\n"), [graded(ANA, 1), graded(twin, 2)])

    assert result.unmatched_students == ("u1", "u3")
    assert result.unclear_rows == ("Ana Lima",)


def test_a_namesake_who_handed_in_nothing_gets_no_mark(tmp_path):
    text = "Student,ID,SIS User ID,Attention\n"
    rows = '"Lima, Ana",12,u1,\n"Lima, Ana",18,u8,\n'
    result = fill(sheet(tmp_path, text + rows), [graded(ANA, 7)], [ANA, Student("u8", "Ana Lima")])

    assert (result.filled, result.unmatched_rows) == (("u1",), ("18",))
    assert result.sheet.written().endswith(b'u1,7\n"Lima, Ana",18,u8,\n')


def test_a_platforms_number_that_is_another_students_id_gives_nobody_a_mark(tmp_path):
    text = 'Student,ID,SIS User ID,Attention\n"Lima, Ana",u2,u1,\n'
    result = fill(sheet(tmp_path, text), [graded(ANA, 7), graded(JOERG, 3)])

    assert (result.filled, result.unclear_rows) == ((), ("u2",))


def test_the_last_cell_of_a_file_without_a_last_line_end_is_filled(tmp_path):
    result = fill(sheet(tmp_path, "id,name,mark\nu1,Ana,"), [graded(ANA, 7)])

    assert result.sheet.written() == b"id,name,mark\nu1,Ana,7"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour,mark\nred,\n", "who a row is about"),
        ("id,section,mark\nu1\n", "cells in every row"),
    ],
)
def test_a_sheet_that_does_not_fit_is_refused(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        fill(sheet(tmp_path, text), [graded(ANA, 1)])
