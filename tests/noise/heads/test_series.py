"""Two heads correlated through many keys: against every key by itself, against sampling, against
mpmath; and whether what is left out is stated."""

import mpmath as mp
import numpy as np
import pytest
from tests.noise.twin import expectation, turns
from tests.tolerances import EXACT_COVARIANCE, SIGMAS, TRANSFORM, TRANSFORM_ABSOLUTE

import headwright as hw
from headwright.noise import budget
from headwright.noise import exact as exact_route
from headwright.noise.head import tabulated
from headwright.noise.head.transform import expectations
from headwright.noise.heads import between, block, groups, hermite, pair, rule, series, sums, tables

U = np.arange(-26.0, 3.0, 0.45)


def law_of(kind, rng, n=60, correlation=0.9):
    """Means and deviations of both heads, and the covariances of the logits."""
    m = rng.normal(size=(2, n))
    if kind == "isotropic":
        s = np.ones((2, n))
    elif kind == "any deviation":
        s = 10 ** rng.uniform(-1, 0.3, (2, n))
    elif kind == "narrow":
        s = 10 ** rng.uniform(-6, -2, (2, n))
    elif kind == "sharp":
        m = 6 * m
        s = np.full((2, n), 0.7)
    elif kind == "radial":
        m = 0.7 * m
        s = np.abs(m)
        correlation = np.sign(m[0] * m[1])
    elif kind == "one heavy":
        # At the right end hardly anything of its phi is left, and rounding is all there is of eta.
        m[:, 0] += 15.0
        s = np.full((2, n), 0.1)
        s[:, 0] = [0.01, 0.09]
    elif kind == "far apart":
        # Where one head has no weight left, the bound of the other is beyond float64.
        heavy_tails = np.random.default_rng(32)
        m = heavy_tails.standard_t(2, n) * np.array([[3.0], [-1.0]])
        s = 10 ** heavy_tails.uniform(-3, 0.3, n) * np.array([[1.0], [0.4]])
    elif kind == "some alone":
        s = rng.uniform(0.3, 1.5, (2, n))
        correlation = correlation * (np.arange(n) % 3 == 0)
    else:
        s = rng.uniform(0.3, 1, (2, n))
        s[:, :3] = [[6.0], [0.5]]
        s[0, 3] = 0.0
    return pair.PairLaw(m, s, correlation * s[0] * s[1])


KINDS = [
    "isotropic",
    "any deviation",
    "narrow",
    "sharp",
    "radial",
    "one heavy",
    "far apart",
    "some alone",
    "a few wide",
]


def both_routes(law, V):
    heads = tuple(exact_route.one_head(m, s, V) for m, s in zip(law.m, law.s, strict=True))
    a, b = (tabulated.tabulate(m, s) for m, s in zip(law.m, law.s, strict=True))
    one_by_one = pair.pair_moments(a, b, law, V, heads=heads)
    size = heads[0].farthest * heads[1].farthest
    return series.series_moments(law, V, heads=heads), one_by_one, size


def apart(found, true, size):
    """The larger one of the differences of covariance and weights, for values of size one."""
    covariance = np.abs(found.covariance - true.covariance).max() / size
    return max(covariance, np.abs(found.weights - true.weights).max())


@pytest.mark.parametrize("correlation", [0.3, 0.9, -0.9])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_keys_equal_every_key_by_itself(kind, correlation, rng):
    law = law_of(kind, rng, correlation=correlation)
    found, true, size = both_routes(law, rng.normal(size=(60, 3)))
    assert apart(found, true, size) <= found.error + true.error
    assert found.error <= EXACT_COVARIANCE


def test_every_key_light(rng):
    """Four thousand keys of one law: no table of pairs of nodes at all."""
    n = 4000
    law = pair.PairLaw(np.zeros((2, n)), np.ones((2, n)), np.full(n, 0.6))
    V = rng.normal(size=(n, 2))
    heads = tuple(exact_route.one_head(m, s, V) for m, s in zip(law.m, law.s, strict=True))
    found = series.series_moments(law, V, heads=heads)
    # All keys alike: sum_ij Cov[alpha_i, alpha'_j] = 0, and so equal ones make all others.
    own = found.weights.mean()
    C = V - V.mean(axis=0)
    expected = own * n / (n - 1) * C.T @ C
    size = heads[0].farthest * heads[1].farthest
    assert np.ptp(found.weights) <= TRANSFORM
    assert np.abs(found.covariance - expected).max() <= size * found.error * n / (n - 1)
    assert found.error <= EXACT_COVARIANCE


