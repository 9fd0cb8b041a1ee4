"""What "reached" means: one meaning for the solver, the certificate, the bounds and the proofs.

A target is a set S of keys with shares p_a > 0 (sum 1), and a leak eps. A query, or a mix of heads,
with weights w reaches it if and only if

    the weight outside S is at most eps,      and      ln(w_a / p_a) is the same for all a in S.

Weights that are merely near their shares do not reach it. Queries are stored numbers, though, and
can meet equations between logits only up to rounding. So the certificate bounds the *ratio error*,
the spread of ln(w_a / p_a) over S, from above, and accepts what rounding alone explains and nothing
looser:

    ratio error  <=  rho(q) = min(most, fixed + slope |q|)                                       (`Enclosure`)

where `slope` is a few roundings of the storage format per unit of |scale| |k|, and `most` ends it:
a query so long that rounding blurs its ratio by more is not accepted. Keys are stored numbers as
well. Both bounds of the certificate (leak and ratio) hold for all keys within KEY_ROUNDING of the
ones given, relative to each key's length.

Bounds and proofs speak of this very set of queries. For e_a = ln(w_a / p_a) - tau with |e_a| <= rho
/ 2, any weights lam >= 0 outside S and any nu on S, both summing to 1, Gibbs' inequality gives for
every accepted query

    scale (nu K_S - lam K).q  >=  height - (1 + |nu|_1) rho / 2,
    height = H(lam) + lam.bias + nu.(ln p - bias_S) - ln(eps / (1 - eps)) ,

which bounds |q| from below (`length`) and, where the left side vanishes, excludes every query
(`proof`). A proof whose combination holds only up to KEY_ROUNDING is exact for keys that close,
where an accepted query is accepted too. Hence no accepted query can contradict a proof, a ceiling
or a lower bound.

A head of several serves its own part of S (`Face`) and leaves at most eps outside it: that is the
*split*. Heads spill onto each other's keys, so inside one head the ratio is that of the shares only
up to the spill, and the bound on its length allows for that (`spilled`). Robust designs claim no
split, and no bound on lengths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headwright.design.proofs.float_bounds import UNIT, gamma
from headwright.types import Array, Float, Heads, Keys, Mix

# Keys are known to 8 units of float64's rounding, relative to their length: as in `reach`.
KEY_ROUNDING = 16 * UNIT
# Rounding to the nearest number of the format; error feedback may take the other neighbour, which
# doubles it.
_STORED = {"float64": UNIT, "float32": 2.0**-24, "bfloat16": 2.0**-9}
# The largest ratio error that is ever accepted.
MOST = {"float64": 1e-6, "float32": 1e-4, "bfloat16": 1e-2}


@dataclass(frozen=True)
class Face:
    """What one head has to do: the keys it serves and the share of each (sum 1)."""

    support: tuple[int, ...]
    shares: Float[Array, "m"]


@dataclass(frozen=True)
class Claim:
    """What a design says about itself: these heads reach `target` at `leak`, each serving its face.
    `faces` are empty when the heads share the target (robust designs). `one_head`: the question was
    put to one head, so a proof of impossibility need not exclude several."""

    queries: Heads
    mix: Mix
    target: Face
    leak: float
    scale: float = 1.0
    bias: Float[Array, "n"] | None = None
    faces: tuple[Face, ...] = ()
    storage: str = "float64"
    one_head: bool = True

    @property
    def log_odds(self) -> float:
        """ln(eps / (1 - eps))."""
        return math.log(self.leak) - math.log1p(-self.leak)


@dataclass(frozen=True)
class Enclosure:
    """rho(q) = min(most, fixed + slope |q|): the ratio error that rounding explains."""

    fixed: float
    slope: float
    most: float

    def allowed(self, length: float) -> float:
        return min(self.most, self.fixed + self.slope * length)

    def wider(self, spill: float) -> Enclosure:
        return Enclosure(self.fixed + spill, self.slope, self.most + spill)


EXACT = Enclosure(0.0, 0.0, 0.0)


def enclosure(claim: Claim, K: Keys) -> Enclosure:
    """rho for this claim. One key has no ratio. One head's ratio feels the keys of S only, that of
    a mix every key.

    Of the 8 roundings of a logit the certificate's own bound takes up to 4; the rest is for the
    query.
    """
    inside = list(claim.target.support)
    if len(inside) == 1:
        return EXACT
    several = len(claim.queries) > 1
    n, d = K.shape
    goal = np.log(claim.target.shares) - (0.0 if claim.bias is None else claim.bias[inside])
    rows = K if several else K[inside]
    longest = math.sqrt(float(np.einsum("ij,ij->i", rows, rows).max()))
    rounding = gamma(d + 8) + KEY_ROUNDING + 2 * _STORED[claim.storage]
    fixed = 64 * UNIT * (1.0 + float(np.abs(goal).max()))
    if several:
        fixed += 16 * n * UNIT
    return Enclosure(fixed, 8 * rounding * abs(claim.scale) * longest, MOST[claim.storage])


def most_bent(storage: str, keys_in_target: int) -> float:
    """The largest ratio error of any accepted query, however long."""
    return MOST[storage] if keys_in_target > 1 else 0.0


def spilled(claim: Claim, face: Face) -> float:
    """How far the ratio inside one head may be from that of the shares, beyond rho: infinite if
    nothing is known.

    Of w_a >= (1 - eps) e^{-rho} p_a the other heads can have supplied no more than eps, if none of
    them serves a:

        ln(w_a) - ln(w_a - spill)  <=  -ln(1 - eps e^rho / ((1 - eps) p_a))
    """
    if len(claim.faces) == 1:
        return 0.0
    served = [a for other in claim.faces for a in other.support]
    if len(face.support) > 1 and any(served.count(a) > 1 for a in face.support):
        return math.inf
    least = min(target_shares(claim, face))
    part = claim.leak * math.exp(MOST[claim.storage]) / ((1 - claim.leak) * least)
    return -math.log1p(-part) if part < 1.0 else math.inf


def target_shares(claim: Claim, face: Face) -> list[float]:
    """The target's shares of the face's keys, in the face's order."""
    share = dict(zip(claim.target.support, claim.target.shares.tolist(), strict=True))
    return [share[a] for a in face.support]
