"""The cheapest query: minimise ||y||^2 / 2 subject to f(y) = ln sum exp(u(y)) <= ell.

One smooth convex constraint, so Newton on the optimality conditions

    y = mu X' lam,      f = ell,      lam = softmax(u)

    (I + mu C) dy = mu_new g - y,      g.dy = f - ell,      g = X' lam,  C = Cov_lam(x)

Every iterate is pulled back onto f = ell along its own ray (u is linear along a ray, so this costs
no product with the keys); on that surface dy is a descent direction of ||y||, which makes
backtracking safe. Any lam on the simplex bounds the optimum from below (Lagrange and Gibbs), and
lam = softmax(u) does so tightly:

    ||y*|| >= (f + g.y - ell) / ||g||

hence a certified gap at every iterate, and the stopping rule.

Rejected: the hard-margin relaxation (a support-vector machine), which is sufficient only and gives
longer queries, and exponential cones, which cost minutes at n = 1e4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.design.digits.ray import level, ray
from headwright.design.solve.coordinates import HeadProblem
from headwright.design.solve.curvature import Curvature, typical_square
from headwright.design.solve.margin import margin_query
from headwright.design.target import PerKey
from headwright.types import Query

# Half of what is promised: the other half pays for solving strictly inside the leak asked for.
_GAP = 5e-9
_STEPS = 300
# Steps cut short in a row mean that keys without weight are in the way: after a few of them start
# again from `margin`, and from there be patient.
_HASTY = 5
_PATIENT = 60
_SHORT_STEP = 0.1
_EPS = np.finfo(float).eps
# A query so long that rounding moves its heaviest logits by more than this separates nothing but
# rounding errors.
_NOISE = 1e-3
# f cannot fall by more than g.y towards anything no longer than y; below this the minimum of f is
# reached.
_FLAT = 1e-10
# The gap must close by this factor per step, or the curvature is refined.
_CONVERGING = 0.1
# A penalty of this size (times the square of a key) asks for queries beyond all rounding.
_MOST_PENALTY = 1e30


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


@dataclass(frozen=True)
class _Point:
    """An iterate y, slope = X y, and what one more pass gives: f = LSE(c - slope), lam = softmax, g
    = X' lam."""

    y: Query
    slope: PerKey
    f: float
    lam: PerKey
    g: Query


def cheapest(problem: HeadProblem, ell: float, *, start: Query | None = None) -> Cheapest:
    """The shortest y with f(y) <= ell, to a certified relative gap of `_GAP`. `start`: a query
    believed to separate."""
    rest = level(problem.c)
    if rest <= ell:
        return Cheapest("solved", np.zeros_like(problem.k0), 0.0, 0.0, rest)

    # Away from the mean of all keys: right at once on most keys of a trained model.
    away = problem.k0 - problem.K.mean(axis=0) if start is None else start
    at = _on_ray(problem, away, ell)
    found = _approach(problem, ell) if at is None else _descend(problem, at, ell, patience=_HASTY)
    if found.status == "solved":
        return found

    y = margin_query(problem, ell)
    if y is None and found.status == "stuck":
        return found
    at = _on_ray(problem, found.y if y is None else y, ell)
    if at is None:
        return found
    again = _descend(problem, at, ell, patience=_PATIENT)
    return again if again.status == "solved" or _better(again, found) else found


def _better(one: Cheapest, other: Cheapest) -> bool:
    return one.status != "stuck" and (other.status == "stuck" or one.norm < other.norm)


def _on_ray(problem: HeadProblem, direction: Query, ell: float) -> _Point | None:
    """Where the ray along `direction` meets f = ell, if it does so at a length that means
    something."""
    y = problem.off(direction)
    slope = problem.along(y)
    t = ray(problem.c, slope, ell)
    if t is None:
        return None
    at = _point(problem, t * y, t * slope)
    return at if _believable(problem, at) else None


def _point(problem: HeadProblem, y: Query, slope: PerKey) -> _Point:
    u = problem.c - slope
    top = u.max()
    e = np.exp(u - top)
    total = e.sum()
    lam = e / total
    return _Point(y, slope, float(top + np.log(total)), lam, problem.pull(lam))


def _believable(problem: HeadProblem, at: _Point) -> bool:
    """Is the query short enough for its heaviest logits to mean something? |z_hat - z| ~ eps |k|
    |y|, and what rounding left of y along the differences inside S moves logits as well."""
    heaviest = np.flatnonzero(at.lam >= 0.1 * at.lam.max())[:256]
    lengths = np.linalg.norm(problem.K[heaviest], axis=1)
    reach = max(lengths.max(), np.linalg.norm(problem.k0))
    astray = np.linalg.norm(at.y @ problem.basis) + _EPS * np.linalg.norm(at.y)
    return bool(reach * astray < _NOISE)


