"""Products of rows with queries against fractions: the sums that cancel, the ends of the range, and
the bounds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.keys.products import accurate_product, gamma, lengths, product, two_product, two_sum

NUMBERS = st.floats(-1e100, 1e100, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-100)


def exact(k, q):
    return sum(
        (Fraction(float(x)) * Fraction(float(y)) for x, y in zip(k, q, strict=True)), Fraction(0)
    )


@given(NUMBERS, NUMBERS)
def test_what_rounding_cuts_off_is_kept(a, b):
    total, cut = two_sum(np.float64(a), np.float64(b))
    assert Fraction(float(total)) + Fraction(float(cut)) == Fraction(a) + Fraction(b)
    found, rest = two_product(np.float64(a), np.float64(b))
    assert Fraction(float(found)) + Fraction(float(rest)) == Fraction(a) * Fraction(b)


def cancelling(rng, d, size):
    """A row and a query whose product is about 1 while its terms have size `size`."""
    k, q = size * rng.normal(size=d), rng.normal(size=d)
    k[-1] = float((1 - exact(k[:-1], q[:-1])) / Fraction(q[-1]))
    return k, q


@pytest.mark.parametrize("size", [1.0, 1e8, 1e16, 1e24])
@pytest.mark.parametrize("scale", [1.0, -0.3, 2.0**-600])
def test_accurate_product_within_its_bound(size, scale, rng):
    pairs = [cancelling(rng, 17, size) for _ in range(20)]
    for k, q in pairs:
        found = accurate_product(q[None], k[None], scale)
        true = Fraction(scale) * exact(k, q)
        off = abs(Fraction(float(found.high[0, 0])) + Fraction(float(found.low[0, 0])) - true)
        assert off <= Fraction(float(found.error[0, 0]))
        assert abs(Fraction(float(found.plain[0, 0])) - exact(k, q)) <= Fraction(
            float(found.plain_error[0, 0])
        )
        # Twice the digits of a double, less (d + 6)^2 and the number of terms.
        assert found.error[0, 0] <= 1e-25 * size * abs(scale)


ENDS = [(1e300, 1e-300), (1e-300, 1e300), (1e150, 1e150), (5e-324, 1.0), (0.0, 1.0)]


@pytest.mark.parametrize(("row", "query"), ENDS)
def test_the_ends_of_the_range(row, query, rng):
    k, q = row * rng.uniform(1, 2, (3, 5)), query * rng.uniform(1, 2, 5)
    found = accurate_product(q[None], k, 1.0)
    for i in range(3):
        off = abs(
            Fraction(float(found.high[0, i])) + Fraction(float(found.low[0, i])) - exact(k[i], q)
        )
        assert off <= Fraction(float(found.error[0, i]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_plain_product_within_its_bound(dtype, rng):
    """Rows of either precision; the bound is the one the centred law takes."""
    K, Q = rng.normal(size=(50, 33)).astype(dtype), rng.normal(size=(2, 33))
    K[:, 5] += dtype(1000)
    found, longest = product(Q, K), float(lengths(K).max())
    for h in range(2):
        bound = gamma(33) * longest * np.linalg.norm(Q[h])
        assert (
            max(abs(Fraction(float(z)) - exact(k, Q[h])) for z, k in zip(found[h], K, strict=True))
            <= bound
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_lengths_are_upper_bounds(dtype, size, rng):
    K = (rng.normal(size=(40, 7)) * size).astype(dtype)
    true = np.sqrt((K.astype(np.longdouble) ** 2).sum(axis=1))
    assert (lengths(K) >= true.astype(float) * (1 - 1e-15)).all()
    assert (lengths(K) <= 3 * true.astype(float) + 1e-15).all()


def test_lengths_beyond_the_range_of_squares():
    K = np.array([[1e200, 1e200], [3e-200, 1.0]])
    assert lengths(K)[0] >= 1e200 * np.sqrt(2)
    assert np.isnan(lengths(np.array([[np.nan, 1.0]]))[0])
    assert np.isinf(lengths(np.array([[np.inf, 1.0]]))[0])
