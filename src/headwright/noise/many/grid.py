"""Functions of a key's (m, s), known on a small grid and interpolated to every key.

Deviations are cut into strips with Chebyshev nodes; means lie on a lattice whose spacing is a
multiple, or half, of the step in u, so that psi(u_k + m_j, s) for all k and j is one short table
read with different offsets. A cell is one strip times one lattice interval; its keys read the
`ORDER` lattice points around them and the nodes of their strip.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.polynomial.chebyshev import cheb2poly, chebvander
from scipy.special import comb, factorial

from headwright.noise.head.nodes import Nodes
from headwright.noise.head.transform import lattice_effort, lattice_transform
from headwright.types import Float, Int

ORDER = 14  # lattice points per key in m
_WIDTH = 0.25  # of a strip of deviations near zero; strips widen like s / 5
_CHEBYSHEV = 13  # nodes per strip
# Below it ln phi changes faster with m: it has singularities not far from the real axis
_LIVELY = 0.75
_ALIKE = 1.25  # how many more strips may there be so that all have one width
# -psi to the right and w to the left: as far as graded nodes are served
_GONE, _TINY = 600.0, 1e-290
_LEFT, _BOTH = 340.0, 37.0  # e^{-2 x} and a normal density at these are below `_TINY`
_READ, _INTERPOLATED = 1.0, 14.0  # an entry of the table on the lattice and off it, in exponentials
_FINER, _AROUND = 2, 12  # table points per lattice interval there, and those an interpolation takes


@dataclass(frozen=True)
class Grid:
    """Strips of deviations (`edges`) and, per strip, lattice spacing and the first lattice point of
    its keys."""

    edges: Float[np.ndarray, "strips_plus_1"]
    spacing: Float[np.ndarray, "strips"]
    first: Int[np.ndarray, "strips"]
    count: Int[np.ndarray, "strips"]  # lattice points
    nodes: int  # Chebyshev nodes per strip

    @property
    def offsets(self) -> Int[np.ndarray, "strips_plus_1"]:
        """Where the columns of each strip begin; a column is (lattice point, Chebyshev node)."""
        return np.concatenate([[0], np.cumsum(self.count * self.nodes)])

    @property
    def size(self) -> int:
        return int(self.offsets[-1])

    def deviations(self, strip: int) -> Float[np.ndarray, "c"]:
        low, high = self.edges[strip], self.edges[strip + 1]
        return np.maximum(
            0.5 * (low + high) + 0.5 * (high - low) * _chebyshev_nodes(self.nodes), 0.0
        )

    def lattice(self, strip: int) -> Float[np.ndarray, "j"]:
        return self.spacing[strip] * (self.first[strip] + np.arange(self.count[strip]))


def strips(low: float, high: float, step: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Edges and lattice spacings of strips that cover the deviations, and the Chebyshev nodes of
    each."""
    if high - low <= 1e-12 * max(high, 1e-3):
        return np.array([low, np.nextafter(high, np.inf)]), step * _multiple(np.array([low])), 1
    edges = [low]
    while edges[-1] < high:
        edges.append(edges[-1] + _WIDTH * max(1.0, edges[-1] / 1.3))
    count = int(np.ceil((high - low) / _WIDTH))
    if count <= _ALIKE * (len(edges) - 1):
        # Strips all alike: keys find theirs without a search
        edges = np.linspace(low, high, count + 1)
    edges = np.array(edges)
    edges = low + (edges - low) * (high - low) / (edges[-1] - low)
    edges[-1] = np.nextafter(high, np.inf)
    return edges, step * _multiple(edges[:-1]), _CHEBYSHEV


def _multiple(s: Float[np.ndarray, "strips"]) -> Float[np.ndarray, "strips"]:
    """Steps in u between lattice points for deviations of at least s. With many keys the tail of
    each decides, which falls by a factor of e over a fifth of s."""
    return np.where(s < _LIVELY, 0.5, np.maximum(1.0, np.floor(s / 3)))


def tables(grid: Grid, nodes: Nodes) -> Float[np.ndarray, "3 u g"]:
    """psi, r and w at every node u for every column of the grid."""
    out = np.empty((3, nodes.u.size, grid.size))
    for strip in np.flatnonzero(grid.count).tolist():
        start, m, s = int(grid.offsets[strip]), grid.lattice(strip), grid.deviations(strip)
        block = out[:, :, start : start + m.size * grid.nodes].reshape(
            3, nodes.u.size, m.size, grid.nodes
        )
        if nodes.uniform:
            finest = min(nodes.step, grid.spacing[strip])
            per_u, per_m = round(nodes.step / finest), round(grid.spacing[strip] / finest)
            at = per_u * np.arange(nodes.u.size)[:, None] + per_m * np.arange(m.size)
            t = lattice_transform(nodes.u[0] + m[0], finest, int(at[-1, -1]) + 1, s=s)
            for f, values in enumerate((t.psi, t.r, t.w)):
                block[f] = np.take(values, at, axis=0)
        else:
            block[:] = _graded(nodes.u, m, s)
    return out


