"""A rigorous check of a design that never meets the solver: keys, queries and a promise go in,
bounds come out.

What the bounds are compared with is said in `reached`. Weights are enclosed in one pass with error
bounds (`weight_bounds`), or by the second route (`ball`); lengths are bounded in `length`, and what
is impossible is examined by its proof (`proof`, `exclusion`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from headwright.design.proofs.ball import ball_weight_bounds
from headwright.design.proofs.exclusion import Demand, contradicts, excludes
from headwright.design.proofs.float_bounds import (
    EXP_ERROR,
    UNIT,
    gamma,
    largest_size,
    longest_row,
    norm_of,
)
from headwright.design.proofs.length import shortest
from headwright.design.proofs.proof import Combination, Contradiction, verified
from headwright.design.proofs.reached import KEY_ROUNDING, Promise, enclosure
from headwright.design.proofs.weight_bounds import Bounds, float_weight_bounds
from headwright.design.storage import representable
from headwright.design.target import Target
from headwright.types import Keys, Query


@dataclass(frozen=True)
class Certificate:
    """`leak_bound`, `weights_error` (largest distance of a weight from its share) and `ratio_error`
    (spread of ln(weight / share) over the target) are upper bounds for the queries as stored;
    `ratio_allowed` is what rounding explains, and more is not accepted (`reached`). `norm_lower` is
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


def examine(promise: Promise, K: Keys, *, method: str = "float") -> Certificate:
    """Bounds by `method` "float" (a priori, one pass over the keys) or "ball" (python-flint, every
    digit enclosed)."""
    shares = promise.target.shares
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        bounds = mixed_bounds(promise, K, method=method)
        too_high = np.abs(bounds.high - shares)
        too_low = np.abs(bounds.low - shares)
        ratio = ratio_bound(promise, K, bounds, method=method)
        norm = longest_row(promise.queries)
        allowed = enclosure(promise, K).allowed(norm)
        lower = shortest(promise, K) if promise.faces else 0.0
        failures = _failures(promise, bounds.leak, ratio, allowed)
        failures += _outside_their_faces(promise, K, method)
    return Certificate(
        holds=not failures,
        leak_bound=bounds.leak,
        weights_error=float(np.maximum(too_high, too_low).max()),
        ratio_error=ratio,
        ratio_allowed=allowed,
        norm=norm,
        norm_lower=lower,
        method=method,
        failures=tuple(failures),
    )


def examine_proof(
    promise: Promise, K: Keys, proof: Combination | Contradiction | None
) -> Certificate:
    """The certificate of "impossible": does the proof hold on these keys, and does it exclude what
    was asked?"""
    demand = Demand.behind(promise)
    method = "none"
    failures = []
    if isinstance(proof, Combination) and set(proof.inside) <= set(demand.shares):
        found = verified(K, proof)
        if found is not None:
            method = "rationals" if found.exact else "tolerance"
            # Judged by the coefficients that are known to hold, not by the ones given.
            if not excludes(found, demand):
                failures.append("the proof does not exclude the leak that was asked for")
    elif isinstance(proof, Contradiction) and contradicts(K, proof, demand):
        method = "rationals"
    if method == "none":
        failures.append("the proof does not hold on these keys")

    return replace(
        examine(promise, K),
        holds=not failures,
        norm_lower=0.0 if failures else math.inf,
        method=f"proof ({method})",
        failures=tuple(failures),
    )


def mixed_bounds(promise: Promise, K: Keys, *, method: str = "float") -> Bounds:
    """The heads' bounds, added up in the ratio of the mix. (A negative mixing weight is refused
    elsewhere.)"""
    inside = list(promise.target.support)
    heads = [_bounds(q, K, inside, promise, method) for q in promise.queries]
    weighed = list(zip(promise.mix, heads, strict=True))

    # A mix that does not sum to 1 misplaces the difference; a few roundings of the sums come on
    # top.
    astray = abs(math.fsum(promise.mix.tolist()) - 1.0)
    up = 1.0 + 8 * (len(heads) + 2) * UNIT
    least = math.fsum(m * h.least_leak for m, h in weighed)
    leak = math.fsum(m * h.leak for m, h in weighed)
    low = sum((m * h.low for m, h in weighed), np.zeros(len(inside)))
    high = sum((m * h.high for m, h in weighed), np.zeros(len(inside)))
    return Bounds(
        least_leak=max(0.0, least / up - astray),
        leak=min(1.0, leak * up + astray),
        low=np.maximum(low / up - astray, 0.0),
        high=np.minimum(high * up + astray, 1.0),
    )


