"""The cheapest query: minimise ||y||^2 / 2 subject to f(y) = ln sum exp(u(y)) <= ell.

One smooth convex constraint, so Newton on the optimality conditions  y = mu X' lam,  f = ell,  lam = softmax(u):

    (I + mu C) dy = mu_new g - y,      g.dy = f - ell,      g = X' lam,  C = Cov_lam(x)

Every iterate is pulled back onto f = ell along its own ray (u is linear along a ray, so this costs
no product with the keys); on that surface dy is a descent direction of ||y||, which makes
backtracking safe. Any lam on the simplex bounds the optimum from below (Lagrange and Gibbs), and
lam = softmax(u) does so tightly:

    ||y*|| >= (f + g.y - ell) / ||g||          hence a certified gap at every iterate, and the stopping rule.

Rejected: the hard-margin relaxation (a support-vector machine), which is sufficient only and gives
longer queries, and exponential cones, which cost minutes at n = 1e4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headwright.design.solve.coordinates import Reduced
from headwright.design.solve.curvature import Curvature, typical_square
from headwright.design.solve.margin import margin_query
from headwright.types import Array, Float, Query

# Half of what is promised: the other half pays for solving strictly inside the leak asked for.
GAP = 5e-9
_STEPS = 300
# Steps cut short in a row mean that keys without weight are in the way: after a few of them start
# again from `margin`, and from there be patient.
_HASTY, _PATIENT = 5, 60
_EPS = np.finfo(float).eps
# A ray is followed until f = ell to this accuracy, from below; the leak then has the same relative
# accuracy.
_BAND = 1e-10
# A query so long that rounding moves its heaviest logits by more than this separates nothing but
# rounding errors.
_NOISE = 1e-3
# f cannot fall by more than g.y towards anything no longer than y; below this the minimum of f is
# reached.
_FLAT = 1e-10


@dataclass(frozen=True)
class Cheapest:
    """`status` "solved" (gap closed), "slow" (feasible, gap open) or "stuck": no feasible query was
    met, `level` is the smallest f found and `y` the query that has it. Stuck is an observation,
    never a proof."""

    status: str
    y: Query
    norm: float
    lower: float
    level: float
    steps: int


@dataclass(frozen=True)
class _Point:
    """An iterate y, slope = X y, and what one more pass gives: f = LSE(c - slope), lam = softmax, g
    = X' lam."""

    y: Query
    slope: Float[Array, "n"]
    f: float
    lam: Float[Array, "n"]
    g: Query


def cheapest(
    problem: Reduced, ell: float, *, gap: float = GAP, start: Query | None = None
) -> Cheapest:
    """The shortest y with f(y) <= ell, to a certified relative gap. `start`: a query believed to
    separate."""
    rest = level(problem.c)
    if rest <= ell:
        return Cheapest("solved", np.zeros_like(problem.k0), 0.0, 0.0, rest, 0)
    # Away from the mean of all keys: right at once on most keys of a trained model.
    at = _on_ray(problem, problem.k0 - problem.K.mean(axis=0) if start is None else start, ell)
    found = (
        _approach(problem, ell, gap=gap)
        if at is None
        else _descend(problem, at, ell, gap=gap, patience=_HASTY)
    )
    if found.status == "solved":
        return found
    y = margin_query(problem, ell)
    if y is None and found.status == "stuck":
        return found
    at = _on_ray(problem, found.y if y is None else y, ell)
    again = found if at is None else _descend(problem, at, ell, gap=gap, patience=_PATIENT)
    again = replace(again, steps=found.steps + again.steps)
    return again if again.status == "solved" or _better(again, found) else found


def _better(one: Cheapest, other: Cheapest) -> bool:
    return one.status != "stuck" and (other.status == "stuck" or one.norm < other.norm)


def _on_ray(problem: Reduced, direction: Query, ell: float) -> _Point | None:
    """Where the ray along `direction` meets f = ell, if it does so at a length that means
    something."""
    y = problem.off(direction)
    slope = problem.along(y)
    t = ray(problem.c, slope, ell)
    at = None if t is None else _point(problem, t * y, t * slope)
    return at if at is not None and _believable(problem, at) else None


def level(u: Float[Array, "n"]) -> float:
    """f = ln sum exp(u)."""
    top = u.max()
    return float(top + np.log(np.exp(u - top).sum())) if np.isfinite(top) else float(top)


def _point(problem: Reduced, y: Query, slope: Float[Array, "n"]) -> _Point:
    u = problem.c - slope
    top = u.max()
    e = np.exp(u - top)
    total = e.sum()
    lam = e / total
    return _Point(y, slope, float(top + np.log(total)), lam, problem.pull(lam))


def _believable(problem: Reduced, at: _Point) -> bool:
    """Is the query short enough for its heaviest logits to mean something? |z_hat - z| ~ eps |k|
    |y|, and what rounding left of y along the differences inside S moves logits as well."""
    heaviest = np.flatnonzero(at.lam >= 0.1 * at.lam.max())[:256]
    reach = max(np.linalg.norm(problem.K[heaviest], axis=1).max(), np.linalg.norm(problem.k0))
    astray = np.linalg.norm(at.y @ problem.basis) + _EPS * np.linalg.norm(at.y)
    return bool(reach * astray < _NOISE)


