"""A table of the grid that is read off one lattice, against the transform of every entry."""

import numpy as np
import pytest
from tests.tolerances import TRANSFORM

from headwright.noise.head.transform import transform
from headwright.noise.many.cells import make_cells
from headwright.noise.many.table import host as tables

# deviation of the means, smallest and largest deviation of the logits: lattices half as coarse as
# the nodes, as coarse, three times as coarse; one Chebyshev node; and graded nodes, off any lattice
LAWS = [(1.0, 0.1, 0.7), (1.0, 0.8, 2.0), (5.0, 0.1, 10.0), (3.0, 1.0, 1.0), (3.0, 0.0, 200.0)]


def made(law, n=300):
    width, low, high = law
    rng = np.random.default_rng(3)
    cells = make_cells(rng.normal(0, width, n), rng.uniform(low, high, n))
    table = tables.tables(cells.grid, cells.nodes)
    nodes = np.arange(cells.nodes.u.size)
    columns = np.arange(cells.grid.size)
    entries = table.read((tables.PSI, tables.R, tables.W), nodes, columns)
    return cells, table, np.stack(entries)


@pytest.mark.parametrize("law", LAWS)
def test_entries_equal_the_transform(law, rng):
    cells, _, entries = made(law)
    grid = cells.grid
    m = np.concatenate([np.repeat(grid.lattice(k), grid.chebyshev) for k in grid.used])
    s = np.concatenate([np.tile(grid.deviations(k), grid.count[k]) for k in grid.used])
    some = rng.integers(0, grid.size, 50)
    true = transform(cells.nodes.u[:, None] + m[some], s[some])
    phi = np.exp(true.psi)  # integrals see all functions times at least this
    for found, wanted in zip(entries, (true.psi, true.r, true.w), strict=True):
        assert (phi * np.abs(found[:, some] - wanted)).max() <= TRANSFORM


@pytest.mark.parametrize("law", LAWS)
def test_sums_and_integrals_equal_products_with_all_entries(law, rng):
    cells, table, entries = made(law)
    charge = rng.normal(size=cells.grid.size)
    weights = rng.normal(size=(3, cells.nodes.u.size))
    for function, whole in zip((tables.PSI, tables.R, tables.W), entries, strict=True):
        sizes = np.abs(whole) @ np.abs(charge)
        off = np.abs(table.sums(function, charge) - whole @ charge)
        assert (off <= TRANSFORM * sizes).all()
        for power in (1, 2):
            found = table.integrals(function, weights, power=power)
            sizes = np.abs(weights) @ np.abs(whole) ** power
            assert (np.abs(found - weights @ whole**power) <= TRANSFORM * sizes).all()
