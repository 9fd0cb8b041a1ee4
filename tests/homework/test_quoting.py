"""Words are quoted as words: without markup, from a word to a word, and never typeset as a
formula."""

from __future__ import annotations

import pytest

from headwright.homework.batch import check
from headwright.homework.showing import pages
from headwright.homework.showing.quoting import formulas_and_words, shortened, without_markup
from headwright.homework.verdict import Report, Verdict


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("Weights.} They sum to \\textbf{one}. \\\\", "Weights. They sum to one."),
        ("\\begin{answer}[2pt] A ``copy'' of $v_j$ \\end{answer}", "A “copy” of $v_j$"),
        ("**Because** the `key` varies", "Because the key varies"),
        ("so \\(c\\) is\n\\[ v_a \\tag{3} \\] then", "so $c$ is $v_a$ then"),
        ("\\begin{align*} c &= v_a \\nonumber \\end{align*}", "$c = v_a$"),
        (") . so 50\\% of it, see \\ref{eq:one}.", "so 50% of it, see."),
        ("权重都是正的，<font color=red>和为一</font>。", "权重都是正的， 和为一 。"),
    ],
)
def test_markup_goes_and_the_quote_begins_at_a_word(source, words):
    assert without_markup(source) == words


@pytest.mark.parametrize(
    ("text", "most", "cut"),
    [
        ("short", 10, "short"),
        ("one two three four", 12, "one two …"),
        ("so $a + b + c + d$ holds", 14, "so …"),
        ("x" * 20, 10, "xxxxxxxx …"),
    ],
)
def test_a_quote_is_cut_between_words_and_outside_formulas(text, most, cut):
    assert shortened(text, most) == cut


@pytest.mark.parametrize(
    "formula",
    [
        r"M = A A^\top",
        r"q = \beta (k_a + k_b)",
        "q = beta ka + beta kb",
        r"H = \text{softmax of the scores} V",
        "alpha = softmax(K q)",
        r"c \approx v_a; c \approx v_b",
        "q = β(μ_a + μ_b)",
    ],
)
def test_a_formula_is_no_prose(formula):
    assert formulas_and_words(formula) == [(True, formula)]
    assert not pages.is_prose(formula)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The weights are positive and sum to one", ["The weights are positive and sum to one"]),
        ("c is approximately equal to \\frac{1}{2}(v_a + v_b)", ["is approximately equal to"]),
        (
            "the self-attention layer (that is, a sum)",
            ["the self-attention layer (that is, a sum)"],
        ),
        ("输出在两个值之间摆动", ["输出在两个值之间摆动"]),
        ("출력은 두 값 사이에서 흔들린다", ["출력은 두 값 사이에서 흔들린다"]),
        ("salida $c$ oscila entre $v_a$ y $v_b$", ["salida ", " oscila entre ", " y "]),
        ("it costs $5", ["it costs $5"]),
    ],
)
def test_words_are_told_from_the_formulas_among_them(text, words):
    assert [piece for formula, piece in formulas_and_words(text) if not formula] == words


def test_a_page_prints_words_and_draws_formulas():
    answer = "The weights are positive & sum to $1$"
    report = Report("a.md", (Verdict("a.prob", answer, "correct", "both"),))
    page = pages.document_page(report, "", {}, draw=lambda latex: f"<u>{latex}</u>")
    quote = "<blockquote>The weights are positive &amp; sum to <u>1</u></blockquote>"
    assert quote in page


def test_an_answer_in_words_is_quoted_as_text():
    said = "The weights are \\emph{positive}, since exponentials are, and they sum to one."
    verdict = check(f"(a) i. {said}").verdicts[0]
    assert verdict.answer == said.replace("\\emph{positive}", "positive")