def test_many_keys_agree_with_sampling(rng):
    keys = hw.GaussianKeys(rng.normal(size=(6000, 4)), isotropic=rng.uniform(0.1, 2, 6000))
    V = rng.uniform(-1, 1, (6000, 2))
    q = rng.normal(size=4) / 2
    Q = np.stack([q, 0.9 * q + 0.1])
    exact = hw.moments(Q, keys, V)
    drawn = hw.moments(Q, keys, V, method="sampled", samples=2**12)
    assert exact.status == "done"
    assert exact.covariance_error <= EXACT_COVARIANCE
    assert np.abs(exact.covariance - drawn.covariance).max() <= SIGMAS * drawn.error
    assert np.abs(exact.weights_variance - drawn.weights_variance).max() <= SIGMAS * drawn.error


@pytest.mark.parametrize(
    ("x", "s", "k"), [(-4.0, 1.0, 1), (-4.0, 1.0, 3), (-6.0, 2.0, 5), (0, 0.01, 2)]
)
def test_hermite_coefficients_against_mpmath(x, s, k):
    def product(g):
        polynomial = mp.hermite(k, g / mp.sqrt(2)) / mp.sqrt(mp.mpf(2) ** k)
        return polynomial * mp.exp(-mp.exp(x + s * g))

    true = expectation(product, turns(x, s)) / mp.sqrt(mp.factorial(k))
    phi = expectation(lambda g: mp.exp(-mp.exp(x + s * g)), turns(x, s))
    points = hermite.Points.of(np.array([float(x)]), np.zeros(1), np.array([s]), longest=0.45)
    terms = hermite.Logit.of(points).terms(points, np.array([s]))
    found = [next(terms)[0][0, 0] for _ in range(k)][-1]
    assert found == pytest.approx(float(true / phi), rel=hermite.table_error(0.45, s))


@pytest.mark.parametrize("s", [1e-6, 1e-3, 0.03, 0.4, 1.0, 4.0])
def test_tables_against_the_transform(s, rng):
    m = rng.normal(size=5)
    deviations = s * rng.uniform(0.6, 1, 5)
    points = hermite.Points.of(U, m, deviations, longest=0.45)
    logit = hermite.Logit.of(points)
    _, a = expectations(U[:, None] + m, deviations, top=2)
    r = a[1] / a[0]
    value, slope = next(logit.terms(points, deviations))
    # Everything is seen times phi. P_1 = -s r, and r' = r - w + r^2.
    phi = a[0]
    relative = hermite.table_error(0.45, deviations.max())
    rounding = series.ROUNDING / deviations
    bent = r - a[2] / phi + r * r
    assert (phi * np.abs(logit.r.T - r) <= relative * a[1] + TRANSFORM_ABSOLUTE).all()
    off = np.abs(value.T / deviations + r)
    assert (phi * off <= relative * a[1] + rounding * (1 - phi)).all()
    off = np.abs(slope.T / deviations + bent)
    assert (phi * off <= 10 * relative * a[1] * (1 + r) + rounding / deviations * (1 - phi)).all()


@pytest.mark.parametrize("kind", ["isotropic", "any deviation", "sharp"])
def test_what_parseval_leaves_is_not_less_than_the_terms_to_come(kind, rng):
    law = law_of(kind, rng)
    means = law.m[0] - law.m[0].max()
    points = hermite.Points.of(U, means, law.s[0], longest=0.45)
    logit = hermite.Logit.of(points)
    terms = logit.terms(points, law.s[0])
    first, later = ([next(terms) for _ in range(count)] for count in (2, 6))
    for j, size in enumerate((logit.size, logit.slope)):
        left = (1 + block._UNSURE) * size**2 - sum(term[j] ** 2 for term in first)
        to_come = sum(term[j] ** 2 for term in later)
        # Everything is seen times phi.
        assert (logit.phi**2 * (to_come - left)).max() <= TRANSFORM_ABSOLUTE


# Each knob of the route, turned until the error shows.
COARSE = {
    "few terms": [(budget, "PAIR_TERMS", 1e-3)],
    "hardly any terms": [(budget, "PAIR_TERMS", 1e-1)],
    "few nodes": [(groups, "_FIRST", 8), (groups, "_LOOSEST", 1e-3), (budget, "PAIR_NODES", 1.0)],
    "hardly any nodes": [
        (groups, "_FIRST", 2),
        (groups, "_LOOSEST", 0.1),
        (budget, "PAIR_NODES", 10.0),
    ],
    "a coarse rule for a logit": [(hermite, "STEPS", (1.2,)), (hermite, "_PER_DEVIATION", 1.2)],
    "a coarse rule": [
        (rule, "_COARSEST", 1e-2),
        (rule, "_STEPS", (0.9,)),
        (budget, "PAIR_RULE", 1.0),
    ],
    "ignored": [(budget, "IGNORED_CORRELATIONS", 0.1)],
}


