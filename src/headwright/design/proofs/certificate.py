"""A rigorous check of a design that never meets the solver: keys, queries and a claim go in, bounds
come out.

Rounding is bounded a priori. With unit roundoff u and gamma_d = d u / (1 - d u), any order of
summation gives

    |z_hat_i - z_i| <= |scale| (gamma_{d+2} + t) ||k_i|| ||q|| + 4 u (|z_i| + |bias_i|) =: delta_i

for all keys within t = KEY_ROUNDING of those given. Every weight then lies between what z - delta
on its own side and z + delta on the other give, and the leak is at most

    leak <= N / (N + B),    N = sum_{i not in S} exp(z_i + delta_i),    B = sum_{a in S} exp(z_a - delta_a) .

What the bounds are compared with is said in `meaning`; lengths are bounded in `length`. Second
route: `ball`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from headwright.design.proofs import proof as proofs
from headwright.design.proofs.float_bounds import UNIT, gamma
from headwright.design.proofs.length import shortest
from headwright.design.proofs.proof import Combination, Contradiction
from headwright.design.proofs.reached import KEY_ROUNDING, Claim, Face, enclosure, most_bent
from headwright.design.storage import representable
from headwright.types import Array, Float, Keys, Query

# Bound on the relative error of exp and log of one double; the libraries in use stay below 4 units.
_EXP = 16 * UNIT


@dataclass(frozen=True)
class Certificate:
    """`leak_bound`, `weights_error` (largest distance of a weight from its share) and `ratio_error`
    (spread of ln(weight / share) over the target) are upper bounds for the queries as stored;
    `ratio_allowed` is what rounding explains, and more is not accepted (`meaning`). `norm_lower` is
    a lower bound on the longest head of any accepted design with the same split; `failures` says
    what does not hold."""

    holds: bool
    leak_bound: float
    weights_error: float
    ratio_error: float
    ratio_allowed: float
    norm: float
    norm_lower: float
    method: str
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bounds:
    """Of one query, or of a mix: the weight outside the target, and the weight of each key inside,
    from both sides."""

    least_leak: float
    leak: float
    low: Float[Array, "m"]
    high: Float[Array, "m"]


def examine(claim: Claim, K: Keys, *, method: str = "float") -> Certificate:
    """Bounds by `method` "float" (a priori, one pass over the keys) or "ball" (python-flint, every
    digit enclosed)."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        bounds = mixed_bounds(claim, K, method=method)
        error = np.maximum(
            np.abs(bounds.high - claim.target.shares), np.abs(bounds.low - claim.target.shares)
        )
        ratio = ratio_bound(claim, K, bounds, method=method)
        norm = float(np.linalg.norm(claim.queries, axis=1).max())
        allowed = enclosure(claim, K).allowed(norm)
        lower = shortest(claim, K) if claim.faces else 0.0
        failures = _failures(claim, bounds.leak, ratio, allowed) + _outside_their_faces(
            claim, K, method
        )
    worst = float(error.max())
    return Certificate(
        not failures, bounds.leak, worst, ratio, allowed, norm, lower, method, failures
    )


def examine_proof(claim: Claim, K: Keys, proof: Combination | Contradiction | None) -> Certificate:
    """The certificate of "impossible": does the proof hold on these keys, and does it exclude what
    was asked?"""
    shares = dict(zip(claim.target.support, claim.target.shares.tolist(), strict=True))
    bent = most_bent(claim.storage, len(shares))
    failures, method = [], "none"
    if isinstance(proof, Combination) and set(proof.inside) <= set(shares):
        method = proofs.how_it_holds(K, proof)
        asked = proofs.Asked(shares, claim.leak, claim.bias, bent, claim.one_head)
        if method != "none" and not proofs.excludes(proof, asked):
            failures.append("the proof does not exclude the leak that was asked for")
    elif isinstance(proof, Contradiction) and set(proof.keys) <= set(shares):
        goal = np.array(
            [
                math.log(shares[a]) - (0.0 if claim.bias is None else claim.bias[a])
                for a in proof.keys
            ]
        )
        method = (
            "rationals" if claim.one_head and proofs.contradicts(K, proof, goal, bent) else "none"
        )
    if method == "none":
        failures.append("the proof does not hold on these keys")
    bounds = examine(claim, K)
    lower = 0.0 if failures else math.inf
    return replace(
        bounds,
        holds=not failures,
        norm_lower=lower,
        method=f"proof ({method})",
        failures=tuple(failures),
    )


