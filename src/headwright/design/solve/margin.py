"""The margin query: shortest y with every u_i(y) <= room_i, each key on its own. A start, never an
answer.

Where keys are nearly duplicated the cheapest query is very long, u moves by millions along a Newton
step, and keys that carry no weight yet stop it at once: the curvature at hand knows nothing of
them. The margin problem is a polyhedron, so active sets are its natural language: a working set of
keys, solved as a least-distance problem by non-negative least squares, grows by the most violated
keys until all hold. Its multipliers are, up to a factor, the weights lam of the true problem, where
u_i = ell + ln lam_i: they give each key its room for the next round.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from headwright.design.solve.coordinates import HeadProblem
from headwright.design.target import PerKey
from headwright.types import Array, Float, Query

_ROUNDS = 60
_REFINEMENTS = 6
_GROW = 32  # keys that join the working set at a time
_VIOLATED = 0.01  # logits; less is left to the solver
# Keys without a multiplier keep this many logits below the level: they then share less than 1e-13
# of the leak.
_ASIDE = 30.0


def margin_query(problem: HeadProblem, ell: float) -> Query | None:
    """A y of the size of the cheapest one for level `ell`, with its active keys; None where no
    margin was found."""
    outside = np.isfinite(problem.c)
    room = np.full(problem.c.shape, ell)
    most = min(_GROW, int(outside.sum()))
    working = np.argsort(-problem.c)[:most]
    y = None
    for _ in range(_REFINEMENTS):
        need = np.where(outside, problem.c - room, -np.inf)
        found = _polyhedron(problem, need, working)
        if found is None:
            break
        y, working, multipliers = found
        lam = np.maximum(multipliers / multipliers.sum(), np.exp(-_ASIDE))
        room = np.full(problem.c.shape, ell - _ASIDE)
        room[working] = ell + np.log(lam)
    return y


def _polyhedron(
    problem: HeadProblem, need: PerKey, working: Array
) -> tuple[Query, Array, Float[Array, "r"]] | None:
    """Shortest y with x_i.y >= need_i for all keys: y, the working set, and its multipliers."""
    for _ in range(_ROUNDS):
        found = _least_distance(problem.rows(working), need[working])
        if found is None:
            return None
        y, multipliers = found
        short = need - problem.along(y)
        worst = np.argsort(-short)[:_GROW]
        violated = (short[worst] > _VIOLATED) & ~np.isin(worst, working)
        if not violated.any():
            return y, working, multipliers
        working = np.concatenate([working, worst[violated]])
    return None


def _least_distance(
    G: Float[Array, "r d"], h: Float[Array, "r"]
) -> tuple[Query, Float[Array, "r"]] | None:
    """min ||y|| subject to G y >= h, as the residual of a non-negative least-squares problem
    (Lawson and Hanson)."""
    length = np.linalg.norm(G, axis=1)
    if not length.all():
        return None
    G = G / length[:, None]
    h = h / length
    size = float(np.abs(h).max()) or 1.0
    E = np.vstack([G.T, h / size])
    goal = np.zeros(E.shape[0])
    goal[-1] = 1.0
    try:
        weights, _ = nnls(E, goal, maxiter=20 * E.shape[1])
    except RuntimeError:
        return None
    residual = E @ weights - goal
    if residual[-1] >= 0 or not weights.any():
        return None
    return -residual[:-1] / residual[-1] * size, weights / length
