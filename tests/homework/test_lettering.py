"""Letters of a sheet are exchanged for those of the judges, and back."""

import pytest

from headwright.homework.lettering import Lettering
from headwright.homework.reading.formats import read_text
from headwright.homework.verdict import Report, Verdict

LETTERING = Lettering({"a": "p", "b": "w"})


def read(text):
    document = LETTERING.read(read_text(text, name="x", suffix=".md"))
    return " ".join(segment.text for segment in document.segments)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("$k_p$", "k_a"),
        (r"$\mu_{p} + \mu_{w}$", r"\mu_{a} + \mu_{b}"),
        (r"$\mu_{\mathrm{p}}$", r"\mu_{\mathrm{a}}"),
        (r"$k_\mathrm{w}$", r"k_\mathrm{b}"),
        (r"$\sum_{i \neq p, w} v_i$", r"\sum_{i \neq a, b} v_i"),
        (r"$i \in \{p, w\}$", r"i \in \{a, b\}"),
        ("$k_a$", "k_p"),
        ("$kp + kw$", "ka + kb"),
        ("kₚ", "kₐ"),
        ("key p and value w", "key a and value b"),
        ("a plan, a key, p < 0.05", "a plan, a key, p < 0.05"),
        ("$u_a + u_b$", "u_a + u_b"),
        (r"$\exp(k_p^\top q)$", r"\exp(k_a^\top q)"),
        (r"$\alpha_p$", r"\alpha_a"),
    ],
)
def test_what_is_typed_is_read_in_the_judges_letters(typed, meant):
    assert read(typed).strip() == meant


def test_without_letters_nothing_changes():
    document = read_text("$k_a + k_p$", name="x")

    assert Lettering({}).read(document) is document


def test_a_report_is_told_in_the_sheets_letters():
    verdict = Verdict(
        question="b.q",
        answer=r"q = k_a + k_{b} \text{ with a w}, i \neq a",
        status="wrong",
        reason="head 1 puts 0.90 on a and 0.10 on b; a longer k_a gives v_a",
        counterexample={"alpha_a": [1.0], "order": ["k1", "a", "k3", "b"]},
        repair="write mu_a and mu_b for k_a and k_b",
        remarks=("a leak of 1% at n = 10",),
    )
    (told,) = LETTERING.told(Report("x", (verdict,)), "").verdicts

    assert told.answer == r"q = k_p + k_{w} \text{ with a w}, i \neq p"
    assert told.reason == "head 1 puts 0.90 on p and 0.10 on w; a longer k_p gives v_p"
    assert told.counterexample == {"alpha_p": [1.0], "order": ["k1", "p", "k3", "w"]}
    assert told.repair == "write mu_p and mu_w for k_p and k_w"
    assert told.remarks == verdict.remarks


def test_what_was_quoted_from_the_document_stays():
    text = "c goes to v_p, a value"
    verdict = Verdict("c.var", text, "unread", "")

    assert LETTERING.told(Report("x", (verdict,)), f"x {text} y").verdicts[0].answer == text
