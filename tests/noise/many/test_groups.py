"""Heavy, light and faint keys: where the line between them runs must not show in the moments."""

import numpy as np
import pytest
from tests.noise.routes import in_groups, on_a_grid
from tests.tolerances import EXACT_COVARIANCE, EXACT_MEAN, SINGLE

from headwright.noise import budget
from headwright.noise import exact as exact_route
from headwright.noise.head.integral import head_moments
from headwright.noise.many import cells, groups
from headwright.noise.many.grid import make_strips, rows_of
from headwright.noise.many.table.host import tables

# deviation of the means, smallest and largest deviation of the logits: few keys take most of the
# weight
SHARP = [
    (4.0, 0.0, 6.0),
    (6.0, 0.5, 2.0),
    (6.0, 0.0, 10.0),
    (30.0, 3.0, 8.0),
    (10.0, 0.0, 0.05),
    (3.0, 0.0, 200.0),
]


@pytest.fixture(autouse=True)
def _groups_however_few_the_keys(monkeypatch):
    on_a_grid(monkeypatch)
    in_groups(monkeypatch)


def problem(rng, law, n=1500):
    width, low, high = law
    return rng.normal(0, width, n), rng.uniform(low, high, n), rng.uniform(-1, 1, (n, 3))


def grouped(m, s):
    some = cells.make_cells(m, s)
    return groups.by_weight(some, groups.picture(some, tables(some.grid, some.nodes)))


def agree(found, true):
    assert np.abs(found.mean - true.mean).max() <= found.first + true.first
    assert np.abs(found.covariance - true.covariance).max() <= found.second + true.second
    assert np.abs(found.weights_mean - true.weights_mean).sum() <= found.first + true.first
    assert np.abs(found.weights_square - true.weights_square).sum() <= found.second + true.second
    assert found.first <= EXACT_MEAN
    assert found.second <= EXACT_COVARIANCE


@pytest.mark.parametrize("law", SHARP)
def test_groups_equal_every_key_by_itself(law, rng):
    m, s, V = problem(rng, law)
    found = grouped(m, s)
    assert [group.faint for group in found][-2:] == [False, True]
    agree(exact_route.one_head(m, s, V + 3.0), head_moments(m, s, V + 3.0))


def test_every_key_in_reach_is_in_one_group(rng):
    m, s, _ = problem(rng, SHARP[2])
    m[:10] = -1e4
    found = grouped(m, s)
    assert len(found) == 3
    assert np.array_equal(
        np.sort(np.concatenate([g.cells.keys for g in found])), np.arange(10, 1500)
    )
    for group in found:
        mine = group.cells
        middle, per_unit = mine.pieces()
        piece = np.repeat(np.arange(mine.cell.size), mine.piece_count)
        apart = np.stack([mine.m, mine.s], axis=1)[mine.keys] - middle[piece]
        assert (np.abs(apart * per_unit[piece]) <= 0.5 + 1e-9).all()
        assert np.array_equal(np.bincount(mine.cell, weights=mine.piece_count), mine.count)