def mixed_bounds(claim: Claim, K: Keys, *, method: str = "float") -> Bounds:
    """The heads' bounds, added up in the ratio of the mix. (A negative mixing weight is refused
    elsewhere.)"""
    inside = list(claim.target.support)
    heads = [_bounds(q, K, inside, claim, method) for q in claim.queries]
    mix = claim.mix
    # A mix that does not sum to 1 misplaces the difference; a few roundings of the sums come on
    # top.
    astray = abs(math.fsum(mix.tolist()) - 1.0)
    up = 1.0 + 8 * (len(mix) + 2) * UNIT
    leak = math.fsum(m * h.leak for m, h in zip(mix, heads, strict=True)) * up + astray
    least = math.fsum(m * h.least_leak for m, h in zip(mix, heads, strict=True)) / up - astray
    low = (
        sum((m * h.low for m, h in zip(mix, heads, strict=True)), np.zeros(len(inside))) / up
        - astray
    )
    high = (
        sum((m * h.high for m, h in zip(mix, heads, strict=True)), np.zeros(len(inside))) * up
        + astray
    )
    return Bounds(max(0.0, least), min(1.0, leak), np.maximum(low, 0.0), np.minimum(high, 1.0))


def ratio_bound(claim: Claim, K: Keys, bounds: Bounds, *, method: str = "float") -> float:
    """An upper bound on the spread of ln(w_a / p_a) over the target."""
    if len(claim.target.support) == 1:
        return 0.0
    if len(claim.queries) == 1 and method == "float":
        return _one_head_ratio(claim, K, claim.queries[0])
    if not bounds.low.min() > 0.0:
        return math.inf
    logs = np.log(claim.target.shares)
    spread = float((np.log(bounds.high) - logs).max() - (np.log(bounds.low) - logs).min())
    return max(0.0, spread) + 2 * _EXP * (1.0 + float(np.abs(logs).max()))


def _one_head_ratio(claim: Claim, K: Keys, q: Query) -> float:
    """One head's ratio needs no exponentials: ln(w_a / p_a) = scale k_a.q + bias_a - ln p_a, up to
    a constant."""
    inside = list(claim.target.support)
    base = K[inside]
    differences = base - base[0]
    goal = np.log(claim.target.shares) - (0.0 if claim.bias is None else claim.bias[inside])
    rest = claim.scale * (differences @ q) - (goal - goal[0])
    length = float(np.linalg.norm(q))
    rounding = gamma(K.shape[1] + 4) * float(np.linalg.norm(differences, axis=1).max())
    rounding += KEY_ROUNDING * float(np.linalg.norm(base, axis=1).max())
    # 1.01: the lengths are themselves rounded. A logarithm and two subtractions of `goal` come on top.
    error = 1.01 * abs(claim.scale) * rounding * length + _EXP * float(np.abs(goal).max())
    spread = float(rest.max() - rest.min()) + 2 * error
    return spread if math.isfinite(spread) else math.inf


def _failures(claim: Claim, leak: float, ratio: float, allowed: float) -> tuple[str, ...]:
    total = math.fsum(claim.mix.tolist())
    checks = {
        f"the leak may be {leak:.6g}, above {claim.leak:.6g}": leak <= claim.leak,
        f"the weights may be off the ratio of the shares by {ratio:.3g}, above {allowed:.3g}": ratio
        <= allowed,
        "the mixing weights of the heads do not sum to 1": abs(total - 1.0)
        <= 4 * len(claim.mix) * UNIT,
        "a mixing weight is negative": bool(np.all(claim.mix >= 0)),
        f"a query is not a {claim.storage} number": representable(claim.queries, claim.storage),
    }
    return tuple(text for text, fine in checks.items() if not fine)


