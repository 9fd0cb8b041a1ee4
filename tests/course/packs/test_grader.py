"""One hand-in from files to results, in this process; `test_as_the_platform_does` runs the pack."""

from __future__ import annotations

import json
import sys

import pytest
from tests.course.packs.documented import faults, green

from headwright.course.packs import grader, hand_in
from headwright.course.packs.place import facts, place, student

RIGHT = "(b) ii. $q = \\beta(k_a + k_b)$ where $\\beta \\gg 0$\n"
RUBRIC = '[question."b.q"]\npoints = 4\n[question."c.q"]\npoints = 2\nvisibility = "hidden"\n'
OVERRIDE = (
    '[[override]]\nstudent = "ana@school.edu"\nquestion = "c.q"\npoints = 1\nreason = "oral exam"\n'
)
platform = pytest.mark.parametrize("platform", ["gradescope", "prairielearn"])


def run(platform, root, monkeypatch, **documents):
    """What stands in results.json after a hand-in of these documents."""
    there = place(platform, root)
    there.submission.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        (there.submission / f"{name}.md").write_text(text)
    monkeypatch.setattr(sys, "argv", ["grader", platform, str(root)])
    grader.main()
    found = json.loads(there.results.read_text("utf-8"))
    assert faults(platform, found) == []
    return found


def prepared(platform, root, rubric=RUBRIC, known=None):
    there = place(platform, root)
    there.pack.mkdir(parents=True)
    (there.pack / "rubric.toml").write_text(rubric)
    there.facts.parent.mkdir(parents=True, exist_ok=True)
    there.facts.write_text(json.dumps(known or {}))


@platform
def test_the_rubric_of_the_pack_counts(platform, tmp_path, monkeypatch):
    prepared(platform, tmp_path)
    found = run(platform, tmp_path, monkeypatch, answers=RIGHT)

    points = {"gradescope": 4.0, "prairielearn": pytest.approx(4 / 6)}
    assert found["score"] == points[platform]
    assert [name.split()[0] for name in green(platform, found)] == ["b.q"]
    assert found["extra_data"]["bank"] == grader.digest(grader.terms(None, None)[0])
    assert found["extra_data"]["version"]


@platform
def test_without_bank_and_rubric_every_question_has_one_point(platform, tmp_path, monkeypatch):
    found = run(platform, tmp_path, monkeypatch, answers=RIGHT)
    most = {"gradescope": "max_score", "prairielearn": "max_points"}

    assert {test[most[platform]] for test in found["tests"]} == {1.0}
    assert found["extra_data"]["rubric"] == "one point each"


def test_points_that_a_person_gave_reach_their_student_alone(tmp_path, monkeypatch):
    ana = {"users": [{"id": 7, "email": "ana@school.edu"}]}
    for name, known, score in (("ana", ana, 5.0), ("joe", {"users": [{"id": 8}]}, 4.0)):
        prepared("gradescope", tmp_path / name, RUBRIC + OVERRIDE, known)
        found = run("gradescope", tmp_path / name, monkeypatch, answers=RIGHT)
        assert found["score"] == score


@platform
def test_an_empty_hand_in_says_so(platform, tmp_path, monkeypatch):
    found = run(platform, tmp_path, monkeypatch)

    assert green(platform, found) == []
    assert found["score"] == 0
    assert "no document was handed in" in str(found)


def test_a_document_that_is_unread_beside_another_is_told(tmp_path, monkeypatch):
    found = run("gradescope", tmp_path, monkeypatch, a=RIGHT, b="")

    assert "b.md: the document is empty" in found["output"]
    assert [name.split()[0] for name in green("gradescope", found)] == ["b.q"]


@platform
def test_a_fault_of_the_checker_is_told_and_gives_nothing(platform, tmp_path, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("in the checker")

    monkeypatch.setattr(hand_in, "judged", broken)
    found = run(platform, tmp_path, monkeypatch, answers=RIGHT)

    assert green(platform, found) == []
    assert found["score"] == 0
    assert "ZeroDivisionError: in the checker" in str(found)


@platform
def test_a_broken_rubric_in_the_pack_gives_nothing(platform, tmp_path, monkeypatch):
    prepared(platform, tmp_path, rubric="points = [")
    found = run(platform, tmp_path, monkeypatch, answers=RIGHT)

    assert green(platform, found) == []
    assert "rubric in TOML" in str(found)


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff", b"[" * 100_000])
def test_facts_that_cannot_be_read_are_none(tmp_path, content):
    file = tmp_path / "facts.json"
    file.write_bytes(content)

    assert facts(file) == {}
    assert facts(tmp_path / "nothing.json") == {}


@pytest.mark.parametrize("users", [None, 3, [3], [{"id": None}], [{}]])
def test_users_that_are_none_have_no_names(users):
    assert student({"users": users}).names == ()
