"""Two routes to the moments of one head, every key by itself or a grid that carries them: what each
would cost.

Costs are counted before anything is computed, in exponentials (some nanoseconds each); what is not
an exponential is counted as what it costs beside one. A key by itself pays for its nodes; the grid
pays for its columns, however few keys they serve.
"""

from __future__ import annotations

import numpy as np

from headwright.noise.head.nodes import STEP, most_nodes
from headwright.noise.head.series import series_effort
from headwright.noise.head.uniform import nodes_effort
from headwright.noise.many.cells import Cells
from headwright.noise.many.table.host import table_cost
from headwright.types import HostPerKey

_START = 1e5  # for any grid at all
_ENTRY = 4.0  # for each entry of the table: the sums over it, the few functions that span it
_CELL = 1500.0  # for each cell: its polynomials
_KEY = 20.0  # for each key: its place, its polynomials, its sums
_SMALLEST_GRID = 2e6  # for several strips of deviations
_NEVER_MORE = 4096  # keys that could do with that
_ONE_STRIP = 0.25  # deviations of one strip
_TABLES = 6  # numbers alive at once for each entry of the table, psi, r and w among them
_MEMORY = 6e8  # bytes the grid may take
_MEMORY_PER_KEY = 1e3  # and for each key, which has some numbers and a value of its own


def by_itself(cells: Cells) -> float:
    """Every key in reach is transformed by itself, on a lattice where that is possible."""
    edges = cells.grid.edges
    m = cells.grid.spacing[cells.strip] * cells.interval
    s = 0.5 * (edges[cells.strip] + edges[cells.strip + 1])
    if cells.nodes.uniform:
        each = nodes_effort(cells.nodes.step, s)
    else:
        each = series_effort(cells.nodes.u[-1] + m, s)
    return float(cells.count @ each) * cells.nodes.u.size


def by_grid(cells: Cells) -> float:
    """The table on the grid, and every key carried by it."""
    entries = cells.nodes.u.size * cells.grid.size
    keys = int(cells.count.sum())
    carried = _ENTRY * entries + _CELL * cells.count.size + _KEY * keys
    return _START + table_cost(cells.grid, cells.nodes) + carried


@np.errstate(over="ignore", invalid="ignore")  # means of 1e308, masked keys
def surely_by_itself(m: HostPerKey, s: HostPerKey) -> bool:
    """Is every key by itself cheaper than the smallest grid for keys of different deviations? Found
    out without sorting them into cells."""
    if m.size > _NEVER_MORE or s.max() - s.min() <= _ONE_STRIP:
        return False
    count = most_nodes(m, s)
    if count is None:
        return False
    work = float(nodes_effort(STEP, s).sum()) * count
    return bool(work <= _SMALLEST_GRID)


def grid_fits(cells: Cells) -> bool:
    """Is the table small enough to be held at once?"""
    wanted = 8 * _TABLES * cells.nodes.u.size * cells.grid.size
    return wanted <= _MEMORY + _MEMORY_PER_KEY * int(cells.count.sum())


def grid_pays(cells: Cells) -> bool:
    """Is the grid possible, and cheaper than every key by itself?"""
    return grid_fits(cells) and bool(by_grid(cells) < by_itself(cells))
