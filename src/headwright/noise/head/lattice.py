"""The transform of many logits on one lattice of points.

The points x + s g are put on one finer lattice, where the expectation over g is a weighted sum over
neighbours: as many exponentials as points, for all logits together, and one product of matrices.
Deviations for which that does not pay are transformed point by point.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from headwright.noise.head.transform import (
    LARGEST_EXPONENT,
    Transform,
    effort,
    expectations,
    logarithmic,
)
from headwright.types import Bool, Float, HostPerKey

# Deviations between these pay for a lattice.
NARROW = 0.05
_WIDE = 8.0
# Steps of the lattice and how far it goes, as in the rule of `transform`: in deviations, and at
# most.
_PER_DEVIATION = 0.4
_LONGEST = 0.2
_REACH = 8.5
_BLOCK = 1 << 18  # points x their neighbours on the lattice in work at once
_LOW = -1.0  # points below it are low: 1 - phi is the smaller one
_MULTIPLY = 1 / 30  # what a product costs beside an exponential

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
        found = _on_lattice(start, step, count, s[together], top=top)
        gap[:, together] = found[0].T
        a[:, :, together] = found[1].transpose(0, 2, 1)
    return logarithmic(gap, a)


def _on_lattice(start: float, step: float, count: int, s: HostPerKey, *, top: int) -> KeyByKey:
    """Gap and a_0 .. a_top, key after key, at x = start + step * (0 .. count - 1)."""
    finer, left, right = neighbours(step, s)
    h = step / finer
    apart = h * np.arange(-left, right + 1)
    weight = _weights(apart[:, None], s).T
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
    finer, left, right = neighbours(step, together)
    products = 4 * (left + right) * float(together.size)
    return cost + finer + _MULTIPLY * products


def _one_by_one(s: HostPerKey) -> Bool[np.ndarray, "n"]:
    """Too narrow or too wide for a lattice."""
    return (s < NARROW) | (s >= _WIDE)


def neighbours(step: float, s: HostPerKey) -> tuple[int, int, int]:
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
    e = np.exp(np.minimum(y, LARGEST_EXPONENT))
    powers = np.cumprod([np.exp(-e), *[e] * top], axis=0)
    gap = -np.expm1(-e)
    return np.concatenate([gap[None, :], powers])
