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


@pytest.mark.parametrize(
    "document",
    ["c/u17/u2.md", "c/Ana Lima_5512_assignsubmission_file_/u2.md", "c/limaana_5_6_u2.md"],
)
def test_a_file_that_bears_another_students_name_reaches_neither(document):
    """Students choose the names of their files; the other document is there to share the folder."""
    found = owners([document, "c/u1/answers.md"], CLASS)

    assert found.by_document == {"c/u1/answers.md": EVA}
    assert found.several == (document,)
    assert owners([document], CLASS).several == (document,)


def test_an_id_tells_two_students_of_one_name_apart():
    twins = [Student("u1", "Ana Lima"), Student("u2", "Ana Lima")]

    assert owners(["Ana Lima/u2.md"], twins).by_document == {"Ana Lima/u2.md": twins[1]}


def test_what_all_documents_share_names_nobody():
    """The home of a teacher, and the number of the exercise, may look like students."""
    students = [Student("groß"), Student("5"), Student("17")]
    documents = ["/home/groß/all/17/hw-5.md", "/home/groß/all/guest/hw-5.md"]

    assert owners(documents, students).by_document == {documents[0]: students[2]}


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