def _outside_their_faces(claim: Claim, K: Keys, method: str) -> tuple[str, ...]:
    """With several heads: which of them leave more than the leak outside the keys they serve."""
    if len(claim.faces) < 2:
        return ()
    out = []
    for number, (q, face) in enumerate(zip(claim.queries, claim.faces, strict=True), start=1):
        leak = _bounds(q, K, list(face.support), claim, method).leak
        if not leak <= claim.leak:
            out.append(
                f"head {number} may leave {leak:.6g} outside its own keys, above {claim.leak:.6g}"
            )
    return tuple(out)


def face_leak(claim: Claim, K: Keys, q: Query, face: Face) -> float:
    """An upper bound on what one head leaves outside its own keys."""
    return _bounds(q, K, list(face.support), claim, "float").leak


def _bounds(q: Query, K: Keys, inside: list[int], claim: Claim, method: str) -> Bounds:
    if method == "ball":
        from headwright.design.proofs.ball import weight_bounds

        return Bounds(*weight_bounds(q, K, inside, claim.scale, claim.bias))
    return float_bounds(q, K, inside, claim.scale, claim.bias)


def float_bounds(
    q: Query, K: Keys, inside: list[int], scale: float, bias: Float[Array, "n"] | None
) -> Bounds:
    """Bounds for one query, in one pass over the keys."""
    n = K.shape[0]
    z = scale * (K @ q) if bias is None else scale * (K @ q) + bias
    delta = _logit_error(q, K, scale, z, bias)
    top = z.max()
    # z - top rounds once more; exp to a few units.
    delta += 4 * UNIT * (np.abs(z) + abs(top))
    sums = 1.0 + 2 * (n + 4) * UNIT
    # What underflows to 0 is not 0: an upper bound stays above the smallest double.
    up = np.exp(z + delta - top) * (1 + _EXP) + np.finfo(float).tiny
    down = np.exp(z - delta - top) * (1 - _EXP)
    inner_up, inner_down = up[inside], down[inside]
    up[inside] = down[inside] = 0.0
    most_out, least_out = float(up.sum()) * sums, float(down.sum()) / sums
    most_in, least_in = float(inner_up.sum()) * sums, float(inner_down.sum()) / sums
    if not (np.isfinite(most_out) and np.isfinite(most_in) and least_in > 0.0):
        return Bounds(0.0, 1.0, np.zeros(len(inside)), np.ones(len(inside)))
    leak = most_out / (most_out + least_in) * (1 + _EXP)
    least = least_out / (least_out + most_in) * (1 - _EXP)
    # A weight is least where it is itself low and all others high, and the other way round.
    rest_up = most_out + np.maximum(most_in - inner_up, 0.0)
    rest_down = np.maximum(least_out + least_in - inner_down, 0.0)
    low = inner_down / (inner_down + rest_up) * (1 - _EXP)
    high = inner_up / (inner_up + rest_down) * (1 + _EXP)
    return Bounds(least, min(leak, 1.0), low, np.minimum(high, 1.0))


def _logit_error(
    q: Query, K: Keys, scale: float, z: Float[Array, "n"], bias: Float[Array, "n"] | None
) -> Float[Array, "n"]:
    rounding = gamma(K.shape[1] + 2) + KEY_ROUNDING
    lengths = np.sqrt(np.einsum("ij,ij->i", K, K))
    # The lengths are themselves rounded (relative error gamma_d), hence the factor; 1e-300 stands
    # for underflow.
    product = 1.01 * rounding * abs(scale) * float(np.linalg.norm(q)) * lengths + 1e-300
    return product + 4 * UNIT * (np.abs(z) + (0.0 if bias is None else np.abs(bias)))
