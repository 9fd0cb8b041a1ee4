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


@dataclass(frozen=True)
class Face:
    """What one head has to do: the keys it serves and the share of each (sum 1)."""

    support: tuple[int, ...]
    shares: Float[Array, "m"]


@dataclass(frozen=True)
class Claim:
    """What a design says about itself. `faces` are empty when the heads share the target (robust designs);
    every weight must lie within `leak + tolerance` of its share."""

    queries: Heads
    mix: Mix
    target: Face
    leak: float
    scale: float = 1.0
    bias: Float[Array, "n"] | None = None
    faces: tuple[Face, ...] = ()
    storage: str = "float64"
    tolerance: float = 1e-9


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
    """The certificate of "impossible": does the proof hold on these keys, and does it exclude the leak asked for?"""
    goal = np.log(claim.target.shares) - (0.0 if claim.bias is None else claim.bias[list(claim.target.support)])
    where = {a: i for i, a in enumerate(claim.target.support)}
    failures, method = [], "none"
    if isinstance(proof, Combination) and set(proof.inside) <= set(where) and not set(proof.outside) & set(where):
        method = proofs.how_it_holds(K, proof)
        mass = proofs.most_mass(proof, goal[[where[a] for a in proof.inside]], claim.bias)
        if mass >= 1 - claim.leak:
            failures.append(f"the proof allows a mass of {mass:.6g}, and {1 - claim.leak:.6g} was asked")
    elif isinstance(proof, Contradiction) and set(proof.keys) <= set(where):
        exact = proofs.contradicts(K, proof, goal[[where[a] for a in proof.keys]])
        method = "rationals" if exact else "none"
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
    outside_up, outside_down = up.copy(), down.copy()
    outside_up[inside] = outside_down[inside] = 0.0
    most_out, least_out = float(outside_up.sum()) * sums, float(outside_down.sum()) / sums
    most_in, least_in = float(up[inside].sum()) * sums, float(down[inside].sum()) / sums
    if not (np.isfinite(most_out) and np.isfinite(most_in) and least_in > 0.0):
        return 1.0, np.zeros(len(inside)), np.ones(len(inside))
    leak = most_out / (most_out + least_in) * (1 + _EXP)
    low = down[inside] / (most_out + most_in) * (1 - _EXP)
    high = up[inside] / (least_out + least_in) * (1 + _EXP)
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
    nu = _multipliers(base, mean, q * claim.scale)
    # Renormalising by the true sums costs relative n r, which `size` below pays for.
    g = (nu @ base) / math.fsum(nu) - mean / math.fsum(lam)
    goal = np.log(face.shares) - (0.0 if claim.bias is None else claim.bias[inside])
    positive = lam[lam > 0]
    entropy = -float(positive @ np.log(positive))
    shift = 0.0 if claim.bias is None else float(lam @ claim.bias)
    height = entropy + shift + float(nu @ goal) - math.log(claim.leak / (1 - claim.leak))
    reach = float(np.sqrt(np.einsum("ij,ij->i", K, K).max()))
    weight = 1.0 + float(np.abs(nu).sum())
    size = 4 * (n + d + len(inside)) * _ROUND * weight
    sure = height - size * (entropy + float(np.abs(goal).max()) + _largest(claim.bias) + 1 + abs(height))
    return max(0.0, sure / (abs(claim.scale) * (float(np.linalg.norm(g)) + size * reach)) * (1 - _EXP))


def spread_bound(claim: Claim, K: Keys, q: Query, face: Face) -> float:
    """The equalities alone: for nu with sum 0, `nu.(ln p - bias) = scale q.(nu K_S)` bounds ||q|| from below."""
    inside = list(face.support)
    if len(inside) == 1:
        return 0.0
    E = K[inside[1:]] - K[inside[0]]
    goal = np.log(face.shares) - (0.0 if claim.bias is None else claim.bias[inside])
    rhs = goal[1:] - goal[0]
    nu = np.linalg.lstsq(E.T, q, rcond=None)[0]
    top, g = float(nu @ rhs), float(np.linalg.norm(nu @ E))
    weight = float(np.abs(nu).sum()) * 8 * (len(inside) + K.shape[1]) * _ROUND
    sure = abs(top) - weight * (2 * float(np.abs(goal).max()) + 1e-300)
    reach = float(np.linalg.norm(K[inside], axis=1).max())
    if sure <= 0.0:
        return 0.0
    return sure / (abs(claim.scale) * (g + 2 * weight * reach)) * (1 - _EXP)


def _multipliers(base: Float[Array, "m d"], mean: Query, direction: Query) -> Float[Array, "m"]:
    """nu with sum 1 that turns `nu K_S - mean` into the direction of the query, as nearly as it can.

    Unknowns are nu's free part and the length t of the direction: k0 - mean + E' x = t q.
    """
    E = base[1:] - base[0]
    scale = max(float(np.linalg.norm(direction)), 1e-300)
    if not E.shape[0]:
        return np.ones(1)
    unit = direction / scale
    # Only the part of (k0 - mean) outside span(E) decides t; x then repairs the rest.
    x = np.linalg.lstsq(np.column_stack([E.T, -unit]), mean - base[0], rcond=None)[0][:-1]
    return np.concatenate([[1.0 - x.sum()], x])


def _largest(bias: Float[Array, "n"] | None) -> float:
    return 0.0 if bias is None else float(np.abs(bias).max())
