"""No accepted query is shorter than this: weak duality, with rounding and the enclosure of the
ratio subtracted.

From the inequality in `reached`, for any lam and nu, with |q| >= 0 and rho <= fixed + slope |q| and
rho <= most:

    |q|  >=  (height - W fixed) / (|scale| |g| + W slope)
    |q|  >=  (height - W most) / (|scale| |g|)

with g = nu K_S - lam K and W = (1 + |nu|_1) / 2. lam and nu are read off a query; only the
inequality is trusted.
"""

from __future__ import annotations

import math

import numpy as np

from headwright.design.digits.carried import improved
from headwright.design.digits.frame import MOST_DIMENSIONS, Frame, many_digits
from headwright.design.proofs.exact_length import height
from headwright.design.proofs.float_bounds import UNIT, largest_size, norm_of
from headwright.design.proofs.reached import (
    EXACT,
    Enclosure,
    Promise,
    enclosure,
    spilled,
    target_shares,
)
from headwright.design.target import Bias, PerKey, Target
from headwright.types import Array, Float, Keys, Query

# A quotient of two doubles, rounded down with room.
_DOWN = 1 - 16 * UNIT
# Logits; the height of the bound is a few of them.
_VISIBLE = 1e-8


def shortest(promise: Promise, K: Keys) -> float:
    """The longest head of any design with the same split is no shorter than the neediest one."""
    bent = enclosure(promise, K)
    heads = zip(promise.queries, promise.faces, strict=True)
    return max(head_bound(promise, K, q, face, bent) for q, face in heads)


def head_bound(promise: Promise, K: Keys, q: Query, face: Target, bent: Enclosure) -> float:
    """The better of the two bounds on the head that serves `face`; q suggests the multipliers."""
    spill = spilled(promise, face) if len(face.support) > 1 else 0.0
    if math.isinf(spill):
        return 0.0
    bent = bent.wider(spill) if len(face.support) > 1 else EXACT
    shares = np.array(target_shares(promise, face))
    served = Target(face.support, shares / shares.sum())
    by_leak = leak_bound(promise, K, q, served, bent)
    if _blurred(promise, K, q):
        by_leak = max(by_leak, digits_bound(promise, K, q, served, bent))
    by_ratio = equality_bound(promise, K, q, served, bent)
    return max(by_leak, by_ratio)


def leak_bound(promise: Promise, K: Keys, q: Query, face: Target, bent: Enclosure) -> float:
    """lam = softmax of the logits outside, nu such that g points along the query; 0 where it says
    nothing."""
    n, d = K.shape
    inside = list(face.support)
    if len(inside) == n:
        return 0.0
    lam = _weights_outside(promise, K, q, inside)
    mean = lam @ K
    base = K[inside]
    # g = k0 - mean + E' x: written with the differences, near-duplicates inside S cost no digits.
    E = base[1:] - base[0]
    x = _multipliers(base, mean, q * promise.scale)
    g = base[0] - mean + x @ E
    size_x = np.abs(x)

    goal = face.goal(promise.bias)
    rise = goal[1:] - goal[0]
    positive = lam[lam > 0]
    entropy = -float(positive @ np.log(positive))
    shift = 0.0 if promise.bias is None else float(lam @ promise.bias)
    height = entropy + shift + float(goal[0]) + float(x @ rise) - promise.log_odds

    # Sums of at most n + d + m terms, each relative to the size of its terms.
    unit = 8 * (n + d + len(inside)) * UNIT
    terms = entropy + _largest(promise.bias) + largest_size(goal)
    terms = terms + abs(promise.log_odds) + 1.0
    sure = height - unit * (terms + float(size_x @ np.abs(rise)))

    longest = float(np.sqrt(np.einsum("ij,ij->i", K, K).max()))
    miss = unit * (2 * longest + float(size_x @ np.linalg.norm(E, axis=1)))
    pull = abs(promise.scale) * (norm_of(g) + miss)
    bend = (1.0 + abs(1.0 - float(x.sum())) + float(size_x.sum())) / 2
    return _with_enclosure(sure, pull, bend, bent)