def _descend(problem: HeadProblem, at: _Point, ell: float, *, patience: int) -> Cheapest:
    """Newton along the surface f = ell, from a point on it."""
    curvature = Curvature(problem, typical_square(problem))
    norm = float(np.linalg.norm(at.y))
    lower = 0.0
    last_gap = np.inf
    short_steps = 0
    for _ in range(1, _STEPS):
        pull = float(np.linalg.norm(at.g))
        if pull == 0.0:
            break
        lower = max(lower, (at.f - ell + at.g @ at.y) / pull)
        open_gap = 1.0 - lower / norm
        if open_gap <= _GAP:
            return Cheapest("solved", at.y, norm, lower, at.f)
        if open_gap > _CONVERGING * last_gap:
            curvature = curvature.finer()
        last_gap = open_gap

        dy = _tangent_step(curvature, at, norm / pull)
        moved = _backtrack(problem, at, dy, ell)
        if moved is None:
            if curvature.complete:
                break
            curvature = curvature.finer(100.0)
            last_gap = np.inf
            continue
        t, y, slope = moved
        short_steps = short_steps + 1 if t < _SHORT_STEP else 0
        if short_steps > patience:
            break
        at = _point(problem, y, slope)
        norm = float(np.linalg.norm(at.y))
    return Cheapest("slow", at.y, norm, lower, at.f)


def _tangent_step(curvature: Curvature, at: _Point, mu: float) -> Query:
    # dy = A^-1 (mu_new g - y) with mu_new such that g.dy = 0: the step stays on the surface to
    # first order.
    solve = curvature.factor(at.lam, at.g, mu)
    a = solve(at.g)
    b = solve(at.y)
    mu_new = (at.g @ b) / (at.g @ a)
    return curvature.problem.off(a * mu_new - b)


def _backtrack(
    problem: HeadProblem, at: _Point, dy: Query, ell: float
) -> tuple[float, Query, PerKey] | None:
    """The first of dy, dy/2, dy/4, ... whose pull-back onto the surface is shorter than where we
    are."""
    along = problem.along(dy)
    square = at.y @ at.y
    fall = max(-(at.y @ dy), 0.0)
    t = 1.0
    for _ in range(30):
        y = at.y + t * dy
        slope = at.slope + t * along
        s = ray(problem.c, slope, ell, near=1.0)
        if s is not None and s * s * (y @ y) <= square - 1e-3 * t * fall:
            return t, s * y, s * slope
        t /= 2
    return None


def _approach(problem: HeadProblem, ell: float) -> Cheapest:
    """No easy start: follow the minimiser of ||y||^2/2 + nu f(y) as nu grows, until its ray meets f
    = ell."""
    size = typical_square(problem)
    curvature = Curvature(problem, size).finer(10.0)
    nu = 1.0 / size
    at = _point(problem, np.zeros_like(problem.k0), np.zeros_like(problem.c))
    best = at
    for step in range(_STEPS):
        t = ray(problem.c, at.slope, ell, near=1.0) if step else None
        if t is not None:
            on = _point(problem, t * at.y, t * at.slope)
            if _believable(problem, on):
                return _descend(problem, on, ell, patience=_HASTY)
        if at.f < best.f:
            best = at

        force = nu * at.g - at.y
        dy = problem.off(curvature.factor(at.lam, at.g, nu)(force))
        if step and at.g @ at.y < _FLAT and dy @ force < nu * _FLAT:
            break
        at, full = _penalised(problem, at, dy, nu)
        nu *= 10.0 if full else 2.0
        if nu * size > _MOST_PENALTY:
            break
    return Cheapest("stuck", best.y, float(np.linalg.norm(best.y)), 0.0, best.f)


def _penalised(problem: HeadProblem, at: _Point, dy: Query, nu: float) -> tuple[_Point, bool]:
    """A backtracked step on ||y||^2/2 + nu f(y); True if it was taken whole."""
    along = problem.along(dy)
    here = 0.5 * (at.y @ at.y) + nu * at.f
    fall = dy @ (nu * at.g - at.y)
    t = 1.0
    for _ in range(40):
        y = at.y + t * dy
        slope = at.slope + t * along
        there = 0.5 * (y @ y) + nu * level(problem.c - slope)
        if there <= here - 1e-4 * t * fall:
            return _point(problem, y, slope), t == 1.0
        t /= 2
    return at, True
