"""`headwright check` for a course: students, marks, gradebooks, pseudonyms, what changed."""

from __future__ import annotations

import csv
import json
import re
import shutil

import pytest
from click.testing import CliRunner

from headwright.cli.check.command import command

RIGHT = "(b) ii. $q = \\beta(k_a + k_b)$ where $\\beta \\gg 0$\n"
WRONG = "Ana Lima\n\n(b) ii. $q = \\frac{1}{2}(k_a + k_b)$, says ana lima.\n"
ROSTER = "id,name\nu1,Ana Lima\nu2,Joe Doe\nu3,Eve Ray\n"
RUBRIC = '[question."b.q"]\npoints = 4\n'
OVERRIDE = '[[override]]\nstudent = "u1"\nquestion = "b.q"\npoints = 3\nreason = "oral exam"\n'
SHEET = "Student,ID,SIS User ID,Section,Attention (1)\nx,1,u1,A,\ny,2,u2,A,\n"


def check(*arguments):
    texts = [str(argument) for argument in arguments]
    return CliRunner().invoke(command, texts, env={"COLUMNS": "80"})


@pytest.fixture
def course(tmp_path):
    """A folder per student, and what a teacher has."""
    for student, text in {"u1": WRONG, "u2": RIGHT, "nobody": RIGHT}.items():
        folder = tmp_path / "class" / student
        folder.mkdir(parents=True)
        (folder / "hw5.md").write_text(text)
    for name, text in {"roster.csv": ROSTER, "rubric.toml": RUBRIC, "sheet.csv": SHEET}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def known(course):
    return ("--roster", course / "roster.csv", "--rubric", course / "rubric.toml")


def test_rows_know_their_student_and_their_points(course):
    found = json.loads(check(course / "class", *known(course), "--json").stdout)

    rows = {row["student"]: row for row in found["verdicts"] if row["question"] == "b.q"}
    assert (rows["u1"]["points"], rows["u1"]["max_points"]) == (0, 4)
    assert (rows["u2"]["points"], rows["u2"]["max_points"]) == (4, 4)
    assert found["unmatched"]["students"] == ["u3"]
    (stranger,) = found["unmatched"]["documents"]
    assert stranger.endswith("hw5.md")


def test_the_table_knows_students_and_points(course):
    check(course / "class", *known(course), "--csv", course / "t.csv")
    with (course / "t.csv").open(newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["question"] == "b.q"]

    found = {row["student"]: (row["points"], row["max_points"]) for row in rows}
    assert (found["u1"], found["u2"]) == (("0", "4"), ("4", "4"))


def test_the_page_of_the_class_has_names_and_leads_to_each_students_own_text(course):
    (course / "class" / "u2" / "second.md").write_text("(b) ii. $q = k_a$\n")
    check(course / "class", *known(course), "--html", course / "pages")
    index = (course / "pages" / "index.html").read_text()

    lines = re.findall(r"<tr><td>.*?</tr>", index)
    links = {re.sub(r"<[^>]*>", "", line)[:8]: re.findall(r'href="(.*?)"', line) for line in lines}
    assert {name: len(files) for name, files in links.items()}.items() >= {
        "Ana Lima": 1,
        "Joe Doe ": 2,
    }.items()
    (ana,) = [(course / "pages" / file).read_text() for file in links["Ana Lima"]]
    assert "says ana lima" in ana
    for file in links["Joe Doe "]:
        page = (course / "pages" / file).read_text()
        assert "ana lima" not in page
        assert "index.html" not in page
    assert "Eve Ray" in index.partition("Nothing handed in: 1")[2]


def test_a_students_page_has_the_marks_and_nothing_of_a_hidden_question(course):
    rubric = course / "rubric.toml"
    rubric.write_text(rubric.read_text() + OVERRIDE)
    one = course / "class" / "u1"
    check(one, *known(course), "--html", course / "pages")
    (page,) = (file for file in (course / "pages").glob("u1-*.html"))
    assert "3 of 4 points" in page.read_text()
    assert "Points given by a person: oral exam" in page.read_text()

    rubric.write_text('[question."b.q"]\nvisibility = "hidden"\n')
    check(one, *known(course), "--html", course / "pages")
    text = page.read_text()
    assert "b.q" not in text
    assert "<article" not in text
    assert "points" not in text


