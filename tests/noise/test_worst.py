"""Worst case over a box of logits: brute force over 2^n vertices, closed forms, hostile input."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import tolerances

from headwright.errors import InputError
from headwright.keys import CorrelatedKeys, GaussianKeys
from headwright.noise.stress import NoisyHeads, stress
from headwright.noise.worst import worst_case


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def brute_force(low, high, d):
    values = [d @ softmax(np.array(z)) for z in itertools.product(*zip(low, high, strict=True))]
    return min(values), max(values)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 11])
@pytest.mark.parametrize("spread", [0.0, 0.3, 5.0, 300.0])
def test_equals_brute_force_over_all_vertices(n, spread, rng):
    low = rng.normal(size=n) * 3
    high = low + spread * rng.random(n)
    d = rng.normal(size=n)
    w = worst_case(low, high, d)
    assert (float(w.low), float(w.high)) == pytest.approx(
        brute_force(low, high, d), abs=tolerances.ROUNDING
    )


@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
def test_no_point_inside_the_box_goes_beyond(seed, n):
    rng = np.random.default_rng(seed)
    low = rng.normal(size=n) * rng.choice([0.1, 10.0])
    high = low + rng.exponential(size=n)
    d = rng.integers(-2, 3, size=n).astype(float)  # integers: ties among the coefficients
    w = worst_case(low, high, d)
    for z in rng.uniform(low, high, size=(50, n)):
        assert w.low - tolerances.ROUNDING <= d @ softmax(z) <= w.high + tolerances.ROUNDING


@pytest.mark.parametrize("mix", [(1.5, -0.5), (-0.5, 1.5), (0.5, 0.5), (-1.0, -1.0)])
def test_a_head_with_a_negative_share_counts_the_other_way_round(mix, rng):
    """Every corner of both boxes of logits, mixed: the range is that of all of them."""
    K, Q, V = rng.normal(size=(4, 3)), rng.normal(size=(2, 3)), rng.normal(size=(4, 2))
    keys = GaussianKeys(K, isotropic=rng.uniform(0.1, 1, 4))
    found = stress(NoisyHeads(Q, keys, V, np.array(mix)), sigmas=2.0)
    law = keys.logits_law(Q)
    reach = 2.0 * np.sqrt(law.variances)
    corners = [
        [softmax(np.array(z)) @ V for z in itertools.product(*zip(m - r, m + r, strict=True))]
        for m, r in zip(law.means, reach, strict=True)
    ]
    mixed = np.array([mix[0] * a + mix[1] * b for a in corners[0] for b in corners[1]])
    assert found.worst_low == pytest.approx(mixed.min(axis=0), abs=tolerances.ROUNDING)
    assert found.worst_high == pytest.approx(mixed.max(axis=0), abs=tolerances.ROUNDING)


def test_the_returned_logits_attain_the_bounds(rng):
    low = rng.normal(size=500)
    high = low + rng.random(500)
    d = rng.normal(size=500)
    w = worst_case(low, high, d)
    for bound, z in [(w.low, w.low_logits), (w.high, w.high_logits)]:
        assert np.all((z == low) | (z == high))
        assert d @ softmax(z) == pytest.approx(float(bound), abs=tolerances.ROUNDING)


def test_one_weight_has_a_closed_form():
    # alpha_0 is largest when key 0 is raised and all others are lowered: 1 / (1 + (n-1) e^{-2r}).
    n, r = 10, 1.5
    w = worst_case(np.full(n, -r), np.full(n, r), np.eye(n)[0])
    assert float(w.high) == pytest.approx(
        1 / (1 + (n - 1) * np.exp(-2 * r)), rel=tolerances.ROUNDING
    )
    assert float(w.low) == pytest.approx(1 / (1 + (n - 1) * np.exp(2 * r)), rel=tolerances.ROUNDING)


def test_a_box_without_width_is_the_forward_pass(rng):
    z, d = rng.normal(size=30) * 4, rng.normal(size=30)
    w = worst_case(z, z, d)
    assert float(w.low) == pytest.approx(d @ softmax(z), abs=tolerances.ROUNDING)
    assert float(w.high) == pytest.approx(d @ softmax(z), abs=tolerances.ROUNDING)


def test_huge_logits_lose_no_digits():
    # Every key alone can win, so the range is that of the coefficients.
    n = 50
    d = np.linspace(-1, 2, n)
    w = worst_case(np.full(n, -1e5), np.full(n, 1e5), d)
    assert (float(w.low), float(w.high)) == (-1.0, 2.0)
    # A common shift of 1e5 changes nothing: compare with the same box around zero.
    shifted = worst_case(np.full(n, 1e5), np.full(n, 1e5 + 2), d)
    plain = worst_case(np.zeros(n), np.full(n, 2.0), d)
    assert float(shifted.high) == pytest.approx(float(plain.high), abs=tolerances.ROUNDING)


def test_equal_coefficients_leave_no_room(rng):
    w = worst_case(-np.ones(6), np.ones(6), np.full(6, 0.7))
    assert float(w.low) == pytest.approx(0.7, abs=tolerances.ROUNDING)
    assert float(w.high) == pytest.approx(0.7, abs=tolerances.ROUNDING)


def test_a_million_keys_agree_with_prefix_sums(rng):
    # The textbook route, prefix sums of e^high and e^low, is accurate here because the logits are
    # small.
    n = 1_000_000
    low = rng.normal(size=n)
    high = low + rng.random(n)
    d = rng.normal(size=n)
    order = np.argsort(-d)
    up, down, c = np.exp(high[order]), np.exp(low[order]), d[order]
    top = np.concatenate([[0], np.cumsum(c * up)]) + np.concatenate(
        [np.cumsum((c * down)[::-1])[::-1], [0]]
    )
    below = np.concatenate([[0], np.cumsum(up)]) + np.concatenate(
        [np.cumsum(down[::-1])[::-1], [0]]
    )
    assert float(worst_case(low, high, d).high) == pytest.approx(
        (top / below).max(), rel=tolerances.PREFIX
    )


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_other_libraries_get_their_own_arrays_back(library, rng):
    xp = pytest.importorskip(library)
    low, d = rng.normal(size=8).astype(np.float32), rng.normal(size=8).astype(np.float32)
    w = worst_case(xp.asarray(low), xp.asarray(low + 1), xp.asarray(d))
    assert type(w.high) is type(xp.asarray(d))
    assert type(w.high_logits) is type(xp.asarray(d))
    assert float(w.high) == pytest.approx(
        float(worst_case(low, low + 1, d).high), abs=tolerances.SINGLE
    )


@pytest.mark.parametrize(
    ("low", "high", "d", "word"),
    [
        ([1.0, 0.0], [0.0, 1.0], [1.0, 0.0], "swap"),
        ([0.0, 0.0], [1.0], [1.0, 0.0], "z_high"),
        ([0.0], [np.inf], [1.0], "finite"),
        ([], [], [], "empty"),
        ([[0.0]], [[1.0]], [[1.0]], "shape"),
    ],
)
def test_bad_input_is_refused(low, high, d, word):
    with pytest.raises(InputError, match=word):
        worst_case(low, high, d)


def test_a_shift_common_to_all_keys_changes_no_range(rng):
    """Means on a coarse lattice, so that the shifted ones are numbers, too."""
    m = np.round(rng.normal(size=(6, 1)) * 256) / 256
    V = rng.uniform(-1, 1, (6, 2))
    ranges = []
    for shift in (0.0, 2.0**40):
        keys = GaussianKeys(m + shift, isotropic=0.3)
        found = stress(NoisyHeads(np.ones((1, 1)), keys, V, np.ones(1)))
        ranges.append([found.worst_low, found.worst_high])
    np.testing.assert_allclose(ranges[1], ranges[0], rtol=0, atol=tolerances.ROUNDING)


def test_around_keys_every_output_is_inside_and_the_ends_are_reached(rng):
    q = rng.normal(size=3)
    K = rng.normal(size=(5, 3))
    V = rng.normal(size=(5, 2))
    radius = 0.4
    w = worst_case(q, K, V, radius)
    moves = rng.normal(size=(500, 5, 3))
    moved = K + radius * moves / np.linalg.norm(moves, axis=2, keepdims=True)
    outputs = np.array([softmax(keys @ q) @ V for keys in moved])
    assert (outputs >= w.low).all()
    assert (outputs <= w.high).all()

    # The keys that attain an end lie straight along the query, at the radius.
    for j in range(2):
        along = (w.high_logits[j] - K @ q) / (q @ q)
        keys = K + along[:, None] * q
        distances = np.linalg.norm(keys - K, axis=1)
        np.testing.assert_allclose(distances, radius, rtol=tolerances.ROUNDING)
        assert softmax(keys @ q) @ V[:, j] == pytest.approx(w.high[j], abs=tolerances.ROUNDING)


def test_around_keys_with_a_law_the_radius_counts_deviations(rng):
    q = rng.normal(size=3)
    keys = GaussianKeys(rng.normal(size=(4, 3)), isotropic=0.09).radial({1: 0.5})
    V = rng.normal(size=4)
    law = keys.logits_law(2.0 * q)
    reach = 1.5 * np.sqrt(law.variances)
    box = worst_case(law.means - reach, law.means + reach, V)
    w = worst_case(q=q, keys=keys, V=V, radius=1.5, scale=2.0)
    for name in ("low", "high", "low_logits", "high_logits"):
        np.testing.assert_allclose(getattr(w, name), getattr(box, name), rtol=tolerances.ROUNDING)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_around_keys_other_libraries_get_their_own_arrays_back(library):
    xp = pytest.importorskip(library)
    K = xp.asarray(np.eye(3, dtype=np.float32))
    w = worst_case(K[0], K, K, 0.5)
    assert type(w.high) is type(K)
    assert w.high.dtype == K.dtype
    expected = worst_case(np.eye(3)[0], np.eye(3), np.eye(3), 0.5).high
    np.testing.assert_allclose(np.asarray(w.high), expected, atol=tolerances.SINGLE)


def test_a_mixture_of_both_ways_to_ask_is_refused():
    z = np.zeros(2)
    K = np.eye(2)
    shared = GaussianKeys(K, isotropic=0.1)
    calls = [
        lambda: worst_case(z, K, K),
        lambda: worst_case(z, shared, K),
        lambda: worst_case(z, z, z, scale=2.0),
        lambda: worst_case(z_low=z, keys=K, V=K, radius=1.0),
        lambda: worst_case(z, z),
        lambda: worst_case(),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"worst_case\(q, keys, V, radius\); got"):
            call()
    with pytest.raises(InputError, match="radius"):
        worst_case(z, K, K, -1.0)
    with pytest.raises(InputError, match="independently"):
        worst_case(z, CorrelatedKeys(shared, np.ones((1, 2, 2))), K, 1.0)