@pytest.mark.parametrize("kind", ["isotropic", "any deviation", "radial"])
@pytest.mark.parametrize("knobs", COARSE)
def test_what_is_left_out_is_stated(knobs, kind, rng, monkeypatch):
    law = law_of(kind, rng)
    V = rng.normal(size=(60, 3))
    fine, true, size = both_routes(law, V)
    for module, name, value in COARSE[knobs]:
        monkeypatch.setattr(module, name, value)
    heads = tuple(exact_route.one_head(m, s, V) for m, s in zip(law.m, law.s, strict=True))
    coarse = series.series_moments(law, V, heads=heads)
    off = apart(coarse, true, size)
    assert off <= coarse.error + true.error
    assert off >= 2 * apart(fine, true, size)


@pytest.mark.parametrize("kind", ["isotropic", "any deviation", "radial"])
def test_what_few_nodes_miss_of_the_tables_is_stated(kind, rng, monkeypatch):
    """Of all keys of the groups, most of which were not measured; the rest of what is left out of
    the tables is far smaller."""
    law = law_of(kind, rng, n=300)
    for name, value in (("_FIRST", 8), ("_LOOSEST", 1e-3)):
        monkeypatch.setattr(groups, name, value)
    monkeypatch.setattr(budget, "PAIR_NODES", 1.0)
    seen = []
    original = series._summed

    def watched(plan, shifted, values):
        seen.append((plan, shifted, original(plan, shifted, values)))
        return seen[-1][-1]

    monkeypatch.setattr(series, "_summed", watched)
    both_routes(law, rng.normal(size=(300, 3)))

    ((plan, shifted, summed),) = seen
    u = tuple(nodes.u for nodes in plan.grids)
    missed = 0.0
    for group in plan.groups:
        if group.missed is None:
            continue
        some = block.Block.of(shifted, group.keys, u, longest=group.longest)
        found, _ = tables.key_tables(some, some.expanded(plan.measure, 1e-9), share=1e-9)
        pairs = np.ix_(group.nodes[0].places, group.nodes[1].places)
        off = [table - sums.on_all_pairs(table[:, *pairs], group.nodes) for table in found]
        missed += plan.measure.of_tables(np.stack([np.abs(table).sum(axis=0) for table in off]))
    assert missed > 100 * budget.PAIR_TERMS
    assert missed <= plan.measure.of_tables(summed.pairs.left_out.table)


def test_blocks_of_any_size_change_nothing(rng, monkeypatch):
    law = law_of("isotropic", rng)
    V = rng.normal(size=(60, 3))
    whole, _, _ = both_routes(law, V)
    monkeypatch.setattr(groups, "_TABLES", 1 << 12)
    parts, _, size = both_routes(law, V)
    assert apart(parts, whole, size) <= parts.error


@pytest.mark.parametrize("kind", ["any deviation", "radial"])
def test_slow_series_are_summed_over_the_first_logit_instead(kind, rng, monkeypatch):
    law = law_of(kind, rng)
    V = rng.normal(size=(60, 3))
    fine, true, size = both_routes(law, V)
    monkeypatch.setattr(tables, "_LEAST", np.inf)
    given, _, _ = both_routes(law, V)
    assert apart(given, fine, size) <= given.error + fine.error
    assert apart(given, true, size) <= given.error + true.error


def test_what_does_not_fit_is_sampled_and_says_so(rng, monkeypatch):
    keys = hw.GaussianKeys(rng.normal(size=(60, 4)), isotropic=1.0)
    V = rng.uniform(-1, 1, (60, 2))
    Q = rng.normal(size=(2, 4))
    exact = hw.moments(Q, keys, V)
    monkeypatch.setattr(series, "_MEMORY", 0.0)
    monkeypatch.setattr(between, "DIRECT", 10)
    drawn = hw.moments(Q, keys, V)
    assert drawn.status == "sampled covariance"
    assert np.abs(drawn.covariance - exact.covariance).max() <= drawn.covariance_error


def test_means_of_any_size(rng):
    """Only differences count, and a key far below the others is out of reach."""
    law = law_of("isotropic", rng)
    V = rng.normal(size=(60, 3))
    found, _, _ = both_routes(law, V)
    shifted = pair.PairLaw(law.m + np.array([[1e3], [-1e6]]), law.s, law.c)
    moved, _, size = both_routes(shifted, V)
    assert apart(moved, found, size) <= moved.error + found.error
