"""A pack made from a manifest grades everyone by their own sheet."""

from __future__ import annotations

import json
import zipfile

import pytest
from tests.course.packs.documented import faults, green
from tests.course.packs.stand_ins import stand_ins

from headwright.course.handouts.made import made_manifest, made_sheets
from headwright.course.packs.grader import graded
from headwright.course.packs.making.archive import pack
from headwright.course.packs.place import place
from headwright.course.people import Student
from headwright.errors import InputError
from headwright.exercise.bank import load

ANA = Student("u1", "Ana Lima", "ana@school.edu")
JOE = Student("u2", "Joe Doe", "Joe@School.edu")


def course(folder, *students):
    """The manifest in a file, and every student's key."""
    made = list(made_sheets(students, load(), "7"))
    file = folder / "manifest.json"
    file.write_bytes(made_manifest(made, load(), "7").written())
    return file, {one.entry.student.id: one.files[f"keys/{one.entry.file}.md"] for one in made}


def packed(folder, manifest, platform="gradescope", out="pack.zip"):
    wheels = stand_ins(folder / "wheels")
    return pack(platform, folder / out, manifest_file=manifest, wheels_folder=wheels)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    manifest, keys = course(root, ANA, JOE)
    packed(root, manifest)
    with zipfile.ZipFile(root / "pack.zip") as archive:
        archive.extractall(root / "source")
    return root, keys


def hand_in(root, document, email):
    there = place("gradescope", root)
    there.submission.mkdir(exist_ok=True)
    (there.submission / "answers.md").write_bytes(document)
    there.facts.write_text(json.dumps({"users": [{"id": 3, "email": email}]}))
    return graded("gradescope", there)


def test_the_own_key_has_all_points_and_a_neighbours_has_not(two):
    root, keys = two
    own = hand_in(root, keys["u1"], "ana@school.edu")
    neighbours = hand_in(root, keys["u2"], "ana@school.edu")

    assert faults("gradescope", own) == []
    assert own["score"] == sum(test["max_score"] for test in own["tests"]) > 0
    assert len(green("gradescope", own)) == len(own["tests"])
    assert neighbours["score"] < own["score"]


def test_the_variant_and_its_questions_are_recorded(two):
    root, keys = two
    ana = hand_in(root, keys["u1"], "ana@school.edu")["extra_data"]
    joe = hand_in(root, keys["u2"], "joe@school.edu")["extra_data"]

    assert ana["variant"] != joe["variant"]
    assert ana["bank"] != joe["bank"]


def test_a_student_without_a_sheet_is_not_graded_by_anothers(two):
    root, keys = two
    with pytest.raises(InputError, match="the manifest has none"):
        hand_in(root, keys["u1"], "eve@school.edu")


def test_no_name_stands_in_the_pack(two):
    root, _ = two
    data = b"".join(file.read_bytes() for file in (root / "source" / "banks").iterdir())

    assert b"lima" not in data.lower()
    assert b"school.edu" not in data.lower()


@pytest.mark.parametrize(
    ("students", "said"),
    [
        ((ANA, Student("u3", "Eve Ray")), "none for u3"),
        ((ANA, Student("u4", "Ana L.", "ANA@school.edu")), "the one of u4 twice"),
    ],
)
def test_students_whom_the_platform_could_not_tell_apart_are_refused(tmp_path, students, said):
    manifest, _ = course(tmp_path, *students)
    with pytest.raises(InputError, match=said):
        packed(tmp_path, manifest)
    assert not (tmp_path / "pack.zip").exists()


def test_prairielearn_tells_no_names_so_that_sheets_cannot_differ(tmp_path):
    manifest, _ = course(tmp_path, ANA)
    with pytest.raises(InputError, match="--manifest for prairielearn"):
        packed(tmp_path, manifest, "prairielearn")
