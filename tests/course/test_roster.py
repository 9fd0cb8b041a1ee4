import pytest

from headwright.course.people import Student
from headwright.course.roster import read_roster
from headwright.errors import InputError


def roster(tmp_path, text, encoding="utf-8"):
    file = tmp_path / "roster.csv"
    file.write_bytes(text.encode(encoding))
    return file


@pytest.mark.parametrize(
    ("text", "student"),
    [
        ("id,name\nu1,Ana Lima\n", Student("u1", "Ana Lima")),
        (
            "First Name,Last Name,SID,Email\nAna,Lima,77,ana@x.org\n",
            Student("77", "Ana Lima", "ana@x.org"),
        ),
        (
            "Student,ID,SIS User ID,SIS Login ID,Section\nLima Ana,12,u9,al3,A\n",
            Student("u9", "Lima Ana", "", ("12", "al3")),
        ),
        (
            "Vorname;Nachname;Matrikelnummer;E-Mail\nJörg;Groß;4711;j@x.org\n",
            Student("4711", "Jörg Groß", "j@x.org"),
        ),
        (
            "Student,ID,SIS User ID,HW (7)\n    Points Possible,,,10\nAna,12,u9,\n"
            '"Student, Test",99,,\n',
            Student("u9", "Ana", "", ("12",)),
        ),
        ("name\temail\nAna\tana@x.org\n", Student("ana@x.org", "Ana", "ana@x.org")),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_rosters_of_platforms_in_any_encoding(tmp_path, text, student, encoding):
    assert read_roster(roster(tmp_path, text, encoding)) == [student]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,name\nu1,A\nu2,B\nu1,C\n", "u1 in lines 2 and 4"),
        ("id,name\n", "at least one student"),
        ("id,name\n,A\n", "line 2"),
        ("colour,size\nred,3\n", "colour, size"),
    ],
)
def test_what_cannot_be_a_class_is_refused(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        read_roster(roster(tmp_path, text))
