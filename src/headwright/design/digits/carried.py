"""The cheapest query in many digits: which keys carry the weight, then Newton on those.

All keys are looked at in float64, a few at a time in many digits. First the margin problem (each
key on its own has room for its share of the leak) by `least_distance`; its multipliers are, up to a
factor, the weights lam, and lam_i of the leak is the room of key i in the next round. A few rounds
bring the query so near that Newton (`surface`) ends it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb

from headwright.design.digits.frame import Frame, column, dot, to_floats
from headwright.design.digits.least_distance import LeastDistance
from headwright.design.digits.ray import level
from headwright.design.digits.surface import Point, Surface
from headwright.design.target import PerKey
from headwright.types import Array, Query

_LOOKED_AT = 16  # keys whose need is computed in many digits, before one is taken
_MET = 0.01  # logits; less is left to Newton
# Keys this many logits below the level are left out: they are 1e-14 of the leak and less.
_NOTHING = 32.0
# Keys this many below it may come nearer in the next round.
_LIGHT = 45.0
_ROUNDS = 30
_BISECTIONS = 40
# More keys than this near the level, or none: the start is nowhere near the cheapest query.
_MOST_ROWS = 1000
_TAKEN = 40  # rows taken up per dimension, at most
_UNIT = 2.0**-52


@dataclass(frozen=True)
class Carried:
    """The query q0 + y, the keys that carry the leak (`which`) and their weights."""

    frame: Frame
    which: Array
    point: Point

    @property
    def multipliers(self) -> Any:
        """x with k0 - lam K + x E = q / mu: minus the shadow of k0 - lam K, plus that of q0 / mu.
        None for one key."""
        frame = self.frame
        if frame.E is None:
            return None
        first = column(frame.K[frame.support[0]].tolist())
        keys = frame.K[self.which]
        mean = column([0.0] * keys.shape[1])
        for weight, key in zip(self.point.lam.tolist(), keys.tolist(), strict=True):
            mean = mean + column(key) * arb(weight)
        wanted = frame.q0 * (1 / self.point.mu) - (first - mean)
        return (frame.shadow * wanted).mid()


@dataclass
class _Keys:
    """All keys in float64, and those looked at in many digits."""

    frame: Frame
    seen: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        frame = self.frame
        K = frame.K
        self.base = K[frame.support[0]]
        q0 = to_floats(frame.q0)
        self.c = K @ q0 - self.base @ q0 + float(frame.level)
        if frame.bias is not None:
            self.c = self.c + frame.bias
        self.c[list(frame.support)] = -np.inf
        self.longest = float(np.sqrt(np.einsum("ij,ij->i", K, K).max()))

    def exponents(self, y: Any) -> tuple[PerKey, float]:
        """u at y, and how far rounding may have moved it."""
        rounded = to_floats(y)
        u = self.c - (self.base @ rounded - self.frame.K @ rounded)
        room = _UNIT * len(rounded) * self.longest * float(np.linalg.norm(rounded))
        return u, room

    def heavy(self, y: Any, least: float) -> Array:
        """Keys whose u may be above `least`."""
        u, room = self.exponents(y)
        return np.flatnonzero(u > least - room)

    def as_far_as(self, y: Any, other: Any, ell: float) -> float:
        """The largest part of the way from y, where f <= ell, to the other at which that is still
        so."""
        outside = np.isfinite(self.c)
        here = self.exponents(y)[0][outside]
        way = self.exponents(other)[0][outside] - here
        low = 0.0
        high = 1.0
        for _ in range(_BISECTIONS):
            t = (low + high) / 2
            if level(here + t * way) <= ell:
                low = t
            else:
                high = t
        return low

    def look(self, which: Array) -> None:
        new = np.array([i for i in which.tolist() if i not in self.seen], dtype=int)
        if not new.size:
            return
        X, c = self.frame.rows(new)
        for r, i in enumerate(new.tolist()):
            self.seen[i] = (column(X.table()[r]), c[r, 0])


def cheapest_in_digits(frame: Frame, ell: float) -> Carried | None:
    """The cheapest query; None where none was found."""
    keys = _Keys(frame)
    # At most d keys hold the query, and share the leak.
    room = np.full(len(frame.K), ell - np.log(frame.K.shape[1]))
    found = _margin(keys, room)
    return None if found is None else _followed(keys, found.y, ell)


def improved(frame: Frame, query: Query, ell: float) -> Carried | None:
    """The cheapest query, from one that is nearly right; None if that one does not separate."""
    return _followed(_Keys(frame), frame.off(column(query.tolist())), ell)


def _followed(keys: _Keys, y: Any, ell: float) -> Carried | None:
    """From a query that separates to the cheapest one."""
    frame = keys.frame
    which = keys.heavy(y, ell - _LIGHT)
    if not 0 < len(which) <= _MOST_ROWS:
        return None
    at = Surface(*frame.rows(which), ell).on_ray(y)
    for _ in range(_ROUNDS):
        if at is None:
            return None
        y = at.y
        ahead = Surface(*frame.rows(which), ell).descend(at)
        new = np.setdiff1d(keys.heavy(ahead.y, ell - _NOTHING), which)
        if not new.size:
            return Carried(frame, which, ahead)
        # Keys that nobody looked at are in the way: go as far as they let us, and look at them.
        t = keys.as_far_as(y, ahead.y, ell)
        y = (y + (ahead.y - y) * arb(t)).mid()
        which = np.union1d(which, np.union1d(new, keys.heavy(y, ell - _LIGHT)))
        at = Surface(*frame.rows(which), ell).on_ray(y)
    return None


def _margin(keys: _Keys, room: PerKey) -> LeastDistance | None:
    """The shortest y with u_i(y) <= room_i for every key; None where there is none."""
    d = keys.frame.K.shape[1]
    found = LeastDistance(d)
    for _ in range(_TAKEN * d):
        u, _ = keys.exponents(found.y)
        u[found.names] = -np.inf
        worst = np.argsort(room - u)[:_LOOKED_AT]
        worst = worst[np.isfinite(u[worst])]
        keys.look(worst)
        missing = []
        for i in worst.tolist():
            row, c = keys.seen[i]
            need = (c - arb(room[i])).mid()
            missing.append((float(need - dot(row, found.y)), i, row, need))
        if not missing or max(missing, key=lambda m: m[0])[0] <= _MET:
            return found
        _, i, row, need = max(missing, key=lambda m: m[0])
        if not found.take(i, row, need):
            return None
    return None
