"""The benchmark on graded hand-ins counts what it says it counts, and refuses what it cannot
read."""

from __future__ import annotations

import json

import pytest
from benchmarks import check_real
from benchmarks.check_real import Compared, Graded

from headwright.errors import InputError
from headwright.homework.verdict import Report, Verdict

ANSWERS = """
(a) ii. $k_j^\\top q \\gg k_i^\\top q$ for all $i \\neq j$.

(b) i. $M = A^\\top$

ii. $q = \\beta (k_a + k_b)$ with $\\beta \\gg 0$
"""


def record(question, verdict, kind="formula", level="answer", file="one.md"):
    fields = {"file": file, "question": question, "kind": kind}
    return {**fields, "level": level, "verdict": verdict}


def compared(graded, got, kind="formula", confidence=0.5):
    ours = None if got is None else Verdict("b.q", "", got, "", confidence=confidence)
    return Compared(Graded("one.md", "b.q", kind, "answer", graded), ours)


@pytest.mark.parametrize(
    ("graded", "got", "outcome"),
    [
        ("correct", "correct", "right"),
        ("wrong", "incomplete", "right"),
        ("incomplete", "wrong", "right"),
        ("correct", "wrong", "misjudged"),
        ("wrong", "correct", "misjudged"),
        ("correct", "unread", "unread"),
        ("correct", "missing", "unread"),
        ("correct", None, "unread"),
        ("missing", "missing", "right"),
        ("missing", "unread", "unread"),
        ("missing", None, "unread"),
        ("missing", "wrong", "misjudged"),
        ("missing", "correct", "misjudged"),
    ],
)
def test_an_outcome_is_right_misjudged_or_unread(graded, got, outcome):
    assert compared(graded, got).outcome == outcome


def test_blanks_stand_in_a_row_of_their_own_and_are_no_answers():
    found = [compared("missing", "missing", kind="blank"), compared("correct", "wrong")]
    blank, formula, answered = check_real.rows(found)
    assert (blank["kind"], blank["right"], blank["answers"]) == ("blank", 1, 1)
    assert formula == {**answered, "kind": "formula"}
    assert (answered["misjudged"], answered["misjudged %"]) == (1, 100.0)


def test_confidence_is_held_against_the_errors():
    surer = [compared("correct", "correct", confidence=0.9) for _ in range(3)]
    doubtful = [compared("correct", "wrong", confidence=0.2) for _ in range(2)]
    silent = [compared("correct", "unread", confidence=1.0)]
    told = check_real.separation(surer + doubtful + silent)
    assert "0 of 2 errors are in the surer half of 5 judged" in told


def test_a_flagged_step_is_true_false_or_not_graded():
    names = ("one", "two", "three")
    steps = tuple(Verdict(f"b.q/step:{name}", name, "wrong", "differs") for name in names)
    report = Report("folder/one.md", (Verdict("b.q", "", "correct", "", steps=steps),))
    graded = [
        Graded("one.md", "b.q/step:one", "formula", "step", "wrong"),
        Graded("one.md", "b.q/step:two", "formula", "step", "correct"),
    ]
    count, *lines = check_real.flagged_steps(graded, [report])
    assert count == "flagged steps: 3 (1 true, 1 false, 1 not graded)"
    assert [line.partition(":")[0] for line in lines] == ["flag, false", "flag, not graded"]


def test_a_folder_is_judged_and_its_errors_are_named(tmp_path):
    (tmp_path / "one.md").write_text(ANSWERS, encoding="utf-8")
    graded = [
        record("a.cond", "correct", kind="relation"),
        record("b.M", "correct"),
        record("b.q", "correct"),
        record("b.q", "correct", level="alt"),
        record("c.q", "correct"),
        record("b.q", "correct", file="not-there.md"),
    ]
    expected = tmp_path / "graded.json"
    expected.write_text(json.dumps(graded), encoding="utf-8")
    result = check_real.run(str(tmp_path / "one.md"), str(expected), quick=False)
    formula, _ = result["rows"]
    assert [formula[name] for name in ("answers", "right", "misjudged", "unread")] == [4, 2, 1, 1]
    (error,) = [note for note in result["notes"] if note.startswith("misjudged: one.md")]
    assert error.startswith("misjudged: one.md b.M, graded correct: wrong (M is a 3 x 9 matrix")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1]", "[{}]", json.dumps([record("b.q", "good")]), json.dumps([record("b.q", "")])],
)
def test_a_file_that_is_not_a_list_of_graded_answers_is_refused(text, tmp_path):
    path = tmp_path / "graded.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="graded answers"):
        check_real.read_graded(path)
