"""No accepted query is shorter than this: weak duality, with rounding and the enclosure of the
ratio subtracted.

From the inequality in `meaning`, for any lam and nu, with |q| >= 0 and rho <= fixed + slope |q| and
rho <= most:

    |q|  >=  (height - W fixed) / (|scale| |g| + W slope)     and     |q|  >=  (height - W most) / (|scale| |g|)

with g = nu K_S - lam K and W = (1 + |nu|_1) / 2. lam and nu are read off a query; only the
inequality is trusted.
"""

from __future__ import annotations

import math

import numpy as np

from headwright.design.proofs.float_bounds import UNIT
from headwright.design.proofs.reached import (
    EXACT,
    Claim,
    Enclosure,
    Face,
    enclosure,
    spilled,
    target_shares,
)
from headwright.types import Array, Float, Keys, Query

# A quotient of two doubles, rounded down with room.
_DOWN = 1 - 16 * UNIT


def shortest(claim: Claim, K: Keys) -> float:
    """The longest head of any design with the same split cannot be shorter than the neediest one."""
    bent = enclosure(claim, K)
    return max(
        head_bound(claim, K, q, face, bent)
        for q, face in zip(claim.queries, claim.faces, strict=True)
    )


def head_bound(claim: Claim, K: Keys, q: Query, face: Face, bent: Enclosure) -> float:
    """The better of the two bounds on the head that serves `face`; q suggests the multipliers."""
    spill = spilled(claim, face) if len(face.support) > 1 else 0.0
    if math.isinf(spill):
        return 0.0
    bent = bent.wider(spill) if len(face.support) > 1 else EXACT
    shares = np.array(target_shares(claim, face))
    served = Face(face.support, shares / shares.sum())
    return max(leak_bound(claim, K, q, served, bent), equality_bound(claim, K, q, served, bent))


def leak_bound(claim: Claim, K: Keys, q: Query, face: Face, bent: Enclosure) -> float:
    """lam = softmax of the logits outside, nu such that g points along the query; 0 where it says
    nothing."""
    n, d = K.shape
    inside = list(face.support)
    if len(inside) == n:
        return 0.0
    z = claim.scale * (K @ q) + (0.0 if claim.bias is None else claim.bias)
    z[inside] = -np.inf
    lam = np.exp(z - z.max())
    lam /= lam.sum()
    base = K[inside]
    mean = lam @ K
    # g = k0 - mean + E' x: written with the differences, near-duplicates inside S cost no digits.
    E = base[1:] - base[0]
    x = _multipliers(base, mean, q * claim.scale)
    g = base[0] - mean + x @ E
    goal = np.log(face.shares) - (0.0 if claim.bias is None else claim.bias[inside])
    rise = goal[1:] - goal[0]
    positive = lam[lam > 0]
    entropy = -float(positive @ np.log(positive))
    shift = 0.0 if claim.bias is None else float(lam @ claim.bias)
    height = entropy + shift + float(goal[0]) + float(x @ rise) - claim.log_odds
    # Sums of at most n + d + m terms, each relative to the size of its terms.
    unit = 8 * (n + d + len(inside)) * UNIT
    terms = entropy + _largest(claim.bias) + float(np.abs(goal).max()) + abs(claim.log_odds) + 1.0
    sure = height - unit * (terms + float(np.abs(x) @ np.abs(rise)))
    longest = float(np.sqrt(np.einsum("ij,ij->i", K, K).max()))
    miss = unit * (2 * longest + float(np.abs(x) @ np.linalg.norm(E, axis=1)))
    pull = abs(claim.scale) * (float(np.linalg.norm(g)) + miss)
    bend = (1.0 + abs(1.0 - float(x.sum())) + float(np.abs(x).sum())) / 2
    return _with_enclosure(sure, pull, bend, bent)


def equality_bound(claim: Claim, K: Keys, q: Query, face: Face, bent: Enclosure) -> float:
    """The equalities alone: x.(rise + e) = scale q.(x E) bounds |q| from below, for any x on the
    differences E.

    |e_a - e_0| <= rho, so the left side loses at most |x|_1 rho.
    """
    inside = list(face.support)
    if len(inside) == 1:
        return 0.0
    E = K[inside[1:]] - K[inside[0]]
    goal = np.log(face.shares) - (0.0 if claim.bias is None else claim.bias[inside])
    rise = goal[1:] - goal[0]
    x = _solve_rows(E, q)
    unit = 8 * (K.shape[1] + len(inside)) * UNIT
    sure = abs(float(x @ rise)) - unit * float(np.abs(x) @ (np.abs(rise) + 2 * np.abs(goal).max()))
    pull = abs(claim.scale) * (
        float(np.linalg.norm(x @ E)) + unit * float(np.abs(x) @ np.linalg.norm(E, axis=1))
    )
    return _with_enclosure(sure, pull, float(np.abs(x).sum()), bent)


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
    unit = direction / max(float(np.linalg.norm(direction)), 1e-300)
    return _solve_rows(np.vstack([E, -unit]), mean - base[0])[:-1]


def _solve_rows(rows: Float[Array, "r d"], goal: Query) -> Float[Array, "r"]:
    """Least squares `x rows = goal`, with the rows brought to unit length first."""
    length = np.linalg.norm(rows, axis=1)
    length = np.where(length > 0, length, 1.0)
    return np.linalg.lstsq((rows / length[:, None]).T, goal, rcond=None)[0] / length


def _largest(bias: Float[Array, "n"] | None) -> float:
    return 0.0 if bias is None else float(np.abs(bias).max())
