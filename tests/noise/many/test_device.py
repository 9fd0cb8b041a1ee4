"""Many keys of another library, on the host and as if they were on an accelerator: the answer is
that of NumPy's keys, within the stated errors of both."""

import numpy as np
import pytest
from tests.noise.routes import on_a_grid
from tests.tolerances import EXACT_COVARIANCE, EXACT_MEAN, TRANSFORM, TRANSFORM_ABSOLUTE

from headwright import blocks
from headwright.arrays import single_is_single
from headwright.noise import budget
from headwright.noise import exact as exact_route
from headwright.noise.head.integral import head_moments
from headwright.noise.many import cells, value_sums
from headwright.noise.many.table import host as tables
from headwright.noise.many.table.device import DeviceTable
from headwright.result import to_numpy

# deviation of the means, smallest and largest deviation of the logits
LAWS = [(1.0, 0.5, 2.0), (6.0, 0.0, 10.0), (3.0, 1.0, 1.0), (30.0, 3.0, 8.0), (3.0, 0.0, 200.0)]

torch = pytest.importorskip("torch")


@pytest.fixture
def device(monkeypatch):
    """An accelerator whose memory happens to be the processor's, and small."""
    monkeypatch.setattr(blocks, "_HOST", frozenset())
    monkeypatch.setattr(blocks, "_DEVICE", 1 << 14)


@pytest.fixture
def coarse(monkeypatch):
    """A library whose products in single precision read eight digits of their factors, as on
    accelerators that take them for speed."""
    product = torch.Tensor.__matmul__

    def rounded(x):
        return x.bfloat16().float() if x.dtype == torch.float32 else x

    monkeypatch.setattr(torch.Tensor, "__matmul__", lambda a, b: product(rounded(a), rounded(b)))


def problem(rng, law, n=1500):
    width, low, high = law
    return rng.normal(0, width, n), rng.uniform(low, high, n), rng.uniform(-1, 1, (n, 3))


def as_torch(arrays):
    return [torch.asarray(x) for x in arrays]


def agree(found, true):
    mean, covariance, weights, squares = (
        to_numpy(x)
        for x in (found.mean, found.covariance, found.weights_mean, found.weights_square)
    )
    assert np.abs(mean - true.mean).max() <= found.first + true.first
    assert np.abs(covariance - true.covariance).max() <= found.second + true.second
    assert np.abs(weights - true.weights_mean).sum() <= found.first + true.first
    assert np.abs(squares - true.weights_square).sum() <= found.second + true.second
    assert found.first <= EXACT_MEAN
    assert found.second <= EXACT_COVARIANCE


@pytest.mark.parametrize("shift", [0.0, 7.0])
@pytest.mark.parametrize("law", LAWS)
def test_a_device_equals_every_key_by_itself(law, shift, rng, monkeypatch, device):
    on_a_grid(monkeypatch)
    m, s, V = problem(rng, law)
    found = exact_route.one_head(*as_torch((m, s, V + shift)))
    assert isinstance(found.covariance, torch.Tensor)
    agree(found, head_moments(m, s, V + shift))


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("law", LAWS[:2])
def test_as_many_keys_as_single_precision_is_for(law, where, rng, monkeypatch, request):
    """200,000 keys, whose values are positive, so that what rounding does to their sums adds up.
    Under the second law few keys take the weight: the sums of these in single precision, in any
    order, are off by ten times what is stated and more."""
    m, s, V = problem(rng, law, n=200_000)
    V = V**2
    true = all_in_double(monkeypatch, m, s, V)
    if where == "device":
        request.getfixturevalue("device")
        monkeypatch.setattr(blocks, "_DEVICE", 1 << 27)
    agree(exact_route.one_head(*as_torch((m, s, V))), true)


@pytest.mark.parametrize("where", ["host", "device"])
def test_products_that_drop_digits_are_not_used(where, rng, monkeypatch, request, coarse):
    m, s, V = problem(rng, LAWS[0], n=50_000)
    true = all_in_double(monkeypatch, m, s, V)
    if where == "device":
        request.getfixturevalue("device")
        monkeypatch.setattr(blocks, "_DEVICE", 1 << 27)
    assert not single_is_single(torch.asarray(m))
    agree(exact_route.one_head(*as_torch((m, s, V))), true)


def test_libraries_that_keep_all_digits():
    jax = pytest.importorskip("jax.numpy")
    assert all(single_is_single(x) for x in (np.zeros(1), torch.zeros(1), jax.zeros(1)))


def all_in_double(monkeypatch, m, s, V):
    """On the host."""
    with monkeypatch.context() as precise:
        for name in ("SINGLE_POLYNOMIALS", "SINGLE_SUMS", "FAINT"):
            precise.setattr(budget, name, 0.0)
        return exact_route.one_head(m, s, V)


def test_values_that_are_no_numbers_are_refused(rng, monkeypatch, device):
    on_a_grid(monkeypatch)
    m, s, V = problem(rng, LAWS[0])
    V[700, 1] = np.nan
    with pytest.raises(exact_route.InputError, match="V with finite entries"):
        exact_route.one_head(*as_torch((m, s, V)))


@pytest.mark.parametrize("law", LAWS)
def test_a_table_beside_the_keys_has_the_same_entries(law, rng):
    m, s, _ = problem(rng, law, n=300)
    some = cells.make_cells(m, s)
    host = tables.tables(some.grid, some.nodes)
    beside = DeviceTable.of(some.grid, some.nodes, torch.asarray(m))

    nodes = np.arange(0, some.nodes.u.size, 3)
    columns = rng.integers(0, some.grid.size, 50)
    charge = rng.normal(size=some.grid.size)
    weights = rng.normal(size=(3, some.nodes.u.size))
    for f in (tables.PSI, tables.R, tables.W):
        (entries,) = host.read((f,), nodes, columns)
        found = to_numpy(beside.read((f,), nodes, columns)[0])
        np.testing.assert_allclose(found, entries, rtol=TRANSFORM, atol=TRANSFORM_ABSOLUTE)
        sums = host.sums(f, charge)
        found = beside.sums(f, torch.asarray(charge))
        np.testing.assert_allclose(found, sums, atol=TRANSFORM * np.abs(sums).max())
        for power in (1, 2):
            wanted = host.integrals(f, weights, power=power)
            found = to_numpy(beside.integrals(f, weights, power=power))
            np.testing.assert_allclose(found, wanted, atol=TRANSFORM * np.abs(wanted).max())


def test_keys_out_of_reach_have_zeros_on_a_device(rng, monkeypatch, device):
    """One product serves all keys."""
    on_a_grid(monkeypatch)
    stored = []
    add_values = value_sums.add_values

    def seen(V, given, around):
        stored.append(given)
        return add_values(V, given, around)

    monkeypatch.setattr("headwright.noise.many.moments.add_values", seen)
    m, s, V = problem(rng, LAWS[1])
    m[:100] = -1e4
    exact_route.one_head(*as_torch((m, s, V)))
    (rows,) = stored
    numbers = to_numpy(rows.array)
    assert (numbers[:100] == 0).all()
    assert (numbers[100:] != 0).any(axis=0).all()
