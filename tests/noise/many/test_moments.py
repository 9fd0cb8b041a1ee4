"""Many keys by a grid against every key by itself."""

from dataclasses import replace

import numpy as np
import pytest
from tests.noise.routes import on_a_grid
from tests.tolerances import EXACT_COVARIANCE, EXACT_MEAN

from headwright.errors import InputError
from headwright.noise import budget
from headwright.noise import exact as exact_route
from headwright.noise.head.integral import head_moments
from headwright.noise.head.nodes import nodes
from headwright.noise.head.transform import transform
from headwright.noise.many import cells, grid

# deviation of the means, smallest and largest deviation of the logits
LAWS = [
    (1.0, 0.5, 2.0),
    (3.0, 0.5, 2.0),
    (3.0, 0.0, 1.0),
    (3.0, 1.0, 1.0),
    (8.0, 0.5, 2.0),
    (0.0, 0.5, 2.0),
    (0.1, 1e-3, 2e-3),
    (1.0, 0.0, 5.0),
    (30.0, 3.0, 8.0),
    (0.0, 50.0, 50.0),
    (10.0, 0.0, 0.05),
]


def problem(rng, law, n=500):
    width, low, high = law
    return rng.normal(0, width, n), rng.uniform(low, high, n), rng.uniform(-1, 1, (n, 3))


def agree(found, true):
    assert np.abs(found.mean - true.mean).max() <= found.first + true.first
    assert np.abs(found.covariance - true.covariance).max() <= found.second + true.second
    assert np.abs(found.weights_mean - true.weights_mean).sum() <= found.first + true.first
    assert np.abs(found.weights_square - true.weights_square).sum() <= found.second + true.second
    assert found.first <= EXACT_MEAN
    assert found.second <= EXACT_COVARIANCE


@pytest.mark.parametrize("law", LAWS)
def test_grid_equals_every_key_by_itself(law, rng, monkeypatch):
    on_a_grid(monkeypatch)
    m, s, V = problem(rng, law)
    agree(exact_route.one_head(m, s, V), head_moments(m, s, V))


@pytest.mark.parametrize(
    "law", [(10.0, 0.0, 30.0), (100.0, 0.0, 50.0), (20.0, 6.0, 12.0), (5.0, 20.0, 1000.0)]
)
def test_wide_noise(law, rng, monkeypatch):
    """Deviations up to 1,000 on graded nodes, by the grid where keys by themselves would be
    cheaper."""
    on_a_grid(monkeypatch)
    m, s, V = problem(rng, law, n=300)
    agree(exact_route.one_head(m, s, V), head_moments(m, s, V))


