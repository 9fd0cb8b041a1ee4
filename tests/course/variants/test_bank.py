"""Each variation is judged: the right answer to a sheet passes, and fails on another one."""

from dataclasses import replace

import pytest

from headwright.course.variants import sheet_bank, variant_bank
from headwright.course.variants.bank import varied
from headwright.course.variants.variant import Variant
from headwright.errors import InputError
from headwright.exercise.bank import load
from headwright.homework.one_document import judge_document
from headwright.homework.reading.formats import read_text

SHEET = sheet_bank(load())
VARIANT = Variant(
    varying="p", steady="w", varying_first=True, percent=70, n=12, leak=2, d=64, variance="1/3"
)
LABELS = {
    "b.q": "(b) ii.",
    "c.q": "(c) i.",
    "c.var": "(c) ii.",
    "d.q": "(d) i.",
    "d.var": "(d) ii.",
}


def judged(question, answer, variant=VARIANT):
    bank = variant_bank(SHEET, variant)
    document = read_text(f"{LABELS[question]} {answer}\n", name="x", suffix=".md")
    found = {verdict.question: verdict for verdict in judge_document(document, bank).verdicts}
    return found[question]


def right(question, variant=VARIANT):
    return variant_bank(SHEET, variant)[question].right


@pytest.mark.parametrize("question", LABELS)
def test_the_right_answer_is_right(question):
    assert varied(SHEET[question])
    assert judged(question, right(question)).status == "correct"


@pytest.mark.parametrize(
    ("question", "changes"),
    [
        ("b.q", {"percent": 65}),
        ("b.q", {"d": 0}),
        ("b.q", {"d": 81}),
        ("b.q", {"varying": "w", "steady": "p"}),
        ("b.q", {"steady": "f"}),
        ("c.q", {"n": 14}),
        ("c.q", {"leak": 3}),
        ("c.q", {"varying": "f"}),
        ("c.var", {"varying": "w", "steady": "p"}),
        ("c.var", {"varying": "f", "steady": "g"}),
        ("d.q", {"varying": "f"}),
        ("d.var", {"varying": "f", "steady": "g"}),
        ("d.var", {"steady": "g"}),
    ],
)
def test_the_right_answer_of_another_sheet_is_not(question, changes):
    other = right(question, replace(VARIANT, **changes))

    assert judged(question, other).status in ("wrong", "incomplete")


@pytest.mark.parametrize(
    ("beta", "status", "why"),
    [
        (r"\beta = 5.50", "correct", ""),
        (r"\beta \ge 5.5", "correct", ""),
        (r"\beta = \ln 245", "correct", ""),
        (r"\beta \ge \ln(5 \cdot 49) = 5.50", "correct", ""),
        (r"\beta = \ln 40", "incomplete", "too small"),
        (r"\beta = 5", "incomplete", "too small: it leaves 3.3% on the other keys at n = 12"),
        (r"\beta = 9", "incomplete", "larger than needed"),
        (r"\beta \gg 0", "incomplete", "as a number, and none is given"),
    ],
)
def test_the_smallest_scale_is_asked_for(beta, status, why):
    verdict = judged("c.q", rf"$q = \beta(\mu_p + \mu_w)$ with ${beta}$.")

    assert verdict.status == status
    assert why in verdict.reason


def test_a_number_in_words_is_left_to_a_person():
    verdict = judged("c.q", r"$q = \beta(\mu_p + \mu_w)$, the scale being about 5.5.")

    assert verdict.status == "unread"


def test_a_query_in_numbers_needs_the_smallest_scale_too():
    assert judged("c.q", r"$q = 5.5 (\mu_p + \mu_w)$").status == "correct"
    assert judged("c.q", r"$q = 11 (\mu_p + \mu_w)$").status == "incomplete"


def test_the_law_of_the_length_has_the_variance_of_the_sheet():
    steps = judged("c.var", right("c.var")).steps
    wrong = judged("c.var", right("c.var").replace("1/3", "1/2")).steps

    assert [(step.status, step.reason) for step in steps] == [
        ("correct", "the length of k_p along mu_p is N(1, 1/3)")
    ]
    assert [step.status for step in wrong] == ["wrong"]


def test_a_report_speaks_in_the_letters_of_the_sheet():
    verdict = judged("b.q", r"$q = \beta(k_p + k_w)$ with $\beta \gg 0$")

    assert verdict.answer == r"q = \beta(k_p + k_w)"
    assert "0.7 on p and 0.3 on w" in verdict.reason
    assert "(beta + sqrt(64) ln 0.7) k_p" in verdict.repair
    assert {"p", "w"} <= set(verdict.counterexample["order"])


def test_marks_of_a_teachers_own_bank_are_filled_in(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(
        '[[question]]\nid = "m"\ntitle = "M"\ntest = "query"\n'
        'asked = "c near <<share_one>> v_<<one>> + <<share_two>> v_<<two>>"\n'
        'right = "q = beta"\nparameters = { vectors = "keys", target = { a = 0.5, b = 0.5 } }\n'
    )
    own = load(path)
    bank = variant_bank(sheet_bank(own), VARIANT)

    assert bank["m"].asked == "c near 0.7 v_p + 0.3 v_w"
    assert bank["m"].parameters["target"] == {"a": 0.7, "b": pytest.approx(0.3)}
    assert bank.letters == {"a": "p", "b": "w"}
    with pytest.raises(InputError, match="<<nonsense>> in m"):
        variant_bank(replace(own, questions=(replace(own["m"], right="<<nonsense>>"),)), VARIANT)


def test_a_bank_that_asks_otherwise_is_not_reworded():
    changed = load()
    asked = tuple(replace(q, asked="Mine.") if q.id == "b.q" else q for q in changed.questions)

    assert sheet_bank(replace(changed, questions=asked))["b.q"].asked == "Mine."
