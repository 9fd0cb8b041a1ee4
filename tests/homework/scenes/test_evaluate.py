"""Values of expressions: shapes decide what products mean, and nothing becomes a silent wrong
number."""

import numpy as np
import pytest
from tests.tolerances import ROUNDING

from headwright.exercise.instances import instances
from headwright.homework.meaning.formula import Symbol, expression
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, agree
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene

INSTANCE = instances()[0]
ROLES = Roles(
    {
        "k": "keys",
        "mu": "means",
        "v": "values",
        "A": "basis a",
        "a": "basis a",
        "B": "basis b",
        "b": "basis b",
    }
)
A, B = INSTANCE.place("a"), INSTANCE.place("b")


def value(text, **given):
    scene = Scene(INSTANCE, ROLES, scalars={Symbol(name): x for name, x in given.items()})
    return evaluate(expression(text), scene)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("k_a^T k_a", 1.0),
        ("k_a^T k_b", 0.0),
        (r"k_a \cdot k_a", 1.0),
        (r"\langle k_a, 2 k_a \rangle", 2.0),
        (r"\|k_a + k_b\|^2", 2.0),
        (r"\sum_{i=1}^n k_i^T k_a", 1.0),
        (r"\sum_{i \neq a} k_i^T k_a", 0.0),
        (r"\sum_{i \notin \{a, b\}} \exp(0)", INSTANCE.n - 2.0),
        (r"\frac{1}{1 + \infty}", 0.0),
        (r"\max_{i \ne j} k_i^T k_a", 1.0),
        ("n - 2", INSTANCE.n - 2.0),
        (r"\sqrt{d}", np.sqrt(INSTANCE.d)),
    ],
)
def test_numbers(text, wanted):
    assert abs(value(text) - wanted) < ROUNDING * INSTANCE.d


@pytest.mark.parametrize(
    "text",
    [
        "A A^T",
        r"\sum_{i=1}^m a_i a_i^T",
        "A(A^TA)^{-1}A^T",
        "A A^+",
        r"[a_1, \dots, a_m][a_1, \dots, a_m]^T",
        r"a_1 a_1^T + \dots + a_m a_m^T",
        r"\frac{a_1 a_1^T}{1} + \dots + \frac{a_m a_m^T}{1}",
    ],
)
def test_projectors(text):
    assert agree(value(text), INSTANCE.A @ INSTANCE.A.T, ROUNDING * INSTANCE.d)


def test_a_scale_multiplies_what_stands_in_brackets():
    wanted = 3.0 * (INSTANCE.K[A] + INSTANCE.K[B])[:, None]
    assert agree(value(r"\beta(k_a + k_b)", beta=3.0), wanted, ROUNDING)
    assert agree(value(r"\beta(k_a + k_b)^T", beta=3.0), wanted.T, ROUNDING)


@pytest.mark.parametrize(
    "text", ["k_a + 1", r"k_a^T A A^T A^T", r"\frac{1}{k_a}", "2^{k_a}", "A^{-1}"]
)
def test_contradicting_shapes_are_a_mistake(text):
    with pytest.raises(Mismatch):
        value(text)


@pytest.mark.parametrize("text", [r"\infty - \infty", "zeta", "M", r"a_1 + \dots + b_9 + 3", "0/0"])
def test_what_cannot_be_known_is_unknown(text):
    with pytest.raises(Unknown):
        value(text)


def test_huge_exponents_end_in_infinity_and_cost_nothing():
    assert value("9^{9^9}") == np.inf


def test_a_vector_never_equals_a_number_except_zero():
    assert not agree(value("k_a"), 1.0, ROUNDING)
    assert agree(value("k_a - k_a"), 0.0, ROUNDING)
