"""A strip of the grid on graded nodes, which lie anywhere: ln(-psi), ln r and ln w, nearly straight
lines, are interpolated, and every entry is stored."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from headwright.noise.head.lattice import lattice_transform
from headwright.noise.many.series import lagrange
from headwright.types import Float, HostPerNode

# Nodes are served as far as -psi to the right is below this, and w to the left above that.
_GONE = 600.0
_TINY = 1e-290
# E^{-2 x} and a normal density are below `_TINY` beyond these.
_LEFT = 340.0
_BOTH = 37.0
# Table points per lattice interval, and how many of them an interpolation takes.
FINER = 2
AROUND = 12

Lattice = Float[np.ndarray, "j"]
Deviations = Float[np.ndarray, "c"]
StripTable = Float[np.ndarray, "3 u j c"]


def graded(u: HostPerNode, m: Lattice, s: Deviations) -> StripTable:
    """Every entry of a strip off the lattice: tabulated `FINER` times as finely as m is and
    interpolated, with the same weights for all m. All three functions are zero where they are
    negligible, to the left; where phi underflows, to the right, no weight is left: psi is -`_GONE`
    there. So the table is as long as the strip's keys reach, whatever the range of u."""
    out = np.zeros((3, u.size, m.size, s.size))
    step = (m[1] - m[0]) / FINER
    here = served(u, m, s)
    out[0, here.stop :] = -_GONE
    if here.start == here.stop:
        return out

    # Counted from the right end, where u is not large: a table from its left end would begin at
    # -1e100.
    end = u[here][-1]
    place = (u[here] - end) / step
    at = np.floor(place).astype(int)
    before = AROUND // 2 - 1
    around = np.arange(AROUND) - float(before)
    weights = lagrange(place - at, around)
    rows = at[:, None] - at[0]
    index = rows + FINER * np.arange(m.size)
    start = end + m[0] + step * (at[0] - before)
    count = int(index.max()) + AROUND
    t = lattice_transform(start, step, count, s=s)
    for c in range(s.size):
        functions = np.stack([-t.psi[:, c], t.r[:, c], t.w[:, c]])
        out[:, here, :, c] = _interpolated(functions, index, weights)
    return out


def _interpolated(functions: np.ndarray, index: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """psi, r and w from -psi, r and w on the table, at the `AROUND` points from each index on."""
    logs = np.log(np.maximum(functions, _TINY))
    around = sliding_window_view(logs, AROUND, axis=1)[:, index]
    # Both conditions hold for all points up to some place.
    alive = functions[0] < _GONE
    unseen = np.count_nonzero(alive & (functions[2] <= _TINY))
    reach = np.count_nonzero(alive)

    right = index + AROUND > reach
    inside = (index >= unseen) & ~right
    logs = (around @ weights[:, :, None])[..., 0]
    found = np.where(inside, np.exp(logs), 0.0)
    found[0][right] = _GONE
    found[0] *= -1
    return found


def served(u: HostPerNode, m: Lattice, s: Deviations) -> slice:
    """The nodes at which some key of the strip is to be served. To the left of them w is below
    `_TINY`, as e^{2x} or as a normal density; to the right of them -psi is above `_GONE`."""
    widest = s.max()
    left = -(_LEFT + _BOTH * widest) - m[-1]
    right = np.log(_GONE) + _BOTH * widest - m[0]
    return slice(*np.searchsorted(u, [left, right]))