def digits_bound(promise: Promise, K: Keys, q: Query, face: Target, bent: Enclosure) -> float:
    """The same inequality for weights that are known to more digits than q can tell; 0 where there
    are none."""
    with many_digits():
        try:
            frame = Frame.of(K, face, promise.bias)
        except ZeroDivisionError:
            return 0.0
        found = improved(frame, q * promise.scale, promise.log_odds)
        if found is None:
            return 0.0
        sure = height(promise, K, face, found)
    return _with_enclosure(sure.height, sure.pull, sure.bend, bent)


def equality_bound(promise: Promise, K: Keys, q: Query, face: Target, bent: Enclosure) -> float:
    """The equalities alone: x.(rise + e) = scale q.(x E) bounds |q| from below, for any x on the
    differences E.

    |e_a - e_0| <= rho, so the left side loses at most |x|_1 rho.
    """
    inside = list(face.support)
    if len(inside) == 1:
        return 0.0
    E = K[inside[1:]] - K[inside[0]]
    goal = face.goal(promise.bias)
    rise = goal[1:] - goal[0]
    x = _solve_rows(E, q)
    size_x = np.abs(x)

    unit = 8 * (K.shape[1] + len(inside)) * UNIT
    terms = np.abs(rise) + 2 * np.abs(goal).max()
    sure = abs(float(x @ rise)) - unit * float(size_x @ terms)
    miss = unit * float(size_x @ np.linalg.norm(E, axis=1))
    pull = abs(promise.scale) * (norm_of(x @ E) + miss)
    return _with_enclosure(sure, pull, float(size_x.sum()), bent)


def _blurred(promise: Promise, K: Keys, q: Query) -> bool:
    """Do sums over all keys, in float64, move a logit of this query visibly?"""
    n, d = K.shape
    longest = math.sqrt(float(np.einsum("ij,ij->i", K, K).max()))
    moved = (n + d) * UNIT * longest * abs(promise.scale) * norm_of(q)
    return moved > _VISIBLE and d <= MOST_DIMENSIONS


def _weights_outside(promise: Promise, K: Keys, q: Query, inside: list[int]) -> PerKey:
    z = promise.scale * (K @ q)
    if promise.bias is not None:
        z = z + promise.bias
    z[inside] = -np.inf
    lam = np.exp(z - z.max())
    lam /= lam.sum()
    return lam


def _with_enclosure(height: float, pull: float, bend: float, bent: Enclosure) -> float:
    """The better of the two quotients above, for W = `bend`."""
    short = _quotient(height - bend * bent.fixed, pull + bend * bent.slope)
    long = _quotient(height - bend * bent.most, pull)
    return max(short, long)


def _quotient(height: float, pull: float) -> float:
    """A lower bound, rounded down; a positive height over nothing says that no query does it."""
    if not height > 0.0:
        return 0.0
    return height / pull * _DOWN if pull > 0.0 else math.inf


def _multipliers(base: Float[Array, "m d"], mean: Query, direction: Query) -> Float[Array, "r"]:
    """x that turns `k0 - mean + E' x` into the direction of the query, as nearly as it can: k0 -
    mean + E' x = t q."""
    E = base[1:] - base[0]
    if not E.shape[0]:
        return np.zeros(0)
    unit = direction / max(norm_of(direction), 1e-300)
    return _solve_rows(np.vstack([E, -unit]), mean - base[0])[:-1]


def _solve_rows(rows: Float[Array, "r d"], goal: Query) -> Float[Array, "r"]:
    """Least squares `x rows = goal`, with the rows brought to unit length first."""
    length = np.linalg.norm(rows, axis=1)
    length = np.where(length > 0, length, 1.0)
    units = rows / length[:, None]
    return np.linalg.lstsq(units.T, goal, rcond=None)[0] / length


def _largest(bias: Bias) -> float:
    return 0.0 if bias is None else largest_size(bias)
