"""What "reached" means: one meaning for the solver, the certificate, the bounds and the proofs.

A target is a set S of keys with shares p_a > 0 (sum 1), and a leak eps. A query, or a mix of heads,
with weights w reaches it if and only if

    the weight outside S is at most eps,      and      ln(w_a / p_a) is the same for all a in S.

Weights that are merely near their shares do not reach it. Queries are stored numbers, though, and
can meet equations between logits only up to rounding. So the certificate bounds the *ratio error*,
the spread of ln(w_a / p_a) over S, from above, and accepts what rounding alone explains and nothing
looser:

    ratio error  <=  rho(q) = min(most, fixed + slope |q|)                    (`Enclosure`)

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
(`exclusion`). A proof whose combination holds only up to KEY_ROUNDING is exact for keys that close,
where an accepted query is accepted too. Hence no accepted query can contradict a proof, a ceiling
or a lower bound.

A head of several serves its own part of S (its face) and leaves at most eps outside it: that is the
*split*. Heads spill onto each other's keys, so inside one head the ratio is that of the shares only
up to the spill, and the bound on its length allows for that (`spilled`). Robust designs claim no
split, and no bound on lengths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headwright.design.proofs.float_bounds import UNIT, gamma, largest_size
from headwright.design.target import Bias, Target
from headwright.types import Heads, Keys, Mix

# Keys are known to 8 units in the last place of a float64 (8 * 2^-52), relative to their length:
# the default tolerance of `reach`.
KEY_ROUNDING = 16 * UNIT
# Rounding of a coordinate to the format, relative. Error feedback may take the neighbour that is
# not the nearest, which doubles it. For bfloat16 this is half of its unit roundoff 2^-8: what needs
# more is not accepted.
_STORED = {"float64": UNIT, "float32": 2.0**-24, "bfloat16": 2.0**-9}
# The largest ratio error that is ever accepted.
MOST = {"float64": 1e-6, "float32": 1e-4, "bfloat16": 1e-2}


@dataclass(frozen=True)
class Promise:
    """What a design says about itself: these heads reach `target` at `leak`, each serving its face.
    `faces` are empty when the heads share the target (robust designs). `one_head`: the question was
    put to one head, so a proof of impossibility need not exclude several."""

    queries: Heads
    mix: Mix
    target: Target
    leak: float
    scale: float = 1.0
    bias: Bias = None
    faces: tuple[Target, ...] = ()
    storage: str = "float64"
    one_head: bool = True

    @property
    def log_odds(self) -> float:
        return log_odds(self.leak)


def log_odds(leak: float) -> float:
    """ln(eps / (1 - eps))."""
    return math.log(leak) - math.log1p(-leak)


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


def enclosure(promise: Promise, K: Keys) -> Enclosure:
    """rho for this promise. One key has no ratio. One head's ratio feels the keys of S only, that
    of a mix every key.

    Of the 8 roundings of a logit the certificate's own bound takes up to 4; the rest is for the
    query.
    """
    inside = list(promise.target.support)
    if len(inside) == 1:
        return EXACT
    several = len(promise.queries) > 1
    n, d = K.shape

    rows = K if several else K[inside]
    longest = math.sqrt(float(np.einsum("ij,ij->i", rows, rows).max()))
    rounding = gamma(d + 8) + KEY_ROUNDING + 2 * _STORED[promise.storage]
    slope = 8 * rounding * abs(promise.scale) * longest

    goal = promise.target.goal(promise.bias)
    fixed = 64 * UNIT * (1.0 + largest_size(goal))
    if several:
        fixed += 16 * n * UNIT
    return Enclosure(fixed, slope, MOST[promise.storage])


def most_bent(storage: str, keys_in_target: int) -> float:
    """The largest ratio error of any accepted query, however long."""
    return MOST[storage] if keys_in_target > 1 else 0.0


def spilled(promise: Promise, face: Target) -> float:
    """How far the ratio inside one head may be from that of the shares, beyond rho: infinite if
    nothing is known.

    Of w_a >= (1 - eps) e^{-rho} p_a the other heads can have supplied no more than eps, if none of
    them serves a:

        ln(w_a) - ln(w_a - spill)  <=  -ln(1 - eps e^rho / ((1 - eps) p_a))
    """
    if len(promise.faces) == 1:
        return 0.0
    served = [a for other in promise.faces for a in other.support]
    if len(face.support) > 1 and any(served.count(a) > 1 for a in face.support):
        return math.inf
    least = min(target_shares(promise, face))
    part = promise.leak * math.exp(MOST[promise.storage]) / ((1 - promise.leak) * least)
    return -math.log1p(-part) if part < 1.0 else math.inf


def target_shares(promise: Promise, face: Target) -> list[float]:
    """The target's shares of the face's keys, in the face's order."""
    share = promise.target.by_key()
    return [share[a] for a in face.support]
