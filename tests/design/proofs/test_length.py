"""The lower bound on lengths holds where rounding and the enclosure decide: both are made visible,
then asked for."""

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

import headwright as hw
from headwright.design.proofs.certificate import examine
from headwright.design.proofs.length import equality_bound, head_bound, leak_bound, shortest
from headwright.design.proofs.reached import EXACT, Enclosure, Promise, enclosure
from headwright.design.target import Target


def ridge(count, height):
    """Key 0 lies `height` above the plane of `count` others, which surround it: q = (0, t) is the
    best direction, and the shortest query has length (ln count - ln(eps / (1 - eps))) / height."""
    angle = 2 * np.pi * np.arange(count) / count
    others = np.column_stack([np.cos(angle), np.sin(angle), np.ones(count)])
    return np.vstack([[0.0, 0.0, 1.0 + height], others])


@pytest.mark.parametrize("units", [1, 2, 4])
def test_rounding_is_subtracted(units):
    """The height is a few units in the last place: the mean of the others, computed in floats, is
    off by as much. With exactly symmetric rows the shortest length is known; no bound may exceed
    it."""
    height = units * 2.0**-52
    bounds = []
    for half in range(2, 40):
        K = ridge(2 * half, height)
        # Opposite rows are made exact negatives, so that symmetry holds for the stored numbers.
        K[half + 1 :, :2] = -K[1 : half + 1, :2]
        promise = Promise(np.array([[0.0, 0.0, 1.0]]), np.ones(1), Target((0,), np.ones(1)), 0.01)
        truth = (np.log(2 * half) - promise.log_odds) / height
        for tilt in (0.0, 0.3, 0.7, 1.3):
            q = np.array([tilt, -0.5 * tilt, 1.0])
            bound = leak_bound(promise, K, q, promise.target, EXACT)
            assert bound <= truth
            bounds.append(bound / truth)
    assert max(bounds) > 0  # it says something all the same


def test_rounding_of_the_height_is_subtracted(rng):
    """Biases of size 1e8 cancel to a height of size one, rounded to 1e-8. On k_0 = 1 and others = 0
    the shortest query is ln sum e^{b_i - b_0} - ln(eps / (1 - eps)), and the bound would be an
    equality."""
    tight = 0
    for _ in range(60):
        bias = 1e8 + rng.standard_normal(8)
        K = np.zeros((8, 1))
        K[0] = 1.0
        promise = Promise(np.ones((1, 1)), np.ones(1), Target((0,), np.ones(1)), 0.01, bias=bias)
        truth = mp.log(mp.fsum(mp.exp(mp.mpf(b) - mp.mpf(bias[0])) for b in bias[1:])) - mp.mpf(
            promise.log_odds
        )
        bound = leak_bound(promise, K, np.ones(1), promise.target, EXACT)
        assert bound <= truth
        tight += bound > truth * (1 - 1e-5)
    assert tight == 60


def test_rounding_is_subtracted_from_the_equalities(rng):
    """Likewise: on k_0 = 0, k_1 = 1 the query is ln(p_1 / p_0) - (b_1 - b_0)."""
    for _ in range(60):
        bias = 1e8 + rng.standard_normal(3)
        K = np.array([[0.0], [1.0], [0.5]])
        shares = np.array([0.3, 0.7])
        promise = Promise(np.ones((1, 1)), np.ones(1), Target((0, 1), shares), 0.1, bias=bias)
        truth = mp.log(mp.mpf(shares[1]) / mp.mpf(shares[0])) - (mp.mpf(bias[1]) - mp.mpf(bias[0]))
        bound = equality_bound(promise, K, np.ones(1), promise.target, EXACT)
        assert bound <= abs(truth)


def test_spill_is_subtracted(rng):
    """A head of several need not have the exact ratio on its own keys, and so may be shorter than
    one that does."""
    K = rng.standard_normal((30, 12))
    d = hw.design.mixture({0: 0.4, 1: 0.3, 2: 0.3}, K, heads=2, leak=0.05)
    assert d.status == "reached"
    number, wide = next((h, face) for h, face in enumerate(d.faces) if len(face.support) > 1)
    bent = enclosure(d.promise(), K)
    among_two = head_bound(d.promise(), K, d.queries[number], wide, bent)
    alone = head_bound(replace(d.promise(), faces=(wide,)), K, d.queries[number], wide, bent)
    assert 0 < among_two < alone * (1 - 1e-3)


def test_the_enclosure_is_subtracted(rng):
    """Coarse storage makes it visible: stored queries are accepted that are shorter than any query
    in the exact ratio. The bound that is claimed lies below all of them; the same bound without the
    enclosure does not."""
    storage, beaten = "bfloat16", 0
    for _ in range(25):
        K = rng.standard_normal((8, 3))
        d = hw.design.mixture({0: 0.6, 1: 0.4}, K, leak=0.3, storage=storage)
        if d.status != "reached":
            continue
        promise = replace(d.promise(), leak=0.3)
        exact = head_bound(promise, K, d.queries[0], d.faces[0], EXACT)
        for _ in range(40):
            shaken = d.queries * (1 - rng.uniform(0, 2e-4)) + 2e-3 * rng.standard_normal(3)
            shaken = np.stack(
                [hw.design.storage.rounded(q, K[[1]] - K[0], storage) for q in shaken]
            )
            found = examine(replace(promise, queries=shaken), K)
            if found.holds:
                assert found.norm >= shortest(promise, K)
                beaten += found.norm < exact
    assert beaten > 0


def test_a_wider_enclosure_never_raises_the_bound(rng):
    K = rng.standard_normal((20, 4))
    d = hw.design.average([0, 1], K, leak=0.2)
    promise, q, face = d.promise(), d.queries[0], d.faces[0]
    bounds = [
        leak_bound(promise, K, q, face, Enclosure(w, w, 2 * w)) for w in (0.0, 1e-6, 1e-3, 0.1)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < bounds[0]
