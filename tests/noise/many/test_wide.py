"""Wide laws: one key of deviation 1e3 to 1e100, deviations over many scales. Work and memory are
counted, not timed."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from tests.noise import twin
from tests.noise.routes import on_a_grid
from tests.tolerances import EXACT_COVARIANCE, EXACT_MEAN, SIGMAS, TRANSFORM

from headwright.noise import exact as exact_route
from headwright.noise.head import blocks, integral, nodes, series, tabulated
from headwright.noise.head.integral import head_moments
from headwright.noise.heads import bivariate, pair
from headwright.noise.many import cost
from headwright.noise.many import moments as many
from headwright.noise.many.cells import make_cells
from headwright.noise.many.table import graded, host

GIGABYTE = 1e9
WIDE = [1e1, 1e3, 1e7, 1e16, 1e100, 1e150]
# Nodes of a rule that resolves one isolated scale, and those at the narrow end: some hundred each.
SCALE = 400


def one_wide(rng, n, width):
    m, s, V = rng.normal(size=n), rng.uniform(0.5, 2, n), rng.uniform(-1, 1, (n, 3))
    s[0] = width
    return m, s, V


def over_scales(rng, n, low, high, means=1.0):
    return rng.normal(0, means, n), 10 ** rng.uniform(low, high, n), rng.uniform(-1, 1, (n, 3))


def within(found, true):
    assert np.abs(found.mean - true.mean).max() <= found.first + true.first
    assert np.abs(found.weights_mean - true.weights_mean).sum() <= found.first + true.first
    assert np.abs(found.covariance - true.covariance).max() <= found.second + true.second
    assert np.abs(found.weights_square - true.weights_square).sum() <= found.second + true.second


def kept(found):
    assert found.first <= EXACT_MEAN
    assert found.second <= EXACT_COVARIANCE


@pytest.fixture
def finer(monkeypatch):
    """Every key by itself on four times as many nodes, with no scale left out."""

    def moments(m, s, V):
        with monkeypatch.context() as patch:
            patch.setattr(nodes, "_BEND", 30.0)
            patch.setattr(nodes, "_SPARSE", 1.0)
            patch.setattr(integral, "grid", partial(nodes.grid, step=nodes.STEP / 2))
            return head_moments(m, s, V)

    return moments


@pytest.mark.parametrize("width", [1e3, 1e7, 1e12])
@pytest.mark.parametrize("other", [0.0, 2.0])
def test_two_keys_against_the_twin(width, other):
    first, second = (float(x) for x in twin.two_keys((3.0, -4.0), (width, other)))
    h = head_moments(np.array([3.0, -4.0]), np.array([width, other]), np.eye(2))
    kept(h)
    assert abs(h.mean[0] - first) <= h.first
    assert abs(h.covariance[0, 0] - (second - first**2)) <= h.second


@pytest.mark.parametrize("n", [2, 48, 49, 200, 5000])
def test_a_key_of_deviation_1e100_is_a_fair_coin(n, rng):
    """It is above all others, or below them, with probability 1/2 each, up to 1e-98."""
    m, s, V = one_wide(rng, n, 1e100)
    found, rest = exact_route.one_head(m, s, V), exact_route.one_head(m[1:], s[1:], V[1:])
    kept(found)
    assert abs(found.weights_mean[0] - 0.5) <= found.first
    np.testing.assert_allclose(found.mean, (V[0] + rest.mean) / 2, atol=found.first + rest.first)
    gap = V[0] - rest.mean
    expected = rest.covariance / 2 + np.outer(gap, gap) / 4
    np.testing.assert_allclose(found.covariance, expected, atol=found.second + rest.second)


def scales(seed):
    """A few scales, with or without fixed keys, near and far means."""
    rng = np.random.default_rng(seed)
    n, sizes = (
        int(rng.integers(2, 40)),
        10 ** rng.uniform(-2, (3, 9, 20, 60)[seed % 4], 1 + seed % 3),
    )
    s = rng.choice(sizes, n) * 10 ** rng.uniform(-0.5, 0.5, n)
    s[rng.random(n) < 0.3 * (seed % 2)] = 0.0
    m = rng.normal(size=n) * np.where(rng.random() < 0.5, s, 1.0)
    return m, np.append(s[1:], sizes[0]), rng.uniform(-1, 1, (n, 2))


@pytest.mark.parametrize("seed", range(16))
def test_graded_nodes_and_gaps_between_scales(seed, finer):
    found = head_moments(*scales(seed))
    kept(found)
    within(found, finer(*scales(seed)))


@pytest.mark.parametrize("width", [20.0, 1e3, 1e6])
def test_many_narrow_keys_make_a_sharp_end(width, rng, finer):
    """A thousand narrow keys of thirty laws: the integrand ends within one unit of u."""
    m, s, V = one_wide(rng, 1000, width)
    m[31:], s[31:] = np.resize(m[1:31], 969), np.resize(s[1:31], 969)
    found = head_moments(m, s, V)
    kept(found)
    within(found, finer(m, s, V))


@pytest.mark.parametrize("n", [3, 30])
@pytest.mark.parametrize(
    ("knob", "coarse", "width"),
    [("_BEND", 1.0, 20.0), ("_BEND", 2.0, 1e7), ("_SPARSE", 0.02, 1e7), ("_SOFT", 0.3, 1e7)],
)
def test_too_coarse_a_rule_says_so(knob, coarse, width, n, rng, finer, monkeypatch):
    """The knob is turned until the error can be seen; then the stated error must cover it."""
    m, s, V = one_wide(rng, n, width)
    true = finer(m, s, V)
    monkeypatch.setattr(nodes, knob, coarse)
    monkeypatch.setattr(nodes, "_BEND_OF_MANY", 0.0)
    found = head_moments(m, s, V)
    assert np.abs(found.weights_mean - true.weights_mean).sum() > 2 * true.first
    within(found, true)


def test_the_part_beyond_the_ends_is_stated_by_itself(rng, monkeypatch):
    """A rule may be wrong by as much as the cut takes away, and in the other direction: then the
    sum of the weights is one, and only the bound on the ends tells."""
    m, s, V = one_wide(rng, 20, 1e3)
    true = head_moments(m, s, V)

    whole = nodes.nodes(m, s, np.ones(20))
    left = np.searchsorted(whole.u, -4e3)
    u = whole.u[None, left:]
    part = nodes.Nodes(u, whole.weight[None, left:], whole.step, whole.uniform)
    monkeypatch.setattr(integral, "grid", lambda *_, **__: part)
    missing = 1 - head_moments(m, s, V).weights_mean.sum()

    enlarged = nodes.Nodes(u, part.weight / (1 - missing), part.step, part.uniform)
    monkeypatch.setattr(integral, "grid", lambda *_, **__: enlarged)
    found = head_moments(m, s, V)
    assert abs(found.weights_mean.sum() - 1) < true.first
    assert np.abs(found.weights_mean - true.weights_mean).sum() > 1e-6
    within(found, true)


@pytest.mark.parametrize("width", WIDE)
def test_nodes_are_counted_in_scales_and_not_in_lengths(width, rng):
    m, s, _ = one_wide(rng, 50, width)
    found = nodes.nodes(m, s, np.ones(50)).u.size
    assert found <= 2 * SCALE + 6 * np.log(width)


def test_deviations_over_all_scales_cost_their_logarithm(rng):
    m, s, _ = over_scales(rng, 2000, -3, 100)
    assert nodes.nodes(m, s, np.ones(2000)).u.size <= SCALE + 50 * np.log(1e103)


@pytest.mark.parametrize("width", WIDE)
def test_tables_of_the_grid_are_as_long_as_their_keys_reach(width, rng, monkeypatch):
    """Points of each strip's table, whatever the range of u; each of the few strips of narrow keys
    has the same."""
    counts = []
    original = host.lattice_transform

    def counted(start, step, count, **others):
        counts.append(count)
        return original(start, step, count, **others)

    for module in (host, graded):
        monkeypatch.setattr(module, "lattice_transform", counted)
    m, s, _ = one_wide(rng, 300, width)
    cells = make_cells(m, s)
    host.tables(cells.grid, cells.nodes)
    assert max(counts) <= 10_000
    assert cells.grid.size <= 4000


@pytest.mark.parametrize("width", WIDE)
def test_the_grid_equals_every_key_by_itself(width, rng, monkeypatch):
    on_a_grid(monkeypatch)
    m, s, V = one_wide(rng, 300, width)
    found = exact_route.one_head(m, s, V)
    kept(found)
    within(found, head_moments(m, s, V))


def test_a_wide_key_far_away_does_not_stretch_the_lattice_of_the_others(rng):
    m, s, V = one_wide(rng, 2000, 1e9)
    m[0] = 1e9
    cells = make_cells(m, s)
    assert cells.grid.size <= 4000
    within(exact_route.one_head(m, s, V), head_moments(m, s, V))


@pytest.mark.parametrize("width", WIDE[1:])
def test_few_keys_are_taken_by_themselves(width, rng, monkeypatch):
    """A grid would cost more: it must not be built."""
    monkeypatch.setattr(many, "_by_grid", None)
    m, s, V = one_wide(rng, 49, width)
    cells = make_cells(m, s)
    assert cost.by_itself(cells) < cost.by_grid(cells)
    kept(exact_route.one_head(m, s, V))


@pytest.mark.parametrize("width", WIDE)
def test_many_keys_are_carried_by_the_grid(width, rng, monkeypatch):
    monkeypatch.setattr(many, "head_moments", None)
    m, s, V = one_wide(rng, 7000, width)
    cells = make_cells(m, s)
    assert cost.by_grid(cells) < 0.5 * cost.by_itself(cells)
    kept(exact_route.one_head(m, s, V))


def test_estimated_work_is_the_work_done(rng, monkeypatch):
    """Points that are given a series, against the estimate for every key by itself."""
    m, s, V = over_scales(rng, 200, -2, 2)
    cells = make_cells(m, s)
    done = 0.0
    original = series._of_band

    def counted(band, x, s):
        nonlocal done
        done += x.size * (band != series._UNSEEN)
        return original(band, x, s)

    monkeypatch.setattr(series, "_of_band", counted)
    head_moments(m, s, V)
    assert 0.8 * done <= cost.by_itself(cells) / series.EFFORT <= 1.25 * done


def test_a_grid_that_does_not_fit_is_not_built(rng, monkeypatch):
    """Ten thousand keys, deviations over twelve decades, means 30 apart: a gigabyte of tables on
    the grid."""
    m, s, V = over_scales(rng, 10_000, -3, 9, means=30.0)
    cells = make_cells(m, s)
    assert 48 * cells.grid.size * cells.nodes.u.size > 0.9 * GIGABYTE
    assert not cost.grid_fits(cells)
    monkeypatch.setattr(many, "_by_grid", None)
    tracemalloc.start()
    found = exact_route.one_head(m, s, V)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept(found)
    assert peak <= 0.3 * GIGABYTE


def test_the_largest_grid_that_fits_stays_below_a_gigabyte(rng, monkeypatch):
    on_a_grid(monkeypatch, cost.grid_fits)
    m, s, V = over_scales(rng, 4000, -3, 6, means=1.0)
    cells = make_cells(m, s)
    assert cost.grid_fits(cells)
    assert 48 * cells.grid.size * cells.nodes.u.size > 0.4 * GIGABYTE
    tracemalloc.start()
    found = exact_route.one_head(m, s, V)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept(found)
    assert peak <= GIGABYTE


def pair_of(m, s, c, V):
    heads = tuple(exact_route.one_head(m[h], s[h], V) for h in (0, 1))
    tables = [tabulated.tabulate(m[h], s[h]) for h in (0, 1)]
    return pair.pair_moments(*tables, pair.PairLaw(m, s, c), V, heads=heads)


def two_heads(rng, width, correlation, n=5):
    m, s, V = rng.normal(size=(2, n)), rng.uniform(0.5, 1, (2, n)), rng.uniform(-1, 1, (n, 2))
    s[:, 0] = width
    c = 0.3 * s[0] * s[1]
    c[0] = correlation * width * width
    return m, s, c, V


def drawn(rng, m, s, c, V, samples=100_000):
    """Products of the two outputs, counted from their exact means."""
    g = rng.normal(size=(2, samples, m.shape[1]))
    rest = np.sqrt(np.maximum(s[1] ** 2 - (c / s[0]) ** 2, 0.0))
    outputs = []
    for h, z in enumerate((m[0] + s[0] * g[0], m[1] + c / s[0] * g[0] + rest * g[1])):
        e = np.exp(z - z.max(axis=1, keepdims=True))
        outputs.append(
            e / e.sum(axis=1, keepdims=True) @ V - exact_route.one_head(m[h], s[h], V).mean
        )
    return outputs[0][:, :, None] * outputs[1][:, None, :]


@pytest.mark.parametrize(
    ("width", "correlation"), [(1e3, 0.5), (1e3, -0.95), (1e7, 0.5), (30.0, 0.9)]
)
def test_two_heads_with_one_wide_key_agree_with_sampling(width, correlation, rng):
    law = two_heads(rng, width, correlation)
    tracemalloc.start()
    found = pair_of(*law)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 0.3 * GIGABYTE
    assert found.error <= EXACT_COVARIANCE
    products = drawn(rng, *law)
    deviation = products.std(axis=0) / np.sqrt(products.shape[0])
    assert np.abs((products.mean(axis=0) - found.covariance) / deviation).max() <= SIGMAS


@pytest.mark.parametrize("correlation", [0.3, -0.9, 0.99])
def test_two_wide_logistics_against_a_double_sum(correlation):
    """One noisy key against a fixed one: E[sigma(y) sigma(y')], a sum over two normal numbers."""
    s = 200.0
    m = np.array([[30.0, 0.0], [-80.0, 0.0]])
    c = np.array([correlation * s * s, 0.0])
    found = pair_of(m, np.array([[s, 0.0], [s, 0.0]]), c, np.eye(2))
    g = np.linspace(-9, 9, 18_001)
    p = np.exp(-g * g / 2)
    p /= p.sum()
    inner = np.linspace(-9, 9, 3001)
    q = np.exp(-inner * inner / 2)
    q /= q.sum()
    rest = s * np.sqrt(1 - correlation**2)
    with np.errstate(over="ignore"):
        first = 1 / (1 + np.exp(-(m[0, 0] + s * g)))
        second = np.concatenate(
            [
                1 / (1 + np.exp(-(m[1, 0] + correlation * s * part[:, None] + rest * inner))) @ q
                for part in np.split(g[:-1], 18)
            ]
        )
    second = np.append(second, second[-1])
    true = p @ (first * second) - (p @ first) * (p @ second)
    assert abs(found.covariance[0, 0] - true) <= found.error <= EXACT_COVARIANCE


@pytest.mark.parametrize("widths", [(20.0, 3.0), (9.0, 0.01), (30.0, 30.0), (3.0, 40.0)])
@pytest.mark.parametrize("correlation", [0.3, -0.9, 0.99])
def test_sinc_functions_equal_plain_steps(widths, correlation, monkeypatch):
    s, m = np.array(widths), np.array([0.3, -0.2])
    u = [np.linspace(-25 * w - 30, 9 * w + 5, 40) for w in widths]
    grids = tuple(nodes.Nodes(x, np.ones(40), 1.0, False) for x in u)
    c = correlation * float(s.prod())
    monkeypatch.setattr(bivariate, "_by_sinc", lambda *_: 0.0)
    found = bivariate.bivariate(grids, m, s, c=c, top=1)
    monkeypatch.setattr(bivariate, "_by_sinc", lambda *_: np.inf)
    np.testing.assert_allclose(found, bivariate.bivariate(grids, m, s, c=c, top=1), atol=TRANSFORM)


def test_the_cost_of_a_wide_pair_does_not_grow_with_its_width():
    counted = [
        (
            bivariate.evaluations((300, 300), np.full(2, w), 0.5 * w * w),
            bivariate.room((300, 300), np.full(2, w), 0.5 * w * w),
        )
        for w in (1e3, 1e7, 1e100)
    ]
    assert max(work for work, _ in counted) <= 1.01 * counted[0][0]
    assert max(room for _, room in counted) <= 1e8


def test_a_kink_that_the_nodes_cannot_resolve_is_refused(rng):
    """Two wide logits of one key that are nearly the same: the double integral says that it is not
    good enough."""
    assert pair_of(*two_heads(rng, 1e3, 0.9995)) is None
    assert pair_of(*two_heads(rng, 1e3, 1 - 1e-12)) is None


def test_blocks_of_rows_change_nothing(rng, monkeypatch):
    law = two_heads(rng, 30.0, 0.5)
    whole = pair_of(*law)
    monkeypatch.setattr(pair, "_BLOCK", 1e6)
    monkeypatch.setattr(blocks, "_NODES", 100)
    parts = pair_of(*law)
    np.testing.assert_allclose(parts.covariance, whole.covariance, atol=TRANSFORM)
    np.testing.assert_allclose(parts.weights, whole.weights, atol=TRANSFORM)
    assert parts.error == pytest.approx(whole.error, rel=0.1)


@pytest.mark.parametrize("n", [40, 100])
def test_huge_means(n, rng):
    """Only differences count, also where they overflow."""
    m, s, V = one_wide(rng, n, 1.0)
    m[0], m[1] = 1e308, -1.7e308
    found = exact_route.one_head(m, s, V)
    assert abs(found.weights_mean[0] - 1.0) <= found.first <= EXACT_MEAN
    np.testing.assert_allclose(found.mean, V[0], atol=EXACT_MEAN)