def _graded(
    u: Float[np.ndarray, "u"], m: Float[np.ndarray, "j"], s: Float[np.ndarray, "c"]
) -> np.ndarray:
    """The same off the lattice, (3, u, j, c): ln(-psi), ln r and ln w, nearly straight lines, are
    tabulated `_FINER` times as finely as m is and interpolated, with the same weights for all m.
    All three are zero where they are negligible, to the left; where phi underflows, to the right,
    no weight is left: psi is -`_GONE` there. So the table is as long as the strip's keys reach,
    whatever the range of u."""
    out = np.zeros((3, u.size, m.size, s.size))
    step = (m[1] - m[0]) / _FINER
    here = _rows(u, m, s)
    out[0, here.stop :] = -_GONE
    if here.start == here.stop:
        return out
    # Counted from the right end, where u is not large: a table from its left end would begin at
    # -1e100.
    end = u[here][-1]
    place = (u[here] - end) / step
    at = np.floor(place).astype(int)
    weights = _lagrange(place - at, np.arange(_AROUND) - (_AROUND // 2 - 1.0))
    index = at[:, None] - at[0] + _FINER * np.arange(m.size)
    start = end + m[0] + step * (at[0] - (_AROUND // 2 - 1))
    t = lattice_transform(start, step, int(index.max()) + _AROUND, s=s)
    for c in range(s.size):
        f = np.stack([-t.psi[:, c], t.r[:, c], t.w[:, c]])
        logs = np.log(np.maximum(f, _TINY))
        around = sliding_window_view(logs, _AROUND, axis=1)[:, index]
        # Both conditions hold for all points up to some place.
        unseen, reach = (
            np.count_nonzero((f[0] < _GONE) & holds) for holds in (f[2] <= _TINY, True)
        )
        inside, right = (index >= unseen) & (index + _AROUND <= reach), index + _AROUND > reach
        found = np.where(inside, np.exp((around @ weights[:, :, None])[..., 0]), 0.0)
        found[0][right] = _GONE
        found[0] *= -1
        out[:, here, :, c] = found
    return out


def _rows(u: Float[np.ndarray, "u"], m: Float[np.ndarray, "j"], s: Float[np.ndarray, "c"]) -> slice:
    """The nodes at which some key of the strip is to be served. To the left of them w is below
    `_TINY`, as e^{2x} or as a normal density; to the right of them -psi is above `_GONE`."""
    left = -(_LEFT + _BOTH * s.max()) - m[-1]
    right = np.log(_GONE) + _BOTH * s.max() - m[0]
    return slice(*np.searchsorted(u, [left, right]))


def table_cost(grid: Grid, nodes: Nodes) -> float:
    """What `tables` costs, in exponentials."""
    cost = 0.0
    for strip in np.flatnonzero(grid.count).tolist():
        s, m, step = grid.deviations(strip), grid.lattice(strip), float(grid.spacing[strip])
        if nodes.uniform:
            step = min(nodes.step, step)
            u, entry = nodes.u, _READ
        else:
            step /= _FINER
            u, entry = nodes.u[_rows(nodes.u, m, s)], _INTERPOLATED
        length = float(np.ptp(u)) if u.size else 0.0
        points = (length + m[-1] - m[0]) / step + _AROUND
        cost += points * lattice_effort(step, s) + entry * u.size * m.size * s.size
    return cost


def _lagrange(
    x: Float[np.ndarray, "u"], points: Float[np.ndarray, "p"]
) -> Float[np.ndarray, "u p"]:
    """l_p(x) = prod_{o != p} (x - o) / (p - o)"""
    others = ~np.eye(points.size, dtype=bool)
    return np.stack(
        [
            ((x[:, None] - points[o]) / (points[p] - points[o])).prod(axis=1)
            for p, o in enumerate(others)
        ],
        1,
    )


@lru_cache(maxsize=8)
def to_chebyshev(nodes: int) -> tuple[Float[np.ndarray, "a l"], Float[np.ndarray, "b c"]]:
    """Matrices from values on a cell's lattice points (and on the nodes of its strip) to Chebyshev
    coefficients along m (along s), in coordinates that run from -1 to 1 over the cell."""
    points = 2.0 * np.arange(-ORDER // 2 + 1, ORDER // 2 + 1) - 1.0
    along = _transform(ORDER) @ _lagrange(_chebyshev_nodes(ORDER), points)
    # The last two coefficients, far below the rounding of the others, are c_k = d_k / (k! 2^(2k-1))
    # with the k-th difference d_k (the mean of the two that there are of the last but one).
    for k in (ORDER - 1, ORDER - 2):
        difference = (
            (-1.0) ** (k - np.arange(k + 1))
            * comb(k, np.arange(k + 1))
            / (factorial(k) * 2.0 ** (2 * k - 1))
        )
        shifts = [np.pad(difference, (left, ORDER - 1 - k - left)) for left in range(ORDER - k)]
        along[k] = np.mean(shifts, axis=0)
    return along, _transform(nodes)


@lru_cache(maxsize=8)
def to_pieces(order: int, split: int) -> Float[np.ndarray, "i a b"]:
    """T_b on [-1, 1], cut into `split` equal pieces, as a series `sum_a [i, a, b] T_a` in the
    coordinate of piece i."""
    x = (_chebyshev_nodes(order) + 2.0 * np.arange(split)[:, None] + 1.0 - split) / split
    return np.tril(np.ones((order, order))).T * (_transform(order) @ chebvander(x, order - 1))


@lru_cache(maxsize=16)
def to_powers(count: int) -> Float[np.ndarray, "z a"]:
    """T_a(2 x) as a sum of powers, `sum_z [z, a] x^z`."""
    columns = (cheb2poly(row) for row in np.eye(count))
    return 2.0 ** np.arange(count)[:, None] * np.stack(
        [np.pad(c, (0, count - c.size)) for c in columns], axis=1
    )


def _chebyshev_nodes(count: int) -> Float[np.ndarray, "c"]:
    return -np.cos((np.arange(count) + 0.5) * np.pi / count)


def _transform(count: int) -> Float[np.ndarray, "c c"]:
    """Values at the Chebyshev nodes to coefficients: `(2 - [k = 0]) / count T_k(x_c)`."""
    matrix = chebvander(_chebyshev_nodes(count), count - 1).T * (2.0 / count)
    matrix[0] *= 0.5
    return matrix
