"""The manifest: written, read, and refused where it was changed or is of other questions."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from headwright.course.handouts.made import made_manifest, made_sheets
from headwright.course.manifest import read_manifest
from headwright.course.people import Student
from headwright.errors import InputError
from headwright.exercise.bank import load

ROSTER = [Student("u1", "Ana Lima", "a@x.org", ("login1",)), Student("ü/..", "Joe")]


@pytest.fixture(scope="module")
def manifest():
    return made_manifest(made_sheets(ROSTER, load(), "7"), load(), "7")


def test_it_comes_back_as_it_was_written(manifest, tmp_path):
    path = tmp_path / "manifest.json"
    path.write_bytes(manifest.written())
    found = read_manifest(path)

    assert found == manifest
    sheet = found.questions(load())
    assert found.bank_of("ü/..", sheet).letters == {
        "a": found.by_student["ü/.."].variant.varying,
        "b": found.by_student["ü/.."].variant.steady,
    }


def test_every_change_of_a_value_is_noticed(manifest, tmp_path):
    path = tmp_path / "manifest.json"
    whole = json.loads(manifest.written())
    changed = [
        {**whole, "seed": "8"},
        {**whole, "version": "9.9"},
        {**whole, "students": whole["students"][:1]},
        {**whole, "students": [{**whole["students"][0], "id": "u2"}, whole["students"][1]]},
        {key: value for key, value in whole.items() if key != "digest"},
    ]
    for content in changed:
        path.write_text(json.dumps(content))
        with pytest.raises(InputError, match="which was changed afterwards"):
            read_manifest(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"format": 99}', "[" * 100_000])
def test_what_is_no_manifest_is_refused(text, tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text(text)

    with pytest.raises(InputError, match="manifest"):
        read_manifest(path)


def test_other_questions_are_refused(manifest):
    other = replace(load(), title="Another exercise")

    with pytest.raises(InputError, match="the questions that the sheets"):
        manifest.questions(other)


def test_a_sheet_that_this_version_would_write_otherwise_is_refused(manifest):
    sheet = manifest.questions(load())
    reworded = tuple(replace(question, asked="Something else") for question in sheet)

    with pytest.raises(InputError, match="the sheet of u1 as it was handed out"):
        manifest.bank_of("u1", replace(sheet, questions=reworded))


def test_another_seed_is_another_course(manifest):
    other = made_manifest(made_sheets(ROSTER, load(), "8"), load(), "8")

    assert other.course != manifest.course
    assert other.bank == manifest.bank


def test_who_reads_a_manifest_needs_no_engines():
    """Every `check` does; the engines' imports are half a second of processor time."""
    said = "import sys, headwright.course.manifest; print('headwright.noise' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