def test_one_student_again_leaves_the_pages_of_the_others(course):
    pages = course / "pages"
    check(course / "class", *known(course), "--html", pages)
    before = {file.name: file.read_bytes() for file in pages.iterdir()}
    (course / "class" / "u1" / "hw5.md").write_text(RIGHT)
    again = check(course / "class" / "u1", *known(course), "--html", pages)

    after = {file.name: file.read_bytes() for file in pages.iterdir()}
    changed = [name for name in before if after.get(name) != before[name]]
    assert [name[:3] for name in changed] == ["u1-"]
    assert "check all documents to renew the index" in again.output

    shutil.rmtree(course / "class" / "u2")
    check(course / "class", *known(course), "--html", pages)
    assert not list(pages.glob("u2-*"))
    assert "Nothing handed in: 2" in (pages / "index.html").read_text()


def test_marks_go_into_the_gradebook_and_an_override_stays(course):
    with (course / "rubric.toml").open("a") as rubric:
        rubric.write(OVERRIDE)
    out = course / "filled.csv"
    for _ in range(2):
        result = check(
            course / "class", *known(course), "--gradebook", course / "sheet.csv", "--out", out
        )
        assert out.read_text() == SHEET.replace("u1,A,", "u1,A,3").replace("u2,A,", "u2,A,4")
    assert "gradebook: 2 marks" in result.output


def test_a_dry_run_shows_marks_and_writes_nothing(course):
    before = sorted(course.rglob("*"))
    result = check(course / "class", *known(course), "--dry-run", "--csv", course / "t.csv")

    assert "u2  4 of 4 points" in result.output
    assert "nothing was written" in result.output
    assert sorted(course.rglob("*")) == before


def test_only_what_changed_is_shown(course):
    old = course / "old.json"
    old.write_text(check(course / "class", *known(course), "--json").stdout)
    assert "nothing changed" in check(course / "class", *known(course), "--against", old).output

    (course / "class" / "u1" / "hw5.md").write_text(RIGHT)
    found = check(course / "class", *known(course), "--against", old, "--json")
    (change,) = json.loads(found.stdout)["changes"]
    assert (change["student"], change["question"]) == ("u1", "b.q")
    assert (change["before"]["points"], change["after"]["points"]) == (0, 4)
    assert change["causes"] == ["document"]


def test_no_name_is_left_in_an_anonymous_run(course):
    outputs = ("--html", course / "pages", "--csv", course / "t.csv", "--human", course / "h.csv")
    secret = ("--anonymous", "--names-key", course / "key")
    results = [check(course / "class", *known(course), *secret, *outputs) for _ in range(2)]

    assert results[0].output == results[1].output
    written = [*(course / "pages").iterdir(), course / "t.csv", course / "h.csv"]
    names = " ".join(file.name for file in written)
    texts = [results[0].output, names, *(file.read_text() for file in written)]
    for text in texts:
        for name in ("lima", "joe", "eve ray", "u1", "u2", "u3", "nobody/"):
            assert name not in text.lower()
    index = (course / "pages" / "index.html").read_text()
    assert "Nothing handed in: 1" in index
    assert "Documents without a student: 1" in index
    with (course / "rubric.toml").open("a") as rubric:
        rubric.write(OVERRIDE.replace("oral exam", "Joe heard it"))
    printed = check(course / "class", *known(course), *secret, "--json").stdout
    assert "by a person" in printed
    assert "Joe" not in printed
    rows = json.loads(printed)["verdicts"]
    assert {row["student"] for row in rows} == {row["document"] for row in rows}
    assert (course / "key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--gradebook", "sheet.csv"), "together"),
        (("--gradebook", "sheet.csv", "--out", "o.csv", "--anonymous"), "run it twice"),
        (("--gradebook", "sheet.csv", "--out", "o.csv", "--column", "Parsing"), "one column"),
        (("--roster", "rubric.toml"), "tells students apart"),
        (("--rubric", "roster.csv"), "rubric in TOML"),
        (("--against", "sheet.csv"), "check --json"),
        (("--roster", "nothing.csv"), "check the path"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(course, monkeypatch, arguments, said):
    monkeypatch.chdir(course)
    before = sorted(course.rglob("*"))
    result = check("class", *arguments)

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert sorted(course.rglob("*")) == before


def test_an_override_for_nobody_is_refused(course):
    with (course / "rubric.toml").open("a") as rubric:
        rubric.write(OVERRIDE.replace("u1", "u99"))
    result = check(course / "class", *known(course))

    assert result.exit_code == 2
    assert "u99 in line 3" in " ".join(result.stderr.split())
