"""The transform of many logits on a lattice of points.

The points x + s g are put on one finer lattice, where the expectation over g is a weighted sum over
neighbours: as many exponentials as points, for all logits together, and one product of matrices.
Their means may lie anywhere, as the trapezoid rule in g does not ask where it begins. Deviations
for which that does not pay are transformed point by point.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from headwright.noise.head.transform import (
    Transform,
    effort,
    expectations,
    logarithmic,
    transform,
)
from headwright.types import Bool, Float, HostPerKey, HostPerNode, Int

# Deviations between these pay for a lattice.
_NARROW = 0.05
_WIDE = 8.0
# Steps of the lattice and how far it goes, as in the rule of `transform`: in deviations, and at
# most.
_PER_DEVIATION = 0.4
_LONGEST = 0.2
_REACH = 8.5
_BLOCK = 1 << 18  # points x their neighbours on the lattice in work at once
_LOW = -1.0  # points below it are low: 1 - phi is the smaller one
_SEVERAL = 8  # keys for which a lattice of their own pays
_TOGETHER = 128  # keys that share one: their tables stay in cache
_ALIKE = 2.0  # their largest deviation over the smallest: the lattice serves both
_FAR = 150.0  # keys of one lattice are no further apart: it has no more than twice their nodes
# What a product costs beside an exponential: of a few deviations, and of many keys together.
_MULTIPLY = 1 / 30
_TOGETHER_MULTIPLY = 1 / 50
_LARGEST_EXPONENT = 300.0  # of e^y, see `transform`

Numbers = Int[np.ndarray, "_k"]  # of keys
# Gap, and a_0 .. a_top, key after key.
KeyByKey = tuple[Float[np.ndarray, "n x"], Float[np.ndarray, "k n x"]]


def lattice_transform(
    start: float, step: float, count: int, *, s: HostPerKey, top: int = 2
) -> Transform:
    """psi and ratios at x = start + step * (0 .. count - 1)."""
    gap = np.empty((count, s.size))
    a = np.empty((top + 1, count, s.size))
    single = _one_by_one(s)
    together = ~single

    if single.any():
        points = start + step * np.arange(count)
        x = np.repeat(points[:, None], single.sum(), axis=1)
        some_gap, some_a = expectations(x, s[single], top=top)
        gap[:, single] = some_gap
        a[:, :, single] = some_a
    if together.any():
        found = _on_lattice(start, step, count, s[together], offset=np.zeros(1), top=top)
        gap[:, together] = found[0].T
        a[:, :, together] = found[1].transpose(0, 2, 1)
    return logarithmic(gap, a)


def transform_on_nodes(
    u: HostPerNode, step: float, m: HostPerKey, s: HostPerKey, *, top: int = 2
) -> Transform:
    """psi and ratios at `u[k] + m[i]` for nodes u at equal distances."""
    groups, alone = _groups(m, s)
    if not groups:
        return transform(u[:, None] + m, s, top=top)
    psi = np.empty((m.size, u.size))
    ratios = np.empty((top, m.size, u.size))

    def store(keys: Numbers, t: Transform) -> None:
        """The rows of some keys."""
        psi[keys] = t.psi
        for k, ratio in enumerate(t.ratios):
            ratios[k, keys] = ratio

    for keys in groups:
        store(keys, logarithmic(*_on_nodes(u, step, m[keys], s[keys], top)))
    if alone.size:
        t = transform(u[:, None] + m[alone], s[alone], top=top)
        store(alone, Transform(t.psi.T, tuple(ratio.T for ratio in t.ratios)))
    return Transform(psi.T, tuple(ratio.T for ratio in ratios))


def _groups(m: HostPerKey, s: HostPerKey) -> tuple[list[Numbers], Numbers]:
    """Groups of keys of about one deviation, many enough to share a lattice and not too far from
    each other; and the keys that are left alone."""
    alone = [np.flatnonzero(_one_by_one(s))]
    order = np.argsort(s)
    sorted_s = s[order]
    begin, last = np.searchsorted(sorted_s, [_NARROW, _WIDE])
    groups = []
    while begin < last:
        alike = np.searchsorted(sorted_s[:last], _ALIKE * sorted_s[begin], side="right")
        end = min(int(alike), begin + _TOGETHER)
        mine = order[begin:end]
        near = m[mine] > m[mine].max() - _FAR
        if np.count_nonzero(near) < _SEVERAL:
            alone.append(mine)
        else:
            groups.append(mine[near])
            alone.append(mine[~near])
        begin = end
    return groups, np.concatenate(alone)


def _on_nodes(u: HostPerNode, step: float, m: HostPerKey, s: HostPerKey, top: int) -> KeyByKey:
    """Each key has a window of the lattice, from its mean's own place in a step."""
    lowest = m.min()
    steps = np.floor((m - lowest) / step).astype(int)
    offset = m - lowest - step * steps
    count = u.size + int(steps.max())
    gap, a = _on_lattice(u[0] + lowest, step, count, s, offset=offset, top=top)
    keys = np.arange(m.size)
    gap = sliding_window_view(gap, u.size, axis=1)[keys, steps]
    a = sliding_window_view(a, u.size, axis=2)[:, keys, steps]
    return gap, a


