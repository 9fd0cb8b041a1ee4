"""psi, r and w of some logits on one lattice of points, by an accelerator: `head.lattice` in few
launches.

All terms of a sum over neighbours are copied beside each other, which would be too much for a
processor's cache, and both 1 - phi and phi are added up, so that no point is treated differently
from the next.
"""

from __future__ import annotations

from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import like
from headwright.noise.head.lattice import NARROW, neighbours
from headwright.noise.head.transform import (
    LARGEST_EXPONENT,
    SMALLEST_PHI,
    class_of,
    normal_rule,
)
from headwright.types import Array, Float, PerKey

Deviations = Float[np.ndarray, "c"]


def device_transform(
    start: float, step: float, count: int, *, s: Deviations, keys: PerKey
) -> Float[Array, "3 x c"]:
    """psi, r and w at x = start + step * (0 .. count - 1), beside the keys."""
    point_by_point = s.min() < NARROW
    expectations = _point_by_point if point_by_point else _on_lattice
    gap, phi, a_1, a_2 = expectations(start, step, count, s, keys)

    # psi = ln phi = ln(1 - gap), r = a_1 / phi, w = a_2 / phi; see `head.transform`
    xp = compat.array_namespace(keys)
    safe = xp.clip(phi, min=SMALLEST_PHI)
    from_gap = xp.log1p(-xp.clip(gap, max=0.5))
    psi = xp.where(gap < 0.5, from_gap, xp.log(safe))
    inverse = xp.where(phi > SMALLEST_PHI, 1.0 / safe, 0.0)
    return xp.stack([psi, a_1 * inverse, a_2 * inverse])


def _on_lattice(
    start: float, step: float, count: int, s: Deviations, keys: PerKey
) -> tuple[Array, ...]:
    """1 - phi, phi, a_1 and a_2 of wide logits: sums over the neighbours of each point."""
    xp = compat.array_namespace(keys)
    device = compat.device(keys)
    finer, left, right = neighbours(step, s)
    h = step / finer
    place = xp.arange(-left, finer * (count - 1) + right + 1, device=device)
    functions = _functions(start + h * xp.astype(place, keys.dtype), xp)

    # N(g) of the neighbours at distances s g
    apart = h * xp.astype(xp.arange(-left, right + 1, device=device), keys.dtype)
    weight = xp.exp(-0.5 * (apart[:, None] / like(s, keys)) ** 2)
    weight = weight / xp.sum(weight, axis=0)

    point = finer * xp.arange(count, device=device)
    around = point[:, None] + xp.arange(left + right + 1, device=device)
    terms = xp.take(functions, xp.reshape(around, (-1,)), axis=1)
    found = xp.reshape(terms, (4, count, -1)) @ weight
    return tuple(found[k, ...] for k in range(4))


def _point_by_point(
    start: float, step: float, count: int, s: Deviations, keys: PerKey
) -> tuple[Array, ...]:
    """The same of narrow logits, of which a few neighbours are enough: each by itself, with the
    rule of the widest."""
    xp = compat.array_namespace(keys)
    g, weight = (like(x, keys) for x in normal_rule(int(class_of(s).max())))
    x = start + step * xp.astype(xp.arange(count, device=compat.device(keys)), keys.dtype)
    y = x[:, None, None] + like(s, keys)[:, None] * g
    found = _functions(y, xp) @ weight
    return tuple(found[k, ...] for k in range(4))


def _functions(y: Array, xp: Any) -> Array:
    """-expm1(-e^y), and e^{ky} exp(-e^y) for k = 0, 1, 2"""
    e = xp.exp(xp.clip(y, max=LARGEST_EXPONENT))
    alive = xp.exp(-e)
    first = e * alive
    return xp.stack([-xp.expm1(-e), alive, first, e * first])
