"""`headwright pack`: what is in the zip, and what is refused before anything is written."""

from __future__ import annotations

import json
import stat
import zipfile

import pytest
from click.testing import CliRunner
from tests.course.packs.documented import faults, green
from tests.course.packs.stand_ins import LINUX, stand_ins

from headwright.cli.course.pack import command

RUBRIC = '[question."b.q"]\npoints = 4\nvisibility = "hidden"\n'
BANK = '[[question]]\nid = "x.q"\ntitle = "T"\nasked = "A"\ntest = "prose"\npoints = 3\n'


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A folder with wheels, a rubric and a bank."""
    monkeypatch.chdir(tmp_path)
    stand_ins(tmp_path / "wheels")
    (tmp_path / "rubric.toml").write_text(RUBRIC)
    (tmp_path / "bank.toml").write_text(BANK)
    return tmp_path


def pack(platform, *arguments):
    texts = [str(argument) for argument in arguments]
    return CliRunner().invoke(command, [platform, *texts], env={"COLUMNS": "80"})


PROGRAMS = {
    "gradescope": {"setup.sh", "run_autograder"},
    "prairielearn": {"tests/setup.sh", "tests/run.sh"},
}


@pytest.mark.parametrize("platform", list(PROGRAMS))
def test_a_pack_has_what_the_platform_runs(course, platform):
    result = pack(platform, "--wheels", "wheels", "--rubric", "rubric.toml", "--out", "p.zip")
    assert result.exit_code == 0, result.output
    folder = "tests/" if platform == "prairielearn" else ""

    with zipfile.ZipFile("p.zip") as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        failed = json.loads(archive.read(f"{folder}not_graded.json"))
        rubric = archive.read(f"{folder}rubric.toml").decode()
        required = archive.read(f"{folder}requirements.txt").decode().split()
    executable = {name for name, one in entries.items() if one.external_attr >> 16 & stat.S_IXUSR}
    assert executable == PROGRAMS[platform]
    assert rubric == RUBRIC
    assert f"{folder}wheels/numpy-1.0-{LINUX}.whl" in entries
    assert {"numpy==1.0", "wadler-lindig==1.0"} < set(required)
    assert faults(platform, failed) == []
    assert green(platform, failed) == []
    assert failed["score"] == 0


def test_the_question_of_prairielearn_is_whole(course):
    pack("prairielearn", "--wheels", "wheels", "--out", "p.zip")
    with zipfile.ZipFile("p.zip") as archive:
        info = json.loads(archive.read("info.json"))
        image = archive.read("Dockerfile").decode()

    options = info["externalGradingOptions"]
    assert options["entrypoint"] == "/grade/tests/run.sh"
    assert options["timeout"] == 30
    assert len(info["uuid"]) == 36
    assert "FROM python:3.11-slim" in image
    assert "@" not in image + json.dumps(info)


def test_the_same_course_gives_the_same_bytes(course):
    for name in ("one.zip", "two.zip"):
        pack("gradescope", "--wheels", "wheels", "--out", name)

    assert (course / "one.zip").read_bytes() == (course / "two.zip").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "points"),
    [((), 17), (("--bank", "bank.toml"), 3), (("--rubric", "rubric.toml"), 4)],
)
def test_what_questions_are_worth(course, arguments, points):
    result = pack("gradescope", "--wheels", "wheels", *arguments, "--out", "p.zip", "--json")

    assert json.loads(result.stdout)["max_points"] == points


def test_people_are_told_what_it_needs_and_what_is_hidden(course):
    result = pack("gradescope", "--wheels", "wheels", "--rubric", "rubric.toml", "--out", "p.zip")
    said = " ".join(result.stdout.split())

    assert "needs Python 3.11 on Linux" in said
    assert "hidden from students at first: 1 of 1 questions" in said


def test_another_python_than_the_platform_has_is_told(course):
    for path in (course / "wheels").glob("numpy*"):
        path.rename(path.with_name(path.name.replace("311", "313")))
    result = pack("gradescope", "--wheels", "wheels", "--out", "p.zip")

    assert "usual image has Python 3.11" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gradscope",), "headwright pack gradescope"),
        (("prairie",), "headwright pack prairielearn"),
        (("",), "a platform: gradescope or prairielearn"),
        (("gradescope", "--rubric", "rubric.toml", "--bank", "bank.toml"), "line 1 of rubric.toml"),
        (("gradescope", "--bank", "rubric.toml"), "[[question]] tables"),
        (("gradescope", "--rubric", "nothing.toml"), "a rubric in TOML"),
        (("gradescope", "--wheels", "nothing"), "folder with wheels"),
        (("gradescope", "--out", "wheels"), "wheels"),
        (("gradescope", "--out", "rubric.toml/p.zip"), "rubric.toml/p.zip"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(course, arguments, said):
    before = sorted(course.rglob("*"))
    usual = ("--wheels", "wheels", "--out", "p.zip")
    result = pack(arguments[0], *usual, *arguments[1:])

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert sorted(course.rglob("*")) == before


def test_a_machine_without_the_packages_gets_the_line_that_downloads_them(course, monkeypatch):
    from headwright.course.packs import wheels

    monkeypatch.setattr(wheels, "_installed", lambda name: [])
    result = pack("gradescope", "--out", "p.zip")

    assert result.exit_code == 2
    assert "pip download" in " ".join(result.stderr.split())
    assert not (course / "p.zip").exists()
