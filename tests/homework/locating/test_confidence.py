"""Confidence: a label that agrees with the content beats either alone, and a doubtful place has
less of it."""

from headwright.exercise.bank import load
from headwright.homework.locating.locate import locate
from headwright.homework.meaning.statements import stream
from headwright.homework.reading.formats import read_text


def confidence(text: str) -> dict[str, float]:
    document = read_text(text, name="x", suffix=".md")
    rows = locate(document, load(), stream(document))
    return {row.question: row.confidence for row in rows}


def test_a_label_that_agrees_with_the_formula_is_surest():
    both = confidence("(b) ii. $q = t(k_a + k_b)$, $t \\gg 0$\n\n(c) i. $q = t(\\mu_a + \\mu_b)$")
    content = confidence("$q = t(k_a + k_b)$, $t \\gg 0$\n\n$q = t(\\mu_a + \\mu_b)$")
    label = confidence("(b) ii. As before.\n\n(c) i. As before.")
    assert both["b.q"] > content["b.q"]
    assert both["c.q"] > content["c.q"]
    assert both["c.q"] > label["c.q"]


def test_a_formula_under_another_questions_label_is_doubtful():
    fitting = confidence("(c) i. $q = t(\\mu_a + \\mu_b)$\n\n(d) i. $q_1 = t\\mu_a, q_2 = t\\mu_b$")
    strange = confidence("(c) i. $M = A A^T$\n\n(d) i. $q_1 = t\\mu_a, q_2 = t\\mu_b$")
    assert min(strange.values()) < min(fitting.values())


def test_a_long_answer_is_less_sure_than_its_first_line():
    short = "(b) ii. $q = t(k_a + k_b)$"
    long = short + "".join(f"\n\nStep {k}: $t_{k} > 0$ holds." for k in range(30))
    assert confidence(long)["b.q"] < confidence(short)["b.q"]
