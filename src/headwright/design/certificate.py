"""A rigorous check of a design that never meets the solver: keys, queries and a claim go in, bounds come out.

Rounding is bounded a priori. With unit roundoff r and gamma_d = d r / (1 - d r), any order of summation gives

    |z_hat_i - z_i| <= |scale| gamma_{d+2} ||k_i|| ||q|| + 4 r (|z_i| + |bias_i|) =: delta_i

so every weight lies between what z - delta on its own side and z + delta on the other give, and the leak is at most

    leak <= N / (N + B),    N = sum_{i not in S} exp(z_i + delta_i),    B = sum_{a in S} exp(z_a - delta_a) .

The shortest possible query is bounded as well, by weak duality. For ANY lam >= 0 outside S with sum 1 and ANY nu on
S with sum 1, every query that meets the target has

    |scale| ||q|| >= (H(lam) + lam.bias - nu.(bias_S - ln p) - ln(leak / (1 - leak))) / ||nu K_S - lam K|| .

lam and nu are read off the query itself; only this inequality is trusted. Second route: `ball.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from headwright.design import proof as proofs
from headwright.design.proof import Combination, Contradiction
from headwright.design.storage import representable
from headwright.types import Array, Float, Heads, Keys, Mix, Query

_ROUND = float(np.finfo(float).eps) / 2
# Bound on the relative error of exp and log of one double; the libraries in use stay below 4 units.
_EXP = 16 * _ROUND

# How far weights may stray from their shares (beyond the leak) for the format the query is stored in.
TOLERANCE = {"float64": 1e-6, "float32": 1e-5, "bfloat16": 1e-2}


@dataclass(frozen=True)
class Face:
    """What one head has to do: the keys it serves and the share of each (sum 1)."""

    support: tuple[int, ...]
    shares: Float[Array, "m"]


@dataclass(frozen=True)
class Claim:
    """What a design says about itself. `faces` are empty when the heads share the target (robust designs);
    every weight must lie within `leak + tolerance` of its share. `one_head`: the question was put to one head, so a
    proof of impossibility need not exclude several."""

    queries: Heads
    mix: Mix
    target: Face
    leak: float
    scale: float = 1.0
    bias: Float[Array, "n"] | None = None
    faces: tuple[Face, ...] = ()
    storage: str = "float64"
    tolerance: float = 1e-6
    one_head: bool = True


@dataclass(frozen=True)
class Certificate:
    """`leak_bound` and `weights_error` are upper bounds for the queries as stored, `norm_lower` a lower bound on
    the length of the longest head of any design with the same split; `failures` says what does not hold."""

    holds: bool
    leak_bound: float
    weights_error: float
    norm: float
    norm_lower: float
    method: str
    failures: tuple[str, ...] = ()


def examine(claim: Claim, K: Keys, *, method: str = "float") -> Certificate:
    """Bounds by `method` "float" (a priori, one pass over the keys) or "ball" (python-flint, every digit enclosed)."""
    if method == "ball":
        from headwright.design.ball import weight_bounds
    else:
        weight_bounds = float_weight_bounds
    inside = list(claim.target.support)
    leak, low, high = 0.0, np.zeros(len(inside)), np.zeros(len(inside))
    for q, share in zip(claim.queries, claim.mix, strict=True):
        head_leak, head_low, head_high = weight_bounds(q, K, inside, claim.scale, claim.bias)
        leak, low, high = leak + share * head_leak, low + share * head_low, high + share * head_high
    # A mix that does not sum to 1 misplaces the difference; a few roundings of the sums above come on top.
    astray = abs(math.fsum(claim.mix.tolist()) - 1.0)
    slack = 1.0 + 8 * (len(claim.mix) + 2) * _ROUND
    leak = min(1.0, leak * slack)
    error = float(np.maximum(np.abs(high - claim.target.shares), np.abs(low - claim.target.shares)).max())
    error = error * slack + astray
    norm = float(np.linalg.norm(claim.queries, axis=1).max())
    lower = _lower(claim, K) if claim.faces else 0.0
    failures = _failures(claim, leak, error)
    return Certificate(not failures, float(leak), error, norm, lower, method, failures)


def examine_proof(claim: Claim, K: Keys, proof: Combination | Contradiction | None) -> Certificate:
    """The certificate of "impossible": does the proof hold on these keys, and does it exclude what was asked?"""
    shares = dict(zip(claim.target.support, claim.target.shares.tolist(), strict=True))
    bias = np.zeros(K.shape[0]) if claim.bias is None else claim.bias
    failures, method = [], "none"
    if isinstance(proof, Combination) and set(proof.inside) <= set(shares):
        method = proofs.how_it_holds(K, proof)
        if not proofs.excludes(proof, shares, claim.leak, claim.bias, one_head=claim.one_head):
            failures.append("the proof does not exclude the leak that was asked for")
    elif isinstance(proof, Contradiction) and set(proof.keys) <= set(shares):
        goal = np.array([math.log(shares[a]) - bias[a] for a in proof.keys])
        method = "rationals" if proofs.contradicts(K, proof, goal) else "none"
    if method == "none":
        failures.append("the proof does not hold on these keys")
    bounds = examine(claim, K)
    lower = 0.0 if failures else math.inf
    return replace(bounds, holds=not failures, norm_lower=lower, method=f"proof ({method})", failures=tuple(failures))


def _failures(claim: Claim, leak: float, error: float) -> tuple[str, ...]:
    checks = {
        f"the leak may be {leak:.6g}, above {claim.leak:.6g}": leak <= claim.leak,
        f"a weight may be {error:.3g} from its share, above {claim.leak + claim.tolerance:.3g}": error
        <= claim.leak + claim.tolerance,
        "the mixing weights of the heads do not sum to 1": abs(math.fsum(claim.mix.tolist()) - 1.0)
        <= 4 * len(claim.mix) * _ROUND,
        "a mixing weight is negative": bool(np.all(claim.mix >= 0)),
        f"a query is not a {claim.storage} number": representable(claim.queries, claim.storage),
    }
    return tuple(text for text, fine in checks.items() if not fine)


def float_weight_bounds(
    q: Query, K: Keys, inside: list[int], scale: float, bias: Float[Array, "n"] | None
) -> tuple[float, Float[Array, "m"], Float[Array, "m"]]:
    """Upper bound of the leak, lower and upper bounds of the weights inside, for one query."""
    n = K.shape[0]
    z = scale * (K @ q) if bias is None else scale * (K @ q) + bias
    delta = _logit_error(q, K, scale, z, bias)
    top = z.max()
    # z - top rounds once more; exp to a few units.
    delta += 4 * _ROUND * (np.abs(z) + abs(top))
    sums = 1.0 + 2 * (n + 4) * _ROUND
    with np.errstate(over="ignore"):
        up, down = np.exp(z + delta - top) * (1 + _EXP), np.exp(z - delta - top) * (1 - _EXP)
    inner_up, inner_down = up[inside], down[inside]
    up[inside] = down[inside] = 0.0
    most_out, least_out = float(up.sum()) * sums, float(down.sum()) / sums
    most_in, least_in = float(inner_up.sum()) * sums, float(inner_down.sum()) / sums
    if not (np.isfinite(most_out) and np.isfinite(most_in) and least_in > 0.0):
        return 1.0, np.zeros(len(inside)), np.ones(len(inside))
    leak = most_out / (most_out + least_in) * (1 + _EXP)
    # A weight is least where it is itself low and all others high, and the other way round.
    rest_up = most_out + np.maximum(most_in - inner_up, 0.0)
    rest_down = np.maximum(least_out + least_in - inner_down, 0.0)
    low = inner_down / (inner_down + rest_up) * (1 - _EXP)
    high = inner_up / (inner_up + rest_down) * (1 + _EXP)
    return min(leak, 1.0), low, np.minimum(high, 1.0)


def _logit_error(
    q: Query, K: Keys, scale: float, z: Float[Array, "n"], bias: Float[Array, "n"] | None
) -> Float[Array, "n"]:
    d = K.shape[1]
    gamma = (d + 2) * _ROUND / (1 - (d + 2) * _ROUND)
    lengths = np.sqrt(np.einsum("ij,ij->i", K, K))
    # The lengths are themselves rounded (relative error gamma_d), hence the factor; 1e-300 stands for underflow.
    product = 1.01 * gamma * abs(scale) * float(np.linalg.norm(q)) * lengths + 1e-300
    return product + 4 * _ROUND * (np.abs(z) + (0.0 if bias is None else np.abs(bias)))


def _lower(claim: Claim, K: Keys) -> float:
    """The best proven lower bound over the heads: the longest head cannot be shorter than the neediest one."""
    bounds = (
        max(norm_bound(claim, K, q, face), spread_bound(claim, K, q, face))
        for q, face in zip(claim.queries, claim.faces, strict=True)
    )
    return max(bounds)


def norm_bound(claim: Claim, K: Keys, q: Query, face: Face) -> float:
    """Weak duality with lam = softmax of the logits outside, rounding included; 0 where it says nothing."""
    n, d = K.shape
    inside = list(face.support)
    z = claim.scale * (K @ q) + (0.0 if claim.bias is None else claim.bias)
    z[inside] = -np.inf
    if len(inside) == n:
        return 0.0
    lam = np.exp(z - z.max())
    lam /= lam.sum()
    mean, base = lam @ K, K[inside]
    # g = k0 - mean + E' x: written with the differences, near-duplicates inside S cost no digits.
    E, x = base[1:] - base[0], _multipliers(base, mean, q * claim.scale)
    g = base[0] - mean + x @ E
    goal = np.log(face.shares) - (0.0 if claim.bias is None else claim.bias[inside])
    rise = goal[1:] - goal[0]
    positive = lam[lam > 0]
    entropy = -float(positive @ np.log(positive))
    shift = 0.0 if claim.bias is None else float(lam @ claim.bias)
    height = entropy + shift + float(goal[0]) + float(x @ rise) - math.log(claim.leak / (1 - claim.leak))
    # Sums of at most n + d + m terms, each relative to the size of its terms.
    unit = 4 * (n + d + len(inside)) * _ROUND
    terms = entropy + _largest(claim.bias) + float(np.abs(goal).max()) + abs(math.log(claim.leak)) + 1.0
    sure = height - unit * (terms + float(np.abs(x) @ np.abs(rise)))
    reach = float(np.sqrt(np.einsum("ij,ij->i", K, K).max()))
    miss = unit * (2 * reach + float(np.abs(x) @ np.linalg.norm(E, axis=1)))
    return _quotient(sure, abs(claim.scale) * (float(np.linalg.norm(g)) + miss))


def spread_bound(claim: Claim, K: Keys, q: Query, face: Face) -> float:
    """The equalities alone: `x.rise = scale q.(x E)` bounds ||q|| from below, for any x on the differences E."""
    inside = list(face.support)
    if len(inside) == 1:
        return 0.0
    E = K[inside[1:]] - K[inside[0]]
    goal = np.log(face.shares) - (0.0 if claim.bias is None else claim.bias[inside])
    rise = goal[1:] - goal[0]
    x = _solve_rows(E, q)
    unit = 4 * (K.shape[1] + len(inside)) * _ROUND
    sure = abs(float(x @ rise)) - unit * float(np.abs(x) @ (np.abs(rise) + 2 * np.abs(goal).max()))
    length = float(np.linalg.norm(x @ E)) + unit * float(np.abs(x) @ np.linalg.norm(E, axis=1))
    return _quotient(sure, abs(claim.scale) * length)


def _quotient(sure: float, length: float) -> float:
    """A lower bound, rounded down; a positive height over nothing says that no query does it."""
    if sure <= 0.0:
        return 0.0
    return sure / length * (1 - _EXP) if length > 0.0 else math.inf


def _multipliers(base: Float[Array, "m d"], mean: Query, direction: Query) -> Float[Array, "r"]:
    """x that turns `k0 - mean + E' x` into the direction of the query, as nearly as it can: k0 - mean + E' x = t q."""
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
