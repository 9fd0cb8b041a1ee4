"""The distinct laws among the logits of one head: keys that share a law are transformed once.

Rounding alone makes laws differ that are meant to be equal (orthonormal keys that are not unit
vectors), so laws within `budget.SAME_LAW` of each other are taken for one. A mean moved by e and a
variance moved by f change the moments as rounding of the logits does (see `rounding`): E[c] by at
most 2 eta e^{2 eta}, E[c c'] by six times as much, where eta is the largest e + f / 2. `moved` is
the part behind the 2, and it is added to the stated error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headwright.noise import budget
from headwright.noise.head.lattice import transform_on_nodes
from headwright.noise.head.nodes import Nodes, coarse, nodes
from headwright.noise.head.transform import Transform, transform
from headwright.types import Float, HostPerKey, HostPerLaw, HostValues, Int

# Numbers of one table (nodes x keys) in work at once; a dozen tables of 4 MB live at the same time.
_BLOCK = 1 << 19
# Beyond this size doubles are further apart than laws that may be taken for one.
_COARSE = 1e3


@dataclass(frozen=True)
class Laws:
    """The distinct laws among the keys: how many keys each has, `which` law each key has, and how
    far that `moved` the keys."""

    m: HostPerLaw
    s: HostPerLaw
    count: HostPerLaw
    which: Int[np.ndarray, "n"]
    moved: float

    def nodes(self) -> Nodes:
        """Where to integrate for these keys."""
        return nodes(*coarse(self.m, self.s, self.count))

    def added(self, rows: HostValues) -> Float[np.ndarray, "k v"]:
        """Rows of the keys, added up law by law."""
        order = np.argsort(self.which, kind="stable")
        first = np.cumsum(self.count) - self.count
        return np.add.reduceat(rows[order], first.astype(int))

    def blocks(self, grid: Nodes, top: int) -> Iterator[tuple[slice, Transform]]:
        """The transform on all nodes, some rows of them at a time."""
        rows = max(1, _BLOCK // self.m.size)
        for begin in range(0, grid.u.size, rows):
            part = slice(begin, min(begin + rows, grid.u.size))
            u = grid.u[part]
            if grid.uniform:
                yield part, transform_on_nodes(u, grid.step, self.m, self.s, top=top)
            else:
                yield part, transform(u[:, None] + self.m, self.s, top=top)


@np.errstate(over="ignore", invalid="ignore")  # deviations of 1e200, means of minus infinity
def distinct(m: HostPerKey, s: HostPerKey) -> Laws:
    """Keys of equal mean and deviation, up to rounding, share one law."""
    variances = s * s
    means = np.where(np.abs(m) < _COARSE, _rounded(m, budget.SAME_LAW), m)
    narrow = np.sqrt(_rounded(variances, 2 * budget.SAME_LAW))
    deviations = np.where(variances < _COARSE, narrow, s)
    _, first, which, count = np.unique(
        means + 1j * deviations, return_index=True, return_inverse=True, return_counts=True
    )
    moved = 0.0
    if first.size < m.size:
        leader = first[which]
        eta = np.max(_apart(m, leader) + _apart(variances, leader) / 2)
        moved = float(eta * np.exp(2 * eta))
    return Laws(m[first], s[first], count.astype(float), which, moved)


def _rounded(x: HostPerKey, grain: float) -> HostPerKey:
    """To the nearest multiple."""
    return np.rint(x / grain) * grain


def _apart(x: HostPerKey, leader: Int[np.ndarray, "n"]) -> HostPerKey:
    """How far each entry is from its leader's; two infinite ones are equal."""
    return np.where(x == x[leader], 0.0, np.abs(x - x[leader]))
