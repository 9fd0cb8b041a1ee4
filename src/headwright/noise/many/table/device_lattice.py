"""psi, r and w on the lattices of all strips at once, by an accelerator: `head.lattice` in few
launches.

The functions of every neighbour of every point are computed, where a processor computes those of a
finer lattice once and reads each of them many times. Both 1 - phi and phi are added up, so that no
point is treated differently from the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import like
from headwright.blocks import blocks
from headwright.noise.head.lattice import NARROW, neighbours
from headwright.noise.head.transform import (
    LARGEST_EXPONENT,
    SMALLEST_PHI,
    class_of,
    normal_rule,
)
from headwright.noise.many.table.strip import Shared
from headwright.types import Array, Float, PerKey

_NUMBERS = 8  # in work for each point and neighbour

Deviations = Float[np.ndarray, "k c"]
Points = Float[Array, "k x"]
Expectations = Float[Array, "4 k x c"]


def device_transform(
    lattices: list[Shared], s: Deviations, keys: PerKey
) -> Float[Array, "3 k x c"]:
    """psi, r and w beside the keys: for every lattice, of whose strip `s` are the deviations, at as
    many points as the longest has."""
    xp = compat.array_namespace(keys)
    start = np.array([[one.start] for one in lattices])
    step = np.array([[one.step] for one in lattices])
    longest = max(one.count for one in lattices)
    x = like(start + step * np.arange(longest), keys)
    narrow = int(np.count_nonzero(s.min(axis=1) < NARROW))
    found = []
    if narrow:
        found.append(_point_by_point(x[:narrow, :], s[:narrow]))
    found += _by_neighbours(x[narrow:, :], step[narrow:, 0], s[narrow:])
    gap, phi, a_1, a_2 = xp.unstack(xp.concat(found, axis=1))

    # psi = ln phi = ln(1 - gap), r = a_1 / phi, w = a_2 / phi; see `head.transform`
    safe = xp.clip(phi, min=SMALLEST_PHI)
    from_gap = xp.log1p(-xp.clip(gap, max=0.5))
    psi = xp.where(gap < 0.5, from_gap, xp.log(safe))
    inverse = xp.where(phi > SMALLEST_PHI, 1.0 / safe, 0.0)
    return xp.stack([psi, a_1 * inverse, a_2 * inverse])


def _point_by_point(x: Points, s: Deviations) -> Expectations:
    """1 - phi, phi, a_1 and a_2 of narrow logits, of which a few neighbours are enough: each by
    itself, with the rule of the widest."""
    g, weight = (like(rule, x) for rule in normal_rule(int(class_of(s).max())))
    y = x[:, :, None, None] + like(s, x)[:, None, :, None] * g
    return _functions(y) @ weight


def _by_neighbours(
    x: Points, step: Float[np.ndarray, "k"], s: Deviations
) -> Iterator[Expectations]:
    """The same of wide logits, some strips at a time: all deviations of a strip share neighbours.
    Where another strip has more of them, those further away have no weight."""
    rules = [neighbours(*one) for one in zip(step.tolist(), s, strict=True)]
    finer, left, right = np.array(rules, dtype=int).reshape(-1, 3).T
    most = int((left + right).max(initial=0)) + 1
    apart = (step / finer)[:, None] * (np.arange(most) - left[:, None])
    numbers = _NUMBERS * most * int(x.shape[1])
    for part in blocks(len(s), len(s), x, numbers):
        distance = like(apart[part], x)
        yield _functions(x[part, :, None] + distance[:, None, :]) @ _weights(distance, s[part])


def _weights(distance: Float[Array, "k n"], s: Deviations) -> Float[Array, "k n c"]:
    """N(g) of the neighbours at distances s g."""
    xp = compat.array_namespace(distance)
    weight = xp.exp(-0.5 * (distance[:, :, None] / like(s, distance)[:, None, :]) ** 2)
    return weight / xp.sum(weight, axis=1, keepdims=True)


def _functions(y: Any) -> Any:
    """-expm1(-e^y), and e^{ky} exp(-e^y) for k = 0, 1, 2"""
    xp = compat.array_namespace(y)
    e = xp.exp(xp.clip(y, max=LARGEST_EXPONENT))
    alive = xp.exp(-e)
    first = e * alive
    return xp.stack([-xp.expm1(-e), alive, first, e * first])
