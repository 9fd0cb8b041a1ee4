"""`headwright new`, and `headwright check --manifest` of what comes back."""

import json
import os
import shutil

import pytest
from click.testing import CliRunner

from headwright.cli.check.command import command as check_command
from headwright.cli.course.new import command as new_command

ROSTER = "id,name\nu1,Ana Lima\na/..,Joe Doe\nu3,Eve Ray\n"


def run(command, *arguments):
    return CliRunner().invoke(command, [str(one) for one in arguments], env={"COLUMNS": "80"})


def new(roster, out, *more):
    return run(new_command, "--roster", roster, "--out", out, *more)


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def roster(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(ROSTER)
    return path


@pytest.fixture
def course(roster, tmp_path):
    assert new(roster, tmp_path / "out").exit_code == 0
    return tmp_path / "out"


def test_the_keys_score_everything_through_check(course):
    found = run(check_command, course / "keys", "--manifest", course / "manifest.json", "--json")
    result = json.loads(found.stdout)

    assert found.exit_code == 0
    assert {row["student"] for row in result["verdicts"]} == {"u1", "a/..", "u3"}
    assert {row["status"] for row in result["verdicts"]} == {"correct"}
    assert len(result["verdicts"]) == 6 * 10
    for one in result["students"]:
        assert one["points"] == one["max_points"] == 17
    assert len({row["bank"] for row in result["documents"]}) == 3
    assert {row["note"] for row in result["documents"]} == {""}


def test_everyone_is_judged_by_their_own_sheet(course, tmp_path):
    class_ = tmp_path / "class"
    (class_ / "u1").mkdir(parents=True)
    (class_ / "u3").mkdir()
    shutil.copy(course / "keys" / "u3.md", class_ / "u1" / "hw.md")  # a neighbour's answers
    shutil.copy(course / "keys" / "u3.md", class_ / "whose.md")  # known by its code alone
    (class_ / "nobody.md").write_text("(a) i. They sum to one.\n")
    shutil.copy(course / "keys" / "u3.md", class_ / "u1" / "u3.md")  # two students in one path
    foreign = tmp_path / "roster2.csv"
    foreign.write_text("id\nu3\n")
    assert new(foreign, tmp_path / "other", "--seed", "1").exit_code == 0
    shutil.copy(tmp_path / "other" / "keys" / "u3.md", class_ / "u3" / "hw.md")

    found = run(check_command, class_, "--manifest", course / "manifest.json", "--json")
    result = json.loads(found.stdout)
    owner = {os.path.relpath(d["document"], class_): d for d in result["documents"]}
    status = {}
    for row in result["verdicts"]:
        place = os.path.relpath(row["document"], class_)
        status.setdefault(place, {})[row["question"]] = row["status"]

    assert owner["whose.md"]["student"] == "u3"
    assert set(status["whose.md"].values()) == {"correct"}
    mine = status[os.path.join("u1", "hw.md")]
    assert {mine[q] for q in ("b.q", "c.q", "c.var", "d.q", "d.var")} <= {"wrong", "incomplete"}
    assert "a sheet of another student" in owner[os.path.join("u1", "hw.md")]["note"]
    assert "a sheet of another course" in owner[os.path.join("u3", "hw.md")]["note"]
    assert status["nobody.md"] == {"*": "unread"}
    assert status[os.path.join("u1", "u3.md")] == {"*": "unread"}
    assert result["unmatched"]["several"] == [str(class_ / "u1" / "u3.md")]
    assert result["unmatched"]["students"] == ["a/.."]


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(course, roster, tmp_path):
    assert new(roster, tmp_path / "again").exit_code == 0
    assert new(roster, tmp_path / "seven", "--seed", "7").exit_code == 0

    assert contents(tmp_path / "again") == contents(course)
    assert contents(tmp_path / "seven").keys() == contents(course).keys()
    assert contents(tmp_path / "seven") != contents(course)


def test_a_late_student_changes_nobody_elses_sheet(course, roster, tmp_path):
    roster.write_text("id,name\nlate,Lee Low\n" + ROSTER.split("\n", 1)[1])
    assert new(roster, tmp_path / "more").exit_code == 0

    before = contents(course)
    after = contents(tmp_path / "more")
    assert all(after[name] == before[name] for name in before if name != "manifest.json")


def test_a_folder_with_other_sheets_is_refused_and_kept(course, roster):
    before = contents(course)
    assert "already there, and the same" in new(roster, course).output
    refused = new(roster, course, "--seed", "7")

    assert refused.exit_code == 2
    assert "wanted an empty folder, or the same sheets" in refused.output
    assert contents(course) == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,name\nu1,A\nu1,B\n", "u1 in lines 2 and 3"),
        ("id,name\n", "at least one student"),
        ("", "is empty"),
        ("name\nAna\n", "a column that tells students apart"),
        ("id,name\n,Ana\n", "an id for every student"),
    ],
)
def test_a_bad_roster_is_one_line_and_nothing_is_written(text, told, tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(text)
    result = new(path, tmp_path / "out")

    assert result.exit_code == 2
    assert told in result.output
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_one_line(roster, tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    result = new(roster, in_the_way / "out")

    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert in_the_way.read_text() == ""


def test_an_edited_manifest_is_refused_before_anything_is_judged(course):
    manifest = course / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"leak": ', '"leak": 1'))
    result = run(check_command, course / "keys", "--manifest", manifest)

    assert result.exit_code == 2
    assert "changed afterwards" in result.output


def test_json_lists_the_sheets(course, roster):
    result = json.loads(new(roster, course, "--json").stdout)

    assert result["unchanged"] is True
    assert result["varied"] == ["b.q", "c.q", "c.var", "d.q", "d.var"]
    assert [row["student"] for row in result["sheets"]] == ["u1", "a/..", "u3"]
    assert all(os.path.isfile(row["sheet"]) for row in result["sheets"])


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX here")
def test_pdfs_are_made_where_tex_is_installed(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text("id,name\nu1,Ana_Lima & Söhne\n")
    assert new(path, tmp_path / "out", "--pdf").exit_code == 0

    assert (tmp_path / "out" / "sheets" / "u1.pdf").read_bytes().startswith(b"%PDF")


def test_without_tex_a_pdf_is_refused(roster, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = new(roster, tmp_path / "out", "--pdf")

    assert result.exit_code == 2
    assert "wanted pdflatex for --pdf" in result.output
    assert not (tmp_path / "out").exists()


def test_points_by_hand_for_nobody_with_a_sheet_are_refused(course, tmp_path):
    rubric = tmp_path / "rubric.toml"
    rubric.write_text('[[override]]\nstudent = "u99"\nquestion = "b.q"\npoints = 1\nreason = "x"\n')
    refused = run(
        check_command,
        course / "keys",
        *("--manifest", course / "manifest.json", "--rubric", rubric),
    )

    assert refused.exit_code == 2
    assert "one for u99 in line 1" in refused.output
