"""psi, r and w at every node u for every column of a grid.

On uniform nodes u + m lies on one lattice, and the table is read off it. Graded nodes lie anywhere:
there ln(-psi), ln r and ln w, nearly straight lines, are interpolated.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from headwright.noise.head.lattice import lattice_effort, lattice_transform
from headwright.noise.head.nodes import Nodes
from headwright.noise.many.blocks import blocks, in_threads
from headwright.noise.many.grid import Grid
from headwright.noise.many.series import lagrange
from headwright.types import Float, HostPerNode

# Graded nodes are served as far as -psi to the right is below this, and w to the left above that.
_GONE = 600.0
_TINY = 1e-290
# E^{-2 x} and a normal density are below `_TINY` beyond these.
_LEFT = 340.0
_BOTH = 37.0
# Table points per lattice interval on graded nodes, and how many of them an interpolation takes.
_FINER = 2
_AROUND = 12
# What an entry of the table costs on the lattice and off it, in exponentials.
_READ = 1.0
_INTERPOLATED = 14.0
_PART = 1 << 19  # entries of the table given to a thread, about

Lattice = Float[np.ndarray, "j"]
Deviations = Float[np.ndarray, "c"]
Table = Float[np.ndarray, "3 u g"]
StripTable = Float[np.ndarray, "3 u j c"]


def tables(grid: Grid, nodes: Nodes) -> Table:
    """psi, r and w at every node u for every column of the grid."""
    out = np.empty((3, nodes.u.size, grid.size))
    used = grid.used

    def fill(part: slice) -> None:
        """Some strips."""
        for strip in used[part]:
            m = grid.lattice(strip)
            s = grid.deviations(strip)
            start = int(grid.offsets[strip])
            columns = out[:, :, start : start + m.size * grid.chebyshev]
            block = columns.reshape(3, nodes.u.size, m.size, grid.chebyshev)
            if nodes.uniform:
                _read_off(block, nodes, m, s, float(grid.spacing[strip]))
            else:
                block[:] = _graded(nodes.u, m, s)

    strips = max(1, _PART * len(used) // out.size)
    list(in_threads(fill, blocks(len(used), strips, out), out))
    return out


def _read_off(block: StripTable, nodes: Nodes, m: Lattice, s: Deviations, spacing: float) -> None:
    """Fill a block of the table from one lattice that u and m have in common."""
    finest = min(nodes.step, spacing)
    per_u = round(nodes.step / finest)
    per_m = round(spacing / finest)
    count = per_u * (nodes.u.size - 1) + per_m * (m.size - 1) + 1
    t = lattice_transform(nodes.u[0] + m[0], finest, count, s=s)
    for row, function in enumerate((t.psi, t.r, t.w)):
        # At node k and lattice point j, what it is at point per_u k + per_m j.
        along, across = function.strides
        steps = (per_u * along, per_m * along, across)
        block[row] = as_strided(function, block.shape[1:], steps, writeable=False)


def _graded(u: HostPerNode, m: Lattice, s: Deviations) -> StripTable:
    """The same off the lattice: tabulated `_FINER` times as finely as m is and interpolated, with
    the same weights for all m. All three functions are zero where they are negligible, to the left;
    where phi underflows, to the right, no weight is left: psi is -`_GONE` there. So the table is as
    long as the strip's keys reach, whatever the range of u."""
    out = np.zeros((3, u.size, m.size, s.size))
    step = (m[1] - m[0]) / _FINER
    here = _served(u, m, s)
    out[0, here.stop :] = -_GONE
    if here.start == here.stop:
        return out

    # Counted from the right end, where u is not large: a table from its left end would begin at
    # -1e100.
    end = u[here][-1]
    place = (u[here] - end) / step
    at = np.floor(place).astype(int)
    before = _AROUND // 2 - 1
    around = np.arange(_AROUND) - float(before)
    weights = lagrange(place - at, around)
    rows = at[:, None] - at[0]
    index = rows + _FINER * np.arange(m.size)
    start = end + m[0] + step * (at[0] - before)
    count = int(index.max()) + _AROUND
    t = lattice_transform(start, step, count, s=s)
    for c in range(s.size):
        functions = np.stack([-t.psi[:, c], t.r[:, c], t.w[:, c]])
        out[:, here, :, c] = _interpolated(functions, index, weights)
    return out


def _interpolated(functions: np.ndarray, index: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """psi, r and w from -psi, r and w on the table, at the `_AROUND` points from each index on."""
    logs = np.log(np.maximum(functions, _TINY))
    around = sliding_window_view(logs, _AROUND, axis=1)[:, index]
    # Both conditions hold for all points up to some place.
    alive = functions[0] < _GONE
    unseen = np.count_nonzero(alive & (functions[2] <= _TINY))
    reach = np.count_nonzero(alive)

    right = index + _AROUND > reach
    inside = (index >= unseen) & ~right
    logs = (around @ weights[:, :, None])[..., 0]
    found = np.where(inside, np.exp(logs), 0.0)
    found[0][right] = _GONE
    found[0] *= -1
    return found


def _served(u: HostPerNode, m: Lattice, s: Deviations) -> slice:
    """The nodes at which some key of the strip is to be served. To the left of them w is below
    `_TINY`, as e^{2x} or as a normal density; to the right of them -psi is above `_GONE`."""
    widest = s.max()
    left = -(_LEFT + _BOTH * widest) - m[-1]
    right = np.log(_GONE) + _BOTH * widest - m[0]
    return slice(*np.searchsorted(u, [left, right]))


def table_cost(grid: Grid, nodes: Nodes) -> float:
    """What `tables` costs, in exponentials."""
    cost = 0.0
    for strip in grid.used:
        s = grid.deviations(strip)
        m = grid.lattice(strip)
        step = float(grid.spacing[strip])
        u = nodes.u
        entry = _READ
        if nodes.uniform:
            step = min(nodes.step, step)
        else:
            step /= _FINER
            u = u[_served(u, m, s)]
            entry = _INTERPOLATED
        length = float(np.ptp(u)) if u.size else 0.0
        whole = length + m[-1] - m[0]
        points = whole / step + _AROUND
        cost += points * lattice_effort(step, s)
        cost += entry * u.size * m.size * s.size
    return cost
