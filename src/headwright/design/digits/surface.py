"""Newton along f(y) = ell for the rows at hand: `solve.cheapest` in many digits, from a start that
is nearly right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from headwright.design.digits.frame import column, dot, to_floats
from headwright.design.digits.ray import ray
from headwright.design.target import PerKey

_STEPS = 60
_HALVINGS = 30
# Weights are float64: nothing is gained beyond this gap.
_CLOSED = 1e-10
_CLOSING = 0.5


@dataclass(frozen=True)
class Point:
    """y on the surface, its weights lam, g = X' lam, and the relative duality gap."""

    y: Any
    slope: PerKey
    lam: PerKey
    g: Any
    gap: float

    @property
    def mu(self) -> Any:
        return (dot(self.y, self.y) / dot(self.g, self.y)).mid()


@dataclass(frozen=True)
class Surface:
    """Rows X and c in many digits, and the level."""

    X: Any
    c: Any
    ell: float

    def on_ray(self, y: Any) -> Point | None:
        slope = to_floats(self.X * y)
        c = to_floats(self.c)
        t = ray(c, slope, self.ell, near=1.0)
        return None if t is None else self._point((y * arb(t)).mid(), t * slope)

    def _point(self, y: Any, slope: PerKey) -> Point:
        u = to_floats(self.c) - slope
        top = u.max()
        e = np.exp(u - top)
        total = e.sum()
        lam = e / total
        f = float(top + np.log(total))
        g = (self.X.transpose() * column(lam.tolist())).mid()
        size = (dot(g, g) * dot(y, y)).sqrt()
        # 1 - lower / |y|, with lower = (f - ell + g.y) / |g|
        gap = 1 - (arb(f) - arb(self.ell) + dot(g, y)) / size
        return Point(y, slope, lam, g, float(gap))

    def descend(self, at: Point) -> Point:
        """Until the gap is closed, or no step helps."""
        for _ in range(_STEPS):
            if at.gap <= _CLOSED:
                break
            moved = self._moved(at, self._step(at))
            if moved is None:
                break
            at = moved
        return at

    def _step(self, at: Point) -> Any:
        # (I + mu Cov_lam(x)) dy = mu_new g - y,  g.dy = 0
        mu = at.mu
        d = self.X.ncols()
        heavy = arb_mat(
            len(at.lam),
            d,
            [
                x * root
                for row, root in zip(self.X.tolist(), np.sqrt(at.lam).tolist(), strict=True)
                for x in row
            ],
        )
        spread = heavy.transpose() * heavy - at.g * at.g.transpose()
        one = arb_mat(d, d, 1)
        both = arb_mat([[a, b] for a, b in zip(at.g.entries(), at.y.entries(), strict=True)])
        solved = (one + spread * mu).mid().solve(both).mid()
        a = column([solved[i, 0] for i in range(d)])
        b = column([solved[i, 1] for i in range(d)])
        mu_new = dot(at.g, b) / dot(at.g, a)
        return (a * mu_new - b).mid()

    def _moved(self, at: Point, dy: Any) -> Point | None:
        """The first of dy, dy/2, ... whose pull-back onto the surface is shorter, or dy itself if
        it closes the gap: near the end the length no longer shows what lam still gains."""
        whole = self.on_ray(at.y + dy)
        if whole is not None and whole.gap <= _CLOSING * at.gap:
            return whole
        along = to_floats(self.X * dy)
        c = to_floats(self.c)
        square = dot(at.y, at.y)
        # |y + t dy|^2 / |y|^2 = 1 + t (tilt + t size)
        tilt = float(2 * dot(at.y, dy) / square)
        size = float(dot(dy, dy) / square)
        t = 1.0
        for _ in range(_HALVINGS):
            s = ray(c, at.slope + t * along, self.ell, near=1.0)
            if s is not None and s * s * (1 + t * (tilt + t * size)) < 1 + 1e-3 * t * min(tilt, 0):
                return self.on_ray((at.y + dy * arb(t)) * arb(s))
            t /= 2
        return None