def _descend(problem: Reduced, at: _Point, ell: float, *, gap: float, patience: int) -> Cheapest:
    """Newton along the surface f = ell, from a point on it."""
    curvature, last, lower = Curvature(problem, typical_square(problem)), np.inf, 0.0
    norm, short = float(np.linalg.norm(at.y)), 0
    for step in range(1, _STEPS):
        pull = float(np.linalg.norm(at.g))
        if pull == 0.0:
            break
        lower = max(lower, (at.f - ell + at.g @ at.y) / pull)
        open_ = 1.0 - lower / norm
        if open_ <= gap:
            return Cheapest("solved", at.y, norm, lower, at.f, step)
        if open_ > 0.1 * last:
            curvature = curvature.finer()
        last = open_
        dy = _tangent_step(curvature, at, norm / pull)
        moved = _backtrack(problem, at, dy, ell)
        if moved is None:
            if curvature.complete:
                break
            curvature, last = curvature.finer(100.0), np.inf
            continue
        t, y, slope = moved
        short = short + 1 if t < 0.1 else 0
        if short > patience:
            break
        at = _point(problem, y, slope)
        norm = float(np.linalg.norm(at.y))
    return Cheapest("slow", at.y, norm, lower, at.f, step + 1)


def _tangent_step(curvature: Curvature, at: _Point, mu: float) -> Query:
    # dy = A^-1 (mu_new g - y) with mu_new such that g.dy = 0: the step stays on the surface to
    # first order.
    solve = curvature.factor(at.lam, at.g, mu)
    a, b = solve(at.g), solve(at.y)
    return curvature.problem.off(a * ((at.g @ b) / (at.g @ a)) - b)


def _backtrack(
    problem: Reduced, at: _Point, dy: Query, ell: float
) -> tuple[float, Query, Float[Array, "n"]] | None:
    """The first of dy, dy/2, dy/4, ... whose pull-back onto the surface is shorter than where we
    are."""
    w, norm2, fall = problem.along(dy), at.y @ at.y, max(-(at.y @ dy), 0.0)
    t = 1.0
    for _ in range(30):
        y, slope = at.y + t * dy, at.slope + t * w
        s = ray(problem.c, slope, ell, near=1.0)
        if s is not None and s * s * (y @ y) <= norm2 - 1e-3 * t * fall:
            return t, s * y, s * slope
        t /= 2
    return None


def _approach(problem: Reduced, ell: float, *, gap: float) -> Cheapest:
    """No easy start: follow the minimiser of ||y||^2/2 + nu f(y) as nu grows, until its ray meets f
    = ell."""
    size = typical_square(problem)
    curvature, nu = Curvature(problem, size).finer(10.0), 1.0 / size
    at = _point(problem, np.zeros_like(problem.k0), np.zeros_like(problem.c))
    best = at
    for step in range(_STEPS):
        t = ray(problem.c, at.slope, ell, near=1.0) if step else None
        on = None if t is None else _point(problem, t * at.y, t * at.slope)
        if on is not None and _believable(problem, on):
            return _descend(problem, on, ell, gap=gap, patience=_HASTY)
        if at.f < best.f:
            best = at
        force = nu * at.g - at.y
        dy = problem.off(curvature.factor(at.lam, at.g, nu)(force))
        if step and at.g @ at.y < _FLAT and dy @ force < nu * _FLAT:
            break
        at, full = _penalised(problem, at, dy, nu)
        nu *= 10.0 if full else 2.0
        if nu * size > 1e30:
            break
    return Cheapest("stuck", best.y, float(np.linalg.norm(best.y)), 0.0, best.f, step + 1)


def _penalised(problem: Reduced, at: _Point, dy: Query, nu: float) -> tuple[_Point, bool]:
    """A backtracked step on ||y||^2/2 + nu f(y); True if it was taken whole."""
    w, here = problem.along(dy), 0.5 * (at.y @ at.y) + nu * at.f
    fall = dy @ (nu * at.g - at.y)
    t = 1.0
    for _ in range(40):
        y = at.y + t * dy
        slope = at.slope + t * w
        if 0.5 * (y @ y) + nu * level(problem.c - slope) <= here - 1e-4 * t * fall:
            return _point(problem, y, slope), t == 1.0
        t /= 2
    return at, True


def ray(
    c: Float[Array, "n"], slope: Float[Array, "n"], ell: float, *, near: float = 0.0
) -> float | None:
    """The smallest t > 0 with LSE(c - t slope) <= ell (to `_BAND`, from below); None if the ray
    never gets there.

    f is convex in t, so Newton from the infeasible side climbs to the crossing without passing it,
    and from the feasible side jumps back to the infeasible one. `near` is a guess; 0 is always
    safe.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _newton_on_ray(c, slope, ell, near)


def _newton_on_ray(
    c: Float[Array, "n"], slope: Float[Array, "n"], ell: float, near: float
) -> float | None:
    band = max(_BAND, 64 * _EPS * float(np.abs(c[np.isfinite(c)]).max(initial=0.0)))
    t = near
    for _ in range(200):
        u = c - t * slope
        top = u.max()
        e = np.exp(u - top)
        total = e.sum()
        f, fall = float(top + np.log(total)), float(e @ slope) / float(total)
        if not (np.isfinite(f) and np.isfinite(fall)):
            return None
        if -band <= f - ell <= 0.0:
            return t
        if fall <= 0.0:
            if t == 0.0 or (f > ell and near == 0.0):
                return None
            # Past the lowest point of the ray: come back, or start over from the safe side.
            t, near = (t / 2, near) if f <= ell else (0.0, 0.0)
            continue
        t += (f - ell + 0.5 * band) / max(fall, 1e-300)
    return None
