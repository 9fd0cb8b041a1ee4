"""Formulas in every spelling: one meaning, one tree; broken ones cost one statement, never an
exception."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.homework.meaning.formula import (
    Chain,
    FormulaError,
    Mark,
    Missing,
    Symbol,
    Text,
    Unread,
    expression,
    parse,
)
from headwright.homework.meaning.formula.tree import Apply, Multiply, Sum, Transpose


def chains(text, **options):
    return [item for item in parse(text, **options) if isinstance(item, Chain)]


SAME = [
    [
        r"k_j^T q",
        r"k_j^\top q",
        r"k_j^{\mathsf T} q",
        r"k_j^\intercal q",
        "kⱼᵀ q",
        r"k_j^{T}q",
        r"\mathbf{k}_j^\top \mathbf{q}",
        "k_j^{\\mathrm{T}} q",
    ],
    [
        r"\beta(k_a + k_b)",
        "β(kₐ + k_b)",
        "beta (k_a + k_b)",
        r"\beta\left(k_a+k_b\right)",
        r"\beta \, ( \vec{k}_a + \vec k_b )",
    ],
    [r"\frac{1}{2}", r"\frac12", r"\tfrac{1}{2}", "1/2", "½", r"\dfrac 12"],
    [r"e^{\beta}", r"\exp(\beta)", "exp(β)", r"\exp{\beta}", r"\mathrm{exp}(\beta)", r"e^\beta"],
    [
        r"\sum_{i=1}^n \alpha_i",
        r"\sum\limits_{i=1}^{n}\alpha_i",
        "∑_{i=1}^n α_i",
        r"\Sigma_{i=1}^n \alpha_i",
    ],
    [r"\|k_a\|", r"\lVert k_a \rVert", "||k_a||", r"\left\|k_a\right\|", "‖k_a‖"],
    [r"q_1", r"q^{(1)}", r"\vec{q}_1", r"\mathbf{q}_{1}", "q₁"],
    [r"A A^+", r"A A^\dagger", r"AA^{\dagger}"],
]


@pytest.mark.parametrize("spellings", SAME, ids=lambda s: s[0])
def test_spellings_of_one_thing_give_one_tree(spellings):
    trees = {expression(s) for s in spellings}
    assert len(trees) == 1, trees


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        (r"k_j^T q \gg k_i^T q", (">>",)),
        ("k_j'q >> k_i'q", (">>",)),
        ("k_j'q > > k_i'q", (">>",)),
        (r"0 \leq \alpha_i \le 1", ("<=", "<=")),
        (r"\alpha_a = \frac{1}{2} \approx 0.5", ("=", "~=")),
        (r"i \notin \{a, b\}", ("notin",)),
        (r"i \not= j", ("!=",)),
        (r"\gamma \sim \mathcal{N}(1, \frac12)", ("~",)),
        (r"a &= b \\ &= c", ("=", "=")),
    ],
)
def test_relations(text, relations):
    assert chains(text)[0].relations == relations


def test_statements_are_separated_by_commas_spaces_words_and_consequences():
    found = chains(
        r"q = \beta(k_a+k_b),\quad \beta \gg 0 \Rightarrow k_a^Tq = \beta \text{ and } k_i^T q = 0"
    )
    assert len(found) == 4


def test_brackets_around_statements_are_separators():
    assert len(chains(r"q = (k_a + k_b)\beta (\beta \gg 0)")) == 2
    assert chains(r"\boxed{q = k_a}")[0].terms[0] == Symbol("q")


def test_a_side_that_stands_elsewhere_is_missing():
    assert chains("c =")[0].terms[-1] == Missing()
    assert chains("= v_j")[0].terms[0] == Missing()


def test_words_can_be_quantities_or_separators():
    chain = chains(
        r"q = \text{a large number} \cdot (k_a + k_b)", quantity=lambda words: "large" in words
    )[0]
    assert isinstance(chain.terms[1], Multiply)
    items = parse(r"M = A^T \text{ then } M = A A^T")
    assert [type(i) for i in items if not isinstance(i, Mark)] == [Chain, Text, Chain]


def test_a_letter_before_brackets_is_left_open():
    assert isinstance(expression(r"Q(X)"), Apply)
    assert expression(r"(k_a+k_b)^T") == Transpose(expression("k_a+k_b"))


def test_a_sum_takes_its_product_and_stops_at_plus():
    tree = expression(r"\sum_i a_i a_i^T + B")
    assert isinstance(tree.terms[0], Sum)


@pytest.mark.parametrize(
    "text", [r"\frac{1", "((((", "k_", "^^", r"\begin{bmatrix}", "|x", "q = = =", "{" * 50]
)
def test_broken_formulas_never_raise(text):
    parse(text)


def test_depth_and_length_are_bounded():
    deep = parse("(" * 100_000 + "x" + ")" * 100_000)
    assert all(isinstance(i, Unread) for i in deep)
    tower = parse("9^{" * 300 + "9" + "}" * 300)
    assert any(isinstance(i, Unread) for i in tower)
    assert isinstance(parse("x" * 30_000)[0], Unread)
    with pytest.raises(FormulaError):
        expression("(" * 500 + "x")


PIECES = [
    *list(r"kqvab12+-*/=<>()[]{}|,;&^_'. "),
    r"\frac",
    r"\sum",
    r"\gg",
    r"\begin{bmatrix}",
    r"\end{bmatrix}",
    r"\\",
    r"\text{or}",
    r"\left(",
    r"\|",
    "≫",
    "ᵀ",
    "很大",
    r"\cancel{x}",
    r"\begin{cases}",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_mixture_of_pieces_is_read_without_an_exception(pieces):
    for item in parse("".join(pieces)):
        assert isinstance(item, (Chain, Text, Mark, Unread))


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_exception(text):
    parse(text)
