"""A sheet's text: what stands in a roster cannot become markup, and the key is read as right."""

import re

import pytest

from headwright.course.handouts.marker import marker
from headwright.course.handouts.text import SheetText, in_tex, numbered
from headwright.course.people import Student
from headwright.course.variants import drawn, sheet_bank, variant_bank
from headwright.exercise.bank import Bank, Question, load
from headwright.homework.one_document import judge_document
from headwright.homework.reading.formats import read_text

SHEET = sheet_bank(load())


def sheet(student, *, answered=False, seed="0"):
    bank = variant_bank(SHEET, drawn(seed, student.id))
    return SheetText(student, bank, marker("c" * 16, student.id), answered)


@pytest.mark.parametrize("suffix", [".md", ".tex"])
@pytest.mark.parametrize("answered", [True, False])
def test_a_key_is_right_and_an_empty_sheet_is_missing_everything(suffix, answered):
    one = sheet(Student("u1", "Ana Lima"), answered=answered)
    text = one.markdown() if suffix == ".md" else one.tex()
    report = judge_document(read_text(text, name="x", suffix=suffix), one.bank)

    assert [verdict.question for verdict in report.verdicts] == [q.id for q in one.bank]
    wanted = "correct" if answered else "missing"
    assert {verdict.status for verdict in report.verdicts} == {wanted}


def test_a_dozen_neighbours_answers_fail():
    keys = [sheet(Student(f"u{k}"), answered=True) for k in range(12)]
    passed = []
    for own, neighbour in zip(keys, keys[1:] + keys[:1], strict=True):
        document = read_text(neighbour.markdown(), name="x", suffix=".md")
        verdicts = judge_document(document, own.bank).verdicts
        right = {v.question for v in verdicts if v.status not in ("wrong", "incomplete")}
        passed += right & {"b.q", "c.q", "c.var", "d.q", "d.var"}

    assert len(passed) <= 0.1 * 60


def test_names_and_ids_cannot_become_markup():
    student = Student("u_1\n# b", r"\input{/etc/passwd} $x$ <b> & 100 % *[link](x)*")
    one = sheet(student)

    head = one.markdown().split("\n\n")[1]
    assert "\n" not in head
    assert not re.search(r"(?<!\\)[*$<\[](?!sheet )", head)
    assert r"\input" not in one.tex()
    assert r"\textbackslash{}input\{/etc/passwd\} \$x\$" in one.tex()


def test_formulas_stay_and_words_are_spelled_out_in_tex():
    assert in_tex(r"2 % of $k_p^\top q$ & $5 alone") == r"2 \% of $k_p^\top q$ \& \$5 alone"


def test_no_mark_is_left_on_a_sheet():
    for seed in "0123456789":
        assert "<<" not in sheet(Student("u1"), seed=seed).markdown()


def test_questions_are_numbered_as_their_bank_does():
    def questions(*labels):
        return tuple(
            Question(f"q{k}", "t", "asked", "prose", labels=label) for k, label in enumerate(labels)
        )

    def shown(bank):
        return [label for label, _ in numbered(bank)]

    assert shown(SHEET)[:6] == ["(a) i.", "(a) ii.", "(a) iii.", "(a) iv.", "(b) i.", "(b) ii."]
    assert shown(Bank("", "", questions(("b.2",), ("c",)))) == ["(b) ii.", "(c)"]
    assert shown(Bank("", "", questions((), ("c",)))) == ["1.", "2."]
