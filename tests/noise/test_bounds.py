"""Can a stated error be caught lying? Each knob is turned until the true error is visible, and then
the stated one has to cover it. The reference is the same engine with its knobs as they are, whose
error is far smaller."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from benchmarks import adversary_moments
from tests.noise.routes import on_a_grid

import headwright as hw
from headwright.noise import budget
from headwright.noise import exact as exact_route
from headwright.noise.head import integral, nodes, tabulated
from headwright.noise.head.integral import head_moments
from headwright.noise.head.nodes import Nodes
from headwright.noise.head.transform import transform
from headwright.noise.heads import pair
from headwright.noise.many import cells, grid, groups, polynomials, series
from headwright.noise.many.table import host as tables
from headwright.noise.problem import Request

# deviation of the means, smallest and largest deviation of the logits
LAWS = [
    (1.0, 0.5, 2.0),
    (3.0, 0.5, 2.0),
    (3.0, 1.0, 1.0),
    (0.3, 0.2, 0.4),
    (8.0, 0.5, 2.0),
    (10.0, 0.0, 30.0),
]


def problem(law, n):
    rng, (width, low, high) = np.random.default_rng(1), law
    return rng.normal(0, width, n), rng.uniform(low, high, n), rng.uniform(-1, 1, (n, 3))


def off(found, true):
    """True errors of first and of second moments, for values of size one."""
    first = (
        np.abs(found.weights_mean - true.weights_mean).sum(),
        np.abs(found.mean - true.mean).max(),
    )
    second = (
        np.abs(found.weights_square - true.weights_square).sum(),
        np.abs(found.covariance - true.covariance).max(),
    )
    return max(first), max(second)


def covers(found, true, *, visible):
    first, second = off(found, true)
    assert max(first, second) >= visible
    assert first <= found.first + true.first
    assert second <= found.second + true.second


def set_order(monkeypatch, order):
    for module in (series, cells, polynomials):
        monkeypatch.setattr(module, "ORDER", order)
    series.to_chebyshev.cache_clear()


@pytest.fixture(autouse=True)
def _tables_of_the_usual_order():
    yield
    series.to_chebyshev.cache_clear()


@pytest.mark.parametrize("order", [6, 4])
@pytest.mark.parametrize("law", LAWS[:3])
def test_too_few_lattice_points(order, law, monkeypatch):
    on_a_grid(monkeypatch)
    m, s, V = problem(law, 300)
    true = head_moments(m, s, V)
    set_order(monkeypatch, order)
    covers(exact_route.one_head(m, s, V), true, visible=1e-7)


@pytest.mark.parametrize(("count", "visible"), [(5, 1e-9), (3, 1e-6)])
@pytest.mark.parametrize("law", [LAWS[0], LAWS[1], LAWS[4]])
def test_too_few_chebyshev_nodes(count, visible, law, monkeypatch):
    on_a_grid(monkeypatch)
    monkeypatch.setattr(grid, "_CHEBYSHEV", count)
    m, s, V = problem(law, 300)
    covers(exact_route.one_head(m, s, V), head_moments(m, s, V), visible=visible)


@pytest.mark.parametrize("order", [4, 6, 8])
@pytest.mark.parametrize("law", [*LAWS[:5], (2.0, 0.01, 0.02), (2.0, 2.0, 3.0), (5.0, 3.0, 9.0)])
def test_the_tail_of_a_series_alone(law, order, monkeypatch):
    """The interpolant itself, before any sum over keys could hide what it misses: psi of every cell
    in its middle, from few lattice points, against the function."""
    m, s, _ = problem(law, 300)
    set_order(monkeypatch, order)
    some = cells.make_cells(m, s)
    table = tables.tables(some.grid, some.nodes)
    everywhere = np.arange(some.nodes.u.size)
    psi, r = (x @ some.count for x in table.read((tables.PSI, tables.R), everywhere, some.middle))
    at = int(np.argmax(np.exp(psi) * r))  # where most of the mass is
    (function,) = table.read((tables.PSI,), np.array([at]), some.read)
    weight = some.count[None, :].astype(float)
    terms = polynomials.choose(some, function, weight * 1e9, sums=True)  # what is known is kept
    along, across = series.to_chebyshev(some.grid.chebyshev)
    first = np.searchsorted(some.read, some.first)
    values = function[0, first[:, None] + np.arange(order * some.grid.chebyshev)]
    values = values.reshape(first.size, order, -1)
    polynomial = np.einsum("al,clk,bk->cab", along, values, across)
    place = some.grid.spacing[some.strip] * (some.interval + 0.5), some.grid.edges[some.strip]
    middle = 0.5 * (some.grid.edges[some.strip] + some.grid.edges[some.strip + 1])
    true = transform(some.nodes.u[at] + place[0][None, :], middle, top=1).psi[0]
    # T_a(0) T_b(0): the series in the middle of the cell.
    a, b = (np.cos(np.pi / 2 * np.arange(k)) for k in polynomial.shape[1:])
    found = np.einsum("cab,a,b->c", polynomial, a, b)
    missed = float(some.count @ np.abs(found - true))
    assert 1e-10 <= missed <= terms.missed / 1e9


FORCED = [(groups, "_SMALLEST", 0), (groups, "_SMALL", 0.0)]  # groups of few keys
KNOBS = {
    "short polynomials": (
        [(budget, "POLYNOMIALS_MEAN", 1e-4), (budget, "POLYNOMIALS_COVARIANCE", 1e-3)],
        1e-7,
    ),
    "few directions": ([(budget, "DIRECTIONS", 1e-3)], 1e-8),
    "keys in reach": ([(budget, "DEEP", 8.0)], 1e-9),
    "polynomials in single precision": ([(budget, "SINGLE_POLYNOMIALS", 1e9)], 1e-10),
    "sums in single precision": ([(budget, "SINGLE_SUMS", 1.0)], 2e-9),
    "faint keys": ([(budget, "FAINT", 1e-3), *FORCED], 1e-7),
    "light keys": ([(budget, "SINGLE_SUMS", 1e-6), *FORCED], 1e-10),
}


@pytest.mark.parametrize("knob", KNOBS)
@pytest.mark.parametrize("law", [LAWS[1], LAWS[4]])
def test_knobs_of_the_grid(knob, law, monkeypatch):
    on_a_grid(monkeypatch)
    settings, visible = KNOBS[knob]
    m, s, V = problem(law, 600)
    true = head_moments(m, s, V)
    for module, name, value in settings:
        monkeypatch.setattr(module, name, value)
    covers(exact_route.one_head(m, s, V), true, visible=visible)


@pytest.mark.parametrize("step", [0.8, 1.2, 2.0])
@pytest.mark.parametrize("law", LAWS[:5])
def test_a_coarse_rule(step, law, monkeypatch):
    m, s, V = problem(law, 12)
    true = head_moments(m, s, V)
    monkeypatch.setattr(integral, "grid", partial(nodes.grid, step=step))
    covers(head_moments(m, s, V), true, visible=1e-10)


@pytest.mark.parametrize("step", [0.7, 1.0])
@pytest.mark.parametrize("bend", [3.0, 5.0])
def test_a_coarse_graded_rule(step, bend, monkeypatch):
    """Graded nodes have no bound known before: every second node has to tell."""
    m, s, V = problem((10.0, 0.0, 30.0), 12)
    true = head_moments(m, s, V)
    monkeypatch.setattr(nodes, "_BEND", bend)
    monkeypatch.setattr(integral, "grid", partial(nodes.grid, step=step))
    coarse = head_moments(m, s, V)
    covers(coarse, true, visible=1e-10)

    def adding_up_to_one(logits, ends, **options):
        """The same nodes with weights that hide the error from the identity."""
        one = nodes.grid(logits, ends, step=step, **options)
        return replace(one, weight=one.weight / coarse.weights_mean.sum())

    monkeypatch.setattr(integral, "grid", adding_up_to_one)
    covers(head_moments(m, s, V), true, visible=1e-11)


def without_ends(one: Nodes, density, low: float, high: float) -> Nodes:
    """Nodes without the outermost `low` and `high` of the mass, and weights enlarged so that all
    weights still add up to one: the identity that is checked sees nothing, and only what is said
    about the ends can."""
    mass = np.cumsum(density) / density.sum()
    kept = (mass > low) & (mass <= 1 - high)
    return replace(
        one, u=one.u[kept], weight=one.weight[kept] * density.sum() / density[kept].sum()
    )


def cut_nodes(m, s, cut, *, sure):
    """The engine's nodes for keys of these laws, without their ends. Logits are counted from the
    key that is highest even `sure` deviations below its mean."""
    m = m - np.max(m - sure * s)

    def fewer(*law, **options):
        one = nodes.nodes(*law, **options)
        t = transform(one.u[:, None] + m, s)
        return without_ends(one, one.weight * np.exp(t.psi.sum(axis=1)) * t.r.sum(axis=1), *cut)

    return fewer


CUTS = [(0.0, 1e-3), (1e-3, 0.0), (0.02, 0.02)]


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("law", LAWS[:3])
def test_ends_that_are_cut_off(cut, law, monkeypatch):
    m, s, V = problem(law, 12)
    true = head_moments(m, s, V)
    cut_one = cut_nodes(m, s, cut, sure=integral._SURE)

    def fewer(logits, *_, **__):
        """A grid of one query."""
        one = cut_one(logits.m[0], logits.s[0], logits.count[0])
        return replace(one, u=one.u[None], weight=one.weight[None])

    monkeypatch.setattr(integral, "grid", fewer)
    found = head_moments(m, s, V)
    assert abs(found.weights_mean.sum() - 1) <= 1e-9
    covers(found, true, visible=1e-5)


@pytest.mark.parametrize("cut", CUTS)
def test_ends_that_are_cut_off_from_the_grid(cut, monkeypatch):
    m, s, V = problem(LAWS[1], 300)
    true = head_moments(m, s, V)
    on_a_grid(monkeypatch)
    monkeypatch.setattr(cells, "nodes", cut_nodes(m, s, cut, sure=budget.REACH))
    found = exact_route.one_head(m, s, V)
    assert abs(found.weights_mean.sum() - 1) <= 1e-7
    covers(found, true, visible=1e-5)


def two_heads(rng, n=5):
    keys = hw.GaussianKeys(rng.normal(size=(n, 3)), isotropic=0.3)
    return rng.normal(size=(2, 3)), keys, rng.uniform(-1, 1, (n, 2))


@pytest.mark.parametrize("seed", range(6))
def test_correlations_that_are_ignored(seed, monkeypatch):
    """All of them: the covariance of the heads then comes out as zero, and its error has to say how
    wrong that is."""
    Q, keys, V = two_heads(np.random.default_rng(seed))
    true = hw.moments(Q, keys, V)
    monkeypatch.setattr(budget, "IGNORED_CORRELATIONS", np.inf)
    found = hw.moments(Q, keys, V)
    apart = np.abs(found.covariance - true.covariance).max()
    assert 1e-5 <= apart <= found.covariance_error + true.covariance_error
    assert np.abs(found.weights_variance - true.weights_variance).max() <= found.error + true.error
    assert found.status == "inaccurate covariance"


@pytest.mark.parametrize("share", [1e-4, 1e-3, 1e-2])
def test_some_correlations_that_are_ignored(share, monkeypatch):
    rng = np.random.default_rng(3)
    Q, keys, V = two_heads(rng, n=12)
    true = hw.moments(Q, keys, V)
    monkeypatch.setattr(budget, "IGNORED_CORRELATIONS", share)
    found = hw.moments(Q, keys, V)
    assert 1e-9 <= np.abs(found.covariance - true.covariance).max() <= found.covariance_error


@pytest.mark.parametrize("step", [0.8, 1.2])
def test_a_coarse_rule_for_two_heads(step, monkeypatch):
    Q, keys, V = two_heads(np.random.default_rng(4))
    law = exact_route.logits_law(Request(Q, keys, V).problem())
    m, s = (np.stack(x) for x in (law.means, law.deviations))
    cross = keys.logits_law(Q).cross[0, 1]
    fine = one_pair(m, s, cross, V)
    monkeypatch.setattr(tabulated, "grid", partial(nodes.grid, step=step))
    coarse = one_pair(m, s, cross, V)
    apart = np.abs(coarse.covariance - fine.covariance).max()
    assert 1e-12 <= apart <= coarse.error + fine.error


def test_coarse_graded_nodes_for_two_heads(monkeypatch):
    """Each head with nodes of its own that are good, the pair with coarse ones; and without the
    identity, which sees the same error, so that every second node alone has to tell."""
    rng = np.random.default_rng(5)
    m, s = rng.normal(size=(2, 4)), np.array([[20.0, 0.5, 0.3, 0.0], [0.4, 25.0, 0.3, 0.0]])
    cross, V = 0.9 * s[0] * s[1], rng.uniform(-1, 1, (4, 2))
    heads = tuple(head_moments(m[h], s[h], V) for h in (0, 1))
    fine = one_pair(m, s, cross, V, heads=heads)
    monkeypatch.setattr(nodes, "_UNIFORM", 0.0)
    monkeypatch.setattr(tabulated, "PAIR_BEND", 6.0)
    monkeypatch.setattr(tabulated, "grid", partial(nodes.grid, step=0.9))
    monkeypatch.setattr(budget, "ROUGH_PAIR", np.inf)  # beyond it the pair is sampled instead
    found = pair.sum_pairs
    monkeypatch.setattr(pair, "sum_pairs", lambda *given: replace(found(*given), total=1.0))
    coarse = one_pair(m, s, cross, V, heads=heads)
    assert 1e-10 <= np.abs(coarse.covariance - fine.covariance).max() <= coarse.error + fine.error


def one_pair(m, s, cross, V, heads=None):
    heads = heads or tuple(head_moments(m[h], s[h], V) for h in (0, 1))
    both = [tabulated.tabulate(m[h], s[h]) for h in (0, 1)]
    return pair.pair_moments(*both, pair.PairLaw(m, s, cross), V, heads=heads)


@pytest.mark.parametrize("family", adversary_moments.FAMILIES)
def test_a_few_hostile_problems_of_each_family(family):
    """The search of the benchmark, at its smallest."""
    row = adversary_moments.family_row(family, count=2)
    assert row["violations"] == 0
    assert row["refused"] == 0
