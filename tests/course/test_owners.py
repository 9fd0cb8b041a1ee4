import pytest

from headwright.course.owners import owners
from headwright.course.people import Student

ANA = Student("u17", "Ana Lima", "ana.lima@x.org", ("1234", "al1"))
JOERG = Student("u2", "Jörg Groß", "jg@x.org", ("1235",))
EVA = Student("u1", "Groß, Eva Maria")
CLASS = [ANA, JOERG, EVA]


@pytest.mark.parametrize(
    ("document", "student"),
    [
        ("class/u17/hw5.md", ANA),
        ("class/hw5-u17.md", ANA),
        ("class/u1.md", EVA),
        ("class/limaana_1234_998_hw5.md", ANA),
        ("class/Ana Lima_5512_assignsubmission_file_/hw5.md", ANA),
        ("class/Jorg Gross/hw5.tex", JOERG),
        ("class/JÖRG_GROSS.md", JOERG),
        ("class/GrossEvaMaria.md", EVA),
        ("class/Eva Maria Groß.md", EVA),
        ("class/ana.lima@x.org.md", ANA),
        ("class/al1/final/answers.md", ANA),
    ],
)
def test_a_path_names_its_student(document, student):
    found = owners([document], CLASS)

    assert found.by_document == {document: student}
    assert student not in found.without


@pytest.mark.parametrize(
    "document", ["class/hw5.md", "class/u1 and u2.md", "class/u170.md", "u.md"]
)
def test_a_path_that_names_nobody_or_two_is_listed(document):
    found = owners([document], CLASS)

    assert found.nobody == (document,)
    assert len(found.without) == 3


def test_an_id_in_the_path_counts_before_a_name():
    assert owners(["Ana Lima/u2.md"], CLASS).by_document == {"Ana Lima/u2.md": JOERG}


def test_a_name_that_two_students_share_names_neither():
    twins = [Student("u1", "Ana Lima"), Student("u2", "Ana Lima")]

    assert owners(["Ana Lima/hw.md"], twins).nobody == ("Ana Lima/hw.md",)


@pytest.mark.parametrize(
    ("documents", "students"),
    [
        (["c/ana.md", "c/joe.tex"], ["ana", "joe"]),
        (["c/ana/hw5.md", "c/joe/hw5.md"], ["ana", "joe"]),
        (["c/ana/hw5.md", "c/ana/more.md", "c/joe/hw5.md"], ["ana", "ana", "joe"]),
        (["c/ana/final/hw5.md", "c/joe/final/hw5.md"], ["ana", "joe"]),
        (["c/hw5.md", "c/hw5.tex"], ["c/hw5.md", "c/hw5.tex"]),
        ([], []),
    ],
)
def test_without_a_roster_what_differs_is_the_student(documents, students):
    found = owners(documents)

    assert [student.id for student in found.by_document.values()] == students