@pytest.mark.parametrize("share", [1e-12, 1e-9, 1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("law", SHARP[:3])
def test_wherever_the_lines_run_the_error_is_stated(law, share, rng, monkeypatch):
    """From nearly all keys heavy to nearly all of them faint."""
    m, s, V = problem(rng, law)
    true = head_moments(m, s, V)
    monkeypatch.setattr(budget, "FAINT", share)
    monkeypatch.setattr(budget, "SINGLE_SUMS", share)
    found = exact_route.one_head(m, s, V)
    assert np.abs(found.mean - true.mean).max() <= found.first + true.first
    assert found.first <= EXACT_MEAN
    off = np.abs(found.covariance - true.covariance).max()
    assert off <= found.second + true.second
    assert share < 1e-3 or off > 1e-6  # then there is something to be stated


def test_values_of_faint_keys_alone_differ(rng, monkeypatch):
    """The worst case of what is left out: heavy keys have one value, faint ones the opposite."""
    m, s, _ = problem(rng, SHARP[2])
    monkeypatch.setattr(budget, "FAINT", 0.1)
    (faint,) = [group.cells.keys for group in grouped(m, s) if group.faint]
    V = np.ones((m.size, 1))
    V[faint] = -1.0
    true = head_moments(m, s, V)
    found = exact_route.one_head(m, s, V)
    weight = true.weights_mean[faint].sum()
    off = np.abs(found.covariance - true.covariance).max()
    assert 0.1 * weight * found.farthest**2 <= off <= found.second * found.farthest**2


def test_all_weight_on_one_key(rng):
    m, s, V = problem(rng, (1.0, 0.1, 0.5))
    m[17] += 32.0
    assert [int(group.cells.count.sum()) for group in grouped(m, s)] == [1, m.size - 1]
    found = exact_route.one_head(m, s, V)
    agree(found, head_moments(m, s, V))
    assert found.weights_mean[17] > 1 - EXACT_MEAN


@pytest.mark.parametrize("n", [49, 3000])
def test_equal_keys_are_one_group(n, rng):
    V = rng.uniform(-1, 1, (n, 2))
    m, s = np.zeros(n), np.full(n, 1.5)
    assert len(grouped(m, s)) == 1
    agree(exact_route.one_head(m, s, V), head_moments(m, s, V))


def test_two_laws_of_which_one_is_faint(rng):
    """Equal weights within each: only whole laws can be left out."""
    n = 4000
    m, s = np.where(np.arange(n) % 2, 0.0, -35.0), np.full(n, 0.7)
    V = rng.uniform(-1, 1, (n, 3))
    assert [int(g.cells.count.sum()) for g in grouped(m, s) if g.faint] == [n // 2]
    found, true = exact_route.one_head(m, s, V), head_moments(m, s, V)
    agree(found, true)
    np.testing.assert_allclose(found.weights_mean, true.weights_mean, rtol=SINGLE)


@pytest.mark.parametrize("law", SHARP[:3])
def test_weights_of_faint_keys_are_good_too(law, rng, monkeypatch):
    """No moment asks for them: A and B of every key are within a few units of single precision."""
    m, s, V = problem(rng, law)
    monkeypatch.setattr(budget, "FAINT", 1e-4)  # so that weights of faint keys can be seen
    found, true = exact_route.one_head(m, s, V), head_moments(m, s, V)
    (faint,) = [group.cells.keys for group in grouped(m, s) if group.faint]
    # By itself a wide key is known to 1e-14 or so, a narrow one to 1e-27.
    known = faint[true.weights_square[faint] > np.where(s[faint] < 2.0, 1e-20, 1e-10)]
    assert known.size > 10
    for name in ("weights_mean", "weights_square"):
        ratio = getattr(found, name)[known] / getattr(true, name)[known]
        assert np.abs(ratio - 1).max() <= SINGLE


@pytest.mark.parametrize("size", [1e-100, 1e-30, 1e30, 1e100])
def test_groups_with_values_beyond_single_precision(size, rng):
    m, s, V = problem(rng, SHARP[2])
    found, true = exact_route.one_head(m, s, size * V), head_moments(m, s, V)
    np.testing.assert_allclose(found.mean / size, true.mean, atol=found.first + true.first)
    np.testing.assert_allclose(
        found.covariance / size**2, true.covariance, atol=2 * (found.second + true.second)
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_of_a_faint_key_that_is_no_number_is_refused(bad, rng):
    m, s, V = problem(rng, SHARP[2])
    (faint,) = [group.cells.keys for group in grouped(m, s) if group.faint]
    V[faint[0], 1] = bad
    with pytest.raises(exact_route.InputError, match="V with finite entries"):
        exact_route.one_head(m, s, V)


def test_groups_in_torch(rng):
    torch = pytest.importorskip("torch")
    m, s, V = problem(rng, SHARP[2])
    found = exact_route.one_head(*(torch.asarray(x) for x in (m, s, V)))
    true = head_moments(m, s, V)
    assert isinstance(found.covariance, torch.Tensor)
    assert isinstance(found.weights_square, torch.Tensor)
    np.testing.assert_allclose(found.mean.numpy(), true.mean, atol=EXACT_MEAN)
    np.testing.assert_allclose(found.covariance.numpy(), true.covariance, atol=EXACT_COVARIANCE)
    np.testing.assert_allclose(found.weights_mean.numpy(), true.weights_mean, atol=EXACT_MEAN)


@pytest.mark.parametrize(("low", "high"), [(0.0, 10.0), (0.05, 10.0), (1.0, 4.5), (0.3, 40.0)])
@pytest.mark.parametrize("split", [1, 2, 4])
def test_rows_that_are_looked_up_equal_a_search(low, high, split, rng):
    """At the ends of rows, just beside them, and anywhere."""
    strips = make_strips(low, high, 1 / 3)
    width = np.diff(strips.edges)
    ends = (strips.edges[:-1, None] + width[:, None] * np.arange(split) / split).ravel()
    beside = np.concatenate([np.nextafter(ends, up) for up in (0.0, np.inf)])
    s = np.concatenate([ends, beside, rng.uniform(low, high, 5000), [high]])
    s = s[(s >= low) & (s <= high)]
    found = rows_of(strips, split, s)(s)
    assert np.array_equal(found, np.searchsorted(ends[1:], s, side="right"))
