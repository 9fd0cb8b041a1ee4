"""The sample class gets the verdicts that are known beforehand, and the guide to a course is true:
every command in it runs and prints what the guide says."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.docs.executed import execute
from tests.docs.page import blocks

from headwright.cli import app
from headwright.homework import batch

GUIDE = "docs/guides/course.md"
LAST_OPEN = ("u17", "u18", "u23", "u28")


class Remembering:
    """Judges each document of the class once, however many commands of the guide look at it."""

    def __init__(self) -> None:
        self._judge_many = batch.judge_many
        self._known: dict[bytes, object] = {}

    def __call__(self, documents, bank=None, *, pages=False, **how):
        texts = {one.name: one.path.read_bytes() for one in documents}
        new = [one for one in documents if not self._serves(texts[one.name], one.name, pages)]
        for outcome in self._judge_many(new, bank, pages=pages, **how) if new else ():
            self._known[texts[outcome.name]] = outcome
        for one in documents:
            known = self._known[texts[one.name]]
            yield replace(known, name=one.name, report=replace(known.report, document=one.name))

    def _serves(self, text, name, pages) -> bool:
        """A page shows the name of its document, so that it serves that one alone."""
        known = self._known.get(text)
        return known is not None and (not pages or (known.name == name and known.page != ""))


def run(command: str):
    program, *arguments = shlex.split(command)
    assert program == "headwright"
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "80"})


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The guide, executed in a folder of its own."""
    folder = tmp_path_factory.mktemp("course")
    before = Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "judge_many", Remembering())
        os.chdir(folder)
        try:
            mistakes = list(execute(blocks(GUIDE), GUIDE))
        finally:
            os.chdir(before)
    return folder / "demo", mistakes


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_every_command_of_the_guide_prints_what_the_guide_says(course):
    _, mistakes = course

    assert not mistakes, "\n\n".join(mistakes)


def test_the_class_gets_exactly_the_known_verdicts(course):
    folder, _ = course
    found = json.loads((folder / "old.json").read_text())
    expected = json.loads((folder / "expected.json").read_text("utf-8"))

    students = {
        Path(one["student"]).parent.name or one["student"]: one for one in found["students"]
    }
    assert students.keys() == expected["students"].keys()
    for id, wanted in expected["students"].items():
        marks = students[id]["marks"]
        assert {mark["question"]: mark["status"] for mark in marks} == wanted["statuses"], id
        assert {mark["question"]: mark["points"] for mark in marks} == wanted["marks"], id
        assert students[id]["points"] == pytest.approx(wanted["points"])
    assert found["unmatched"]["students"] == expected["without"]
    assert [Path(name).parent.name for name in found["unmatched"]["documents"]] == expected[
        "nobody"
    ]


def test_the_gradebook_has_the_known_totals_and_nothing_else_changed(course):
    folder, _ = course
    wanted = json.loads((folder / "expected.json").read_text("utf-8"))["students"]
    wanted["u15"]["points"] += 0.5  # the guide's own override
    sheets = [(folder / name).read_text("utf-8") for name in ("canvas.csv", "filled.csv")]
    before, after = [list(csv.reader(text.splitlines())) for text in sheets]

    assert [row[:-1] for row in before] == [row[:-1] for row in after]
    for old, new in zip(before[2:], after[2:], strict=True):
        id = new[2]
        if id in wanted and id not in (*LAST_OPEN, "u20"):
            assert float(new[-1]) == pytest.approx(wanted[id]["points"]), id
        else:
            assert new == old


def test_the_page_of_the_class_shows_what_the_sample_is_made_of(course):
    folder, _ = course
    index = (folder / "pages" / "index.html").read_text("utf-8")
    same = index.partition("The same answer by several students")[2].partition("</section>")[0]

    assert re.findall(r">([\w ]+)</a>", same) == ["Fatima Haddad", "Olga Petrova", "Wanjiru Kamau"]
    assert "9 of 29 (31" in index
    assert "Celia Grant" in index.partition("Nothing handed in: 2")[2]


def test_the_guides_rubric_is_one(course, tmp_path):
    (toml, *_) = [block.text for block in blocks(GUIDE) if block.kind == "toml"]
    (tmp_path / "rubric.toml").write_text(toml)
    (tmp_path / "u1.md").write_text("(b) ii. $q = \\beta(k_a + k_b)$ with $\\beta \\gg 0$\n")
    command = f"headwright check {tmp_path}/u1.md --rubric {tmp_path}/rubric.toml --dry-run"

    assert "u1  3 of 5 points" in run(command).output


def test_the_same_class_is_written_every_time(tmp_path):
    for name in ("one", "two"):
        assert run(f"headwright course demo --out {tmp_path / name}").exit_code == 0
    files = sorted(file for file in (tmp_path / "one").rglob("*") if file.is_file())
    assert len(files) == 35
    for file in files:
        other = tmp_path / "two" / file.relative_to(tmp_path / "one")
        assert file.read_bytes() == other.read_bytes()


def test_a_folder_with_something_in_it_is_refused_and_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    for place in (tmp_path, tmp_path / "mine.txt"):
        result = run(f"headwright course demo --out {place}")
        assert result.exit_code == 2
        assert "new or empty" in in_one_line(result.output)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