@pytest.mark.parametrize("law", [LAWS[0], LAWS[2], (1.0, 0.0, 5.0)])
def test_pieces_and_single_precision_change_nothing(law, rng, monkeypatch):
    """300,000 keys: cells are cut into pieces and most of the arithmetic is in single precision.
    Without either, the result is the same within the stated errors."""
    m, s, V = problem(rng, law, n=300_000)
    found = exact_route.one_head(m, s, V + 5.0)
    assert cells.make_cells(m, s).split > 1
    monkeypatch.setattr(grid, "_split", lambda *_: 1)
    monkeypatch.setattr(budget, "SINGLE_POLYNOMIALS", 0.0)
    monkeypatch.setattr(budget, "SINGLE_SUMS", 0.0)
    double = exact_route.one_head(m, s, V)
    agree(found, replace(double, mean=double.mean + 5.0))
    np.testing.assert_allclose(found.weights_square, double.weights_square, rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("seed", range(24))
def test_random_laws_equal_every_key_by_itself(seed, monkeypatch):
    """Means near or far, on lattice points or not, fixed keys, a heavy key that takes nearly all
    the weight."""
    on_a_grid(monkeypatch)
    rng = np.random.default_rng(seed)
    n, low = int(rng.integers(201, 600)), 10 ** rng.uniform(-6, 0.5) if seed % 2 else 0.0
    m, s, V = problem(rng, (10 ** rng.uniform(-3, 1.5), low, low + 10 ** rng.uniform(-5, 0.5)), n=n)
    if seed % 3 == 0:
        s[rng.random(n) < 0.5] = 0.0
    if seed % 4 < 2:
        m[0] += rng.uniform(5, 20)
    if seed % 5 == 0:
        m = np.round(m)
    agree(exact_route.one_head(m, s, V), head_moments(m, s, V))


STRIPS = [(0.01, 0.02), (0.1, 0.2), (0.6, 0.74), (0.75, 0.8), (1.5, 1.6), (2.9, 3.0)]
STRIPS += [(5.9, 6.0), (6.0, 12.0), (8.9, 9.0), (20.0, 21.0), (300.0, 400.0)]


@pytest.mark.parametrize("heavy", [0.0, 14.0])
@pytest.mark.parametrize(("low", "high"), STRIPS)
def test_the_promise_is_kept_in_every_strip(low, high, heavy, rng):
    """A hundred thousand keys, alone or with one that takes most of the weight."""
    m, s, V = problem(rng, (0.7, low, high), n=100_000)
    m[0] += heavy
    found = exact_route.one_head(m, s, V)
    assert abs(found.weights_mean.sum() - 1) <= found.first <= EXACT_MEAN
    assert found.second <= EXACT_COVARIANCE


@pytest.mark.parametrize("seed", range(12))
def test_many_keys_of_few_laws(seed):
    """Equal keys are rounded alike, so that nothing averages out in single precision."""
    rng = np.random.default_rng(seed)
    laws, n = int(rng.integers(1, 200)), 30_000
    low = 10 ** rng.uniform(-3, 0.3)
    m, s, _ = problem(
        rng, (10 ** rng.uniform(-3, 0.5), low, low + 10 ** rng.uniform(-4, 0.3)), n=laws
    )
    which = rng.integers(0, laws, n)
    m, s, V = m[which], s[which], rng.uniform(-1, 1, (n, 3))
    agree(exact_route.one_head(m, s, V), head_moments(m, s, V))


@pytest.mark.parametrize("size", [1e-100, 1e-30, 1e30, 1e100])
def test_values_of_any_size(size, rng):
    """Their squares are beyond single precision."""
    m, s, V = problem(rng, (0.3, 0.2, 0.4), n=300_000)
    found, true = exact_route.one_head(m, s, size * V), exact_route.one_head(m, s, V)
    np.testing.assert_allclose(found.mean / size, true.mean, atol=found.first + true.first)
    np.testing.assert_allclose(
        found.covariance / size**2, true.covariance, atol=2 * (found.second + true.second)
    )


def test_one_huge_value(rng):
    m, s, V = problem(rng, (0.3, 0.2, 0.4), n=300_000)
    V[7] = 1e60
    found = exact_route.one_head(m, s, V)
    weight, square = found.weights_mean[7], found.weights_square[7]
    np.testing.assert_allclose(found.mean, weight * 1e60, rtol=1e-6)
    np.testing.assert_allclose(
        found.covariance, (square - weight**2) * 1e120, atol=2 * found.second * found.farthest**2
    )


def test_a_key_that_is_almost_never_seen(rng):
    """Its E[alpha^2] / E[alpha]^2 is near the end of single precision."""
    m, s, V = problem(rng, (0.1, 0.5, 0.6), n=60_000)
    m[5], s[5] = -200.0, 18.6
    found = exact_route.one_head(m, s, V)
    assert 0 < found.weights_mean[5] < 1e-25
    assert np.isfinite(found.covariance).all()
    assert found.weights_mean[5] ** 2 <= found.weights_square[5] <= found.weights_mean[5]


def test_a_million_keys_of_forty_laws(rng):
    """Each law 25,000 times: then sums over keys are sums over laws, and the integrals can be taken
    by themselves."""
    laws, count = 40, 25_000
    m, s, V = problem(rng, (2.0, 0.0, 2.0), n=laws)
    found = exact_route.one_head(
        np.repeat(m, count), np.repeat(s, count), np.repeat(V, count, axis=0)
    )
    u = nodes(m, s, np.full(laws, float(count)))
    t = transform(u.u[:, None] + m, s)
    density = u.weight * np.exp(count * t.psi.sum(axis=1))
    mean = count * density @ t.r @ V
    R = count * t.r @ (V - mean)
    D = count * density @ (t.w - t.r**2)
    covariance = (R * density[:, None]).T @ R + ((V - mean) * D[:, None]).T @ (V - mean)
    np.testing.assert_allclose(
        found.weights_mean[::count] * count, count * density @ t.r, atol=found.first
    )
    np.testing.assert_allclose(found.mean, mean, atol=found.first)
    np.testing.assert_allclose(found.covariance, covariance, atol=found.second)
    assert found.first <= EXACT_MEAN
    assert found.second <= EXACT_COVARIANCE


@pytest.mark.parametrize("n", [50, 500])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers_are_refused(n, bad, rng):
    m, s, V = problem(rng, LAWS[0], n=n)
    m[3] = -1e4  # out of reach: its value has no weight, and is no number all the same
    V[3, 1] = bad
    with pytest.raises(InputError, match="V with finite entries"):
        exact_route.one_head(m, s, V)


def test_fixed_keys_among_wide_ones(rng):
    """Graded nodes reach far beyond the place where the fixed keys have made an end of the
    integrand."""
    m, s, V = problem(rng, (0.01, 0.0, 26.0), n=4000)
    s[::2] = 0.0
    agree(exact_route.one_head(m, s, V), head_moments(m, s, V))


def test_means_on_lattice_points(rng, monkeypatch):
    """The lowest and the highest mean may be rounded to the wrong side of a lattice point; they
    stay in their strip."""
    on_a_grid(monkeypatch)
    m, s, V = problem(rng, (10.0, 0.0, 80.0), n=600)
    m[:150], m[150:300] = -55.0, 55.0
    agree(exact_route.one_head(m, s, V), head_moments(m, s, V))


def test_keys_out_of_reach_and_masked_keys(rng):
    m, s, V = problem(rng, (1.0, 0.0, 1.0))
    m[::3] = -1e4
    m[1::3] = -np.inf
    s[1::3] = 0.0
    kept = np.arange(2, 500, 3)
    found, true = exact_route.one_head(m, s, V), head_moments(m[kept], s[kept], V[kept])
    np.testing.assert_allclose(found.mean, true.mean, atol=EXACT_MEAN)
    np.testing.assert_allclose(found.covariance, true.covariance, atol=EXACT_COVARIANCE)
    assert found.weights_mean[:2].tolist() == [0.0, 0.0]


def test_only_keys_out_of_reach_are_noisy(rng):
    m, s, V = problem(rng, (1.0, 0.0, 0.0))
    m, s, V = np.append(m, -1e4), np.append(s, 1.0), np.append(V, V[:1], axis=0)
    found, true = exact_route.one_head(m, s, V), head_moments(m[:-1], s[:-1], V[:-1])
    np.testing.assert_allclose(found.mean, true.mean, atol=EXACT_MEAN)
    np.testing.assert_allclose(found.covariance, 0.0, atol=EXACT_COVARIANCE)


def test_one_heavy_key_among_many(rng):
    m, s, V = problem(rng, (1.0, 0.5, 0.6), n=6000)
    m[17] += 12.0
    found = exact_route.one_head(m, s, V)
    assert found.weights_mean[17] > 0.9
    assert abs(found.weights_mean.sum() - 1) <= found.first <= EXACT_MEAN


def test_a_hundred_thousand_equal_keys(rng):
    """Equal keys: E[alpha] = 1/n and sum_i E[alpha_i] = 1, whatever the noise."""
    n = 100_000
    V = rng.choice([-1.0, 1.0], size=(n, 2))
    found = exact_route.one_head(np.zeros(n), np.full(n, 1.5), V)
    assert np.abs(n * found.weights_mean - 1).max() <= EXACT_MEAN
    np.testing.assert_allclose(found.mean, V.mean(axis=0), atol=EXACT_MEAN)
    # Cov[c] = (E[alpha^2] - E[alpha alpha']) sum_i (v_i - mean)(v_i - mean)' for exchangeable keys.
    cross = (1 / n - found.weights_square[0]) / (n - 1)
    centred = V - V.mean(axis=0)
    np.testing.assert_allclose(
        found.covariance,
        (found.weights_square[0] - cross) * centred.T @ centred,
        atol=EXACT_COVARIANCE,
    )
