"""Letters that lost their underscore or were scanned apart become one symbol again, and no
others."""

import pytest

from headwright.homework.meaning.formula import expression
from headwright.homework.scenes.torn_symbols import glued, rejoined


@pytest.mark.parametrize(
    ("torn", "whole"),
    [
        ("k a + k b", "k_a + k_b"),
        (r"\beta (k a + k b)", r"\beta (k_a + k_b)"),
        (r"\frac{\mu a + \mu b}{2}", r"\frac{\mu_a + \mu_b}{2}"),
        (r"\frac{k_a}{\|k a\|}", r"\frac{k_a}{\|k_a\|}"),
        ("v a + x b", "v a + x b"),
    ],
)
def test_a_vector_and_its_index_side_by_side_are_one_symbol(torn, whole):
    assert rejoined(expression(torn)) == expression(whole)


def test_a_dot_keeps_two_factors_apart():
    product = expression(r"k \cdot a")
    assert len(rejoined(product).factors) == 2


def test_heads_that_share_their_first_letter_are_glued():
    assert glued([expression("H u"), expression("H b")]) == [expression("H_u"), expression("H_b")]


@pytest.mark.parametrize("queries", [["q u", "q b"], ["H u", "G b"], ["H b", "H b"]])
def test_other_pairs_of_letters_stay_products(queries):
    expressions = [expression(text) for text in queries]
    assert glued(expressions) == expressions
