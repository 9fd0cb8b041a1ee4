"""The transform of one logit on a lattice of points x, for several deviations at once.

The points x + s g are put on one finer lattice, where the expectation over g is a weighted sum over
neighbours: as many exponentials as points, for all s together. Deviations for which that does not
pay are transformed point by point.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from headwright.noise.head.transform import Transform, effort, expectations, logarithmic
from headwright.types import Bool, Float, HostPerKey

# Deviations between these pay for a lattice.
_NARROW = 0.05
_WIDE = 8.0
_BLOCK = 1 << 20  # points x their neighbours on the lattice in work at once
_MULTIPLY = 1 / 30  # what a product costs beside an exponential
_LARGEST_EXPONENT = 300.0  # of e^y, see `transform`


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
        finer, left, right = _neighbours(step, s[together])
        h = step / finer
        apart = h * np.arange(-left, right + 1)
        weight = _weights(apart, s[together])
        last = finer * (count - 1) + right
        y = start + h * np.arange(-left, last + 1)
        around = sliding_window_view(_functions(y, top), len(weight), axis=1)
        around = around[:, ::finer]
        rows = max(1, _BLOCK // len(weight))
        for first in range(0, count, rows):
            part = slice(first, first + rows)
            found = np.ascontiguousarray(around[:, part]) @ weight
            gap[part, together] = found[0]
            a[:, part, together] = found[1:]
    return logarithmic(gap, a)


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


def _one_by_one(s: HostPerKey) -> Bool[np.ndarray, "n"]:
    """Too narrow or too wide for a lattice."""
    return (s < _NARROW) | (s > _WIDE)


def _neighbours(step: float, s: HostPerKey) -> tuple[int, int, int]:
    """How much finer than `step` the lattice of x + s g is, and its points to the left and to the
    right of x: steps no larger than in the rule of `transform`, and as far as it goes."""
    widest = s.max()
    finest = min(0.4 * s.min(), 0.2)
    finer = int(np.ceil(step / finest))
    left = int(np.ceil(9.5 * widest * finer / step))
    reach = 9.5 + min(widest, 3.0)
    right = int(np.ceil(reach * widest * finer / step))
    return finer, left, right


def _weights(apart: Float[np.ndarray, "w"], s: HostPerKey) -> Float[np.ndarray, "w n"]:
    """N(g) of the neighbours at these distances s g, for each deviation."""
    g = apart[:, None] / s
    weight = np.exp(-0.5 * g**2)
    return weight / weight.sum(axis=0)


def _functions(y: Float[np.ndarray, "y"], top: int) -> Float[np.ndarray, "f y"]:
    """-expm1(-e^y), and e^{ky} exp(-e^y) for k = 0 .. top"""
    e = np.exp(np.minimum(y, _LARGEST_EXPONENT))
    powers = np.cumprod([np.exp(-e), *[e] * top], axis=0)
    gap = -np.expm1(-e)
    return np.concatenate([gap[None, :], powers])