def _on_lattice(
    start: float, step: float, count: int, s: HostPerKey, *, offset: np.ndarray, top: int
) -> KeyByKey:
    """Gap and a_0 .. a_top, key after key, at x = start + offset + step * (0 .. count - 1), 0 <=
    offset <= step."""
    finer, left, right = _neighbours(step, s)
    right = right + (finer if offset.any() else 0)
    h = step / finer
    apart = h * np.arange(-left, right + 1)
    weight = _weights(apart[:, None] - offset, s).T
    last = finer * (count - 1) + right
    y = start + h * np.arange(-left, last + 1)
    functions = sliding_window_view(_functions(y, top), apart.size, axis=1)[:, ::finer]

    # Of 1 - phi, for low points, and phi, for high ones, the smaller one is added up.
    low = int(np.clip((_LOW - start) / step, 0, count))
    rows = max(1, _BLOCK // apart.size)
    a = np.empty((top + 1, s.size, count))
    for begin, end, smaller in ((0, low, 0), (low, count, 1)):
        for first in range(begin, end, rows):
            part = slice(first, min(first + rows, end))
            for k, function in enumerate([smaller, *range(2, top + 2)]):
                around = np.ascontiguousarray(functions[function, part])
                np.matmul(weight, around.T, out=a[k, :, part])
    gap = 1.0 - a[0]
    a[0, :, :low], gap[:, :low] = gap[:, :low].copy(), a[0, :, :low].copy()
    return gap, a


def lattice_effort(step: float, s: HostPerKey) -> float:
    """What one point of `lattice_transform` costs for all deviations together, in exponentials."""
    single = _one_by_one(s)
    cost = float(effort(s[single]).sum())
    if single.all():
        return cost
    together = s[~single]
    finer, left, right = _neighbours(step, together)
    products = 4 * (left + right) * float(together.size)
    return cost + finer + _MULTIPLY * products


def nodes_effort(step: float, s: HostPerKey) -> HostPerKey:
    """What one node of `transform_on_nodes` costs for each key, in exponentials."""
    cost = effort(s)
    pays = ~_one_by_one(s)
    some = s[pays]
    finest = np.minimum(_PER_DEVIATION * some, _LONGEST)
    h = step / np.ceil(step / finest)
    neighbours = (2 * _REACH + some) * some / h
    cost[pays] = 4 * _TOGETHER_MULTIPLY * neighbours
    return cost


def _one_by_one(s: HostPerKey) -> Bool[np.ndarray, "n"]:
    """Too narrow or too wide for a lattice."""
    return (s < _NARROW) | (s >= _WIDE)


def _neighbours(step: float, s: HostPerKey) -> tuple[int, int, int]:
    """How much finer than `step` the lattice of x + s g is, and its points to the left and to the
    right of x: steps no larger than in the rule of `transform`, and as far as it goes."""
    widest = s.max()
    finest = min(_PER_DEVIATION * s.min(), _LONGEST)
    finer = int(np.ceil(step / finest))
    left = int(np.ceil(_REACH * widest * finer / step))
    reach = _REACH + min(widest, 3.0)
    right = int(np.ceil(reach * widest * finer / step))
    return finer, left, right


def _weights(apart: Float[np.ndarray, "w _k"], s: HostPerKey) -> Float[np.ndarray, "w k"]:
    """N(g) of the neighbours at these distances s g, for each deviation."""
    weight = np.exp(-0.5 * (apart / s) ** 2)
    return weight / weight.sum(axis=0)


def _functions(y: Float[np.ndarray, "y"], top: int) -> Float[np.ndarray, "f y"]:
    """-expm1(-e^y), and e^{ky} exp(-e^y) for k = 0 .. top"""
    e = np.exp(np.minimum(y, _LARGEST_EXPONENT))
    powers = np.cumprod([np.exp(-e), *[e] * top], axis=0)
    gap = -np.expm1(-e)
    return np.concatenate([gap[None, :], powers])
