"""Along one ray: where does f(t) = ln sum exp(c - t slope) fall to a level?

f is convex in t and u is linear along a ray, so a search on it costs no product with the keys.
Newton from the infeasible side climbs to the crossing without passing it, and from the feasible
side jumps back to the infeasible one.
"""

from __future__ import annotations

import numpy as np

from headwright.design.target import PerKey

_EPS = np.finfo(float).eps
_STEPS = 200
# A ray is followed until f = ell to this accuracy, from below; the leak then has the same relative
# accuracy.
_BAND = 1e-10


def level(u: PerKey) -> float:
    """f = ln sum exp(u)."""
    top = u.max()
    return float(top + np.log(np.exp(u - top).sum())) if np.isfinite(top) else float(top)


def ray(c: PerKey, slope: PerKey, ell: float, *, near: float = 0.0) -> float | None:
    """The smallest t > 0 with LSE(c - t slope) <= ell (to `_BAND`, from below); None if the ray
    never gets there. `near` is a guess; 0 is always safe."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _newton_on_ray(c, slope, ell, near)


def _newton_on_ray(c: PerKey, slope: PerKey, ell: float, near: float) -> float | None:
    largest = float(np.abs(c[np.isfinite(c)]).max(initial=0.0))
    band = max(_BAND, 64 * _EPS * largest)
    t = near
    for _ in range(_STEPS):
        f, fall = _value_and_fall(c - t * slope, slope)
        if not (np.isfinite(f) and np.isfinite(fall)):
            return None
        if -band <= f - ell <= 0.0:
            return t
        if fall > 0.0:
            t += (f - ell + 0.5 * band) / max(fall, 1e-300)
            continue
        # Past the lowest point of the ray: come back, or start over from the safe side.
        if t == 0.0 or (f > ell and near == 0.0):
            return None
        if f <= ell:
            t = t / 2
        else:
            t = 0.0
            near = 0.0
    return None


def _value_and_fall(u: PerKey, slope: PerKey) -> tuple[float, float]:
    """f, and minus its derivative: the mean slope under softmax(u)."""
    top = u.max()
    e = np.exp(u - top)
    total = e.sum()
    return float(top + np.log(total)), float(e @ slope) / float(total)