def ratio_bound(promise: Promise, K: Keys, bounds: Bounds, *, method: str = "float") -> float:
    """An upper bound on the spread of ln(w_a / p_a) over the target."""
    if len(promise.target.support) == 1:
        return 0.0
    if len(promise.queries) == 1 and method == "float":
        return _one_head_ratio(promise, K, promise.queries[0])
    if not bounds.low.min() > 0.0:
        return math.inf

    logs = np.log(promise.target.shares)
    highest = (np.log(bounds.high) - logs).max()
    lowest = (np.log(bounds.low) - logs).min()
    spread = float(highest - lowest)
    return max(0.0, spread) + 2 * EXP_ERROR * (1.0 + largest_size(logs))


def face_leak(promise: Promise, K: Keys, q: Query, face: Target, *, method: str = "float") -> float:
    """An upper bound on what one head leaves outside its own keys."""
    return _bounds(q, K, list(face.support), promise, method).leak


def _one_head_ratio(promise: Promise, K: Keys, q: Query) -> float:
    """One head's ratio needs no exponentials: ln(w_a / p_a) = scale k_a.q + bias_a - ln p_a, up to
    a constant."""
    base = K[list(promise.target.support)]
    differences = base - base[0]
    goal = promise.target.goal(promise.bias)
    rest = promise.scale * (differences @ q) - (goal - goal[0])

    length = norm_of(q)
    rounding = gamma(K.shape[1] + 4) * longest_row(differences)
    rounding += KEY_ROUNDING * longest_row(base)
    # 1.01: the lengths are themselves rounded.
    error = 1.01 * abs(promise.scale) * rounding * length
    # A logarithm and two subtractions of `goal` come on top.
    error += EXP_ERROR * largest_size(goal)
    spread = float(rest.max() - rest.min()) + 2 * error
    return spread if math.isfinite(spread) else math.inf


def _failures(promise: Promise, leak: float, ratio: float, allowed: float) -> list[str]:
    total = math.fsum(promise.mix.tolist())
    off = abs(total - 1.0)
    out_of_ratio = "the weights may be off the ratio of the shares by"
    stored = representable(promise.queries, promise.storage)
    fine = {
        f"the leak may be {leak:.6g}, above {promise.leak:.6g}": leak <= promise.leak,
        f"{out_of_ratio} {ratio:.3g}, above {allowed:.3g}": ratio <= allowed,
        "the mixing weights of the heads do not sum to 1": off <= 4 * len(promise.mix) * UNIT,
        "a mixing weight is negative": bool(np.all(promise.mix >= 0)),
        f"a query is not a {promise.storage} number": stored,
    }
    return [text for text, is_so in fine.items() if not is_so]


def _outside_their_faces(promise: Promise, K: Keys, method: str) -> list[str]:
    """With several heads: which of them leave more than the leak outside the keys they serve."""
    if len(promise.faces) < 2:
        return []
    out = []
    heads = zip(promise.queries, promise.faces, strict=True)
    for number, (q, face) in enumerate(heads, start=1):
        leak = face_leak(promise, K, q, face, method=method)
        if not leak <= promise.leak:
            beyond = f"{leak:.6g} outside its own keys, above {promise.leak:.6g}"
            out.append(f"head {number} may leave {beyond}")
    return out


def _bounds(q: Query, K: Keys, inside: list[int], promise: Promise, method: str) -> Bounds:
    route = ball_weight_bounds if method == "ball" else float_weight_bounds
    return route(q, K, inside, promise.scale, promise.bias)
