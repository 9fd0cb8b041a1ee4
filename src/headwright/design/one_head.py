"""One head, one face: the cheapest query, or the reason why there is none.

The order of questions: can the equalities on S be met at all? does the solver find a query? does the certificate
accept it as stored? If not, tighten and solve again; if the solver found none, ask for a proof. Only a proof that was
checked makes a target "impossible"; a solver that got stuck makes it "undecided".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright.design import proof as proofs
from headwright.design.certificate import (
    TOLERANCE,
    Claim,
    Face,
    float_weight_bounds,
    norm_bound,
    spread_bound,
)
from headwright.design.cheapest import Cheapest, cheapest
from headwright.design.interior import nearest
from headwright.design.proof import Combination, Contradiction
from headwright.design.reduced import Reduced, reduce, within_hull
from headwright.design.separate import selectable
from headwright.design.storage import rounded
from headwright.design.target import Wanted
from headwright.types import Array, Float, Query

# The leak asked for is undercut by this fraction, so that the answer is strictly inside.
_INSIDE = 1e-9
_TIGHTENINGS = 12
_GAP_WORTH_SAYING = 1e-5
# Below this divergence a KL-nearest mixture is the target itself, to rounding.
_SAME = 1e-12


@dataclass(frozen=True)
class Head:
    """`leak` and `error` (of a weight) are certified bounds on the query as stored; `lower` bounds the length of
    any query that does it."""

    status: str
    query: Query
    leak: float
    error: float
    lower: float = 0.0
    proof: Combination | Contradiction | None = None
    ceiling: float | None = None
    message: str = ""


def one_head(want: Wanted, face: Face, *, storage: str = "float64") -> Head:
    """The cheapest query that serves `face` at the wanted leak."""
    reduced = reduce(want.keys, face.support, face.shares, want.bias)
    if reduced.contradiction is not None:
        return _contradicted(want, face, reduced.contradiction, storage)
    if reduced.alone:
        head = _stored(want, face, reduced.q0, storage)
        return _judged(want, head, _lower(want, face, reduced.q0), storage)
    odds = want.leak * (1 - _INSIDE)
    ell = np.log(odds) - np.log1p(-odds)
    found = cheapest(reduced, ell)
    if found.status == "stuck":
        hulled = within_hull(reduced)
        if hulled is not None:
            reduced, found = hulled, cheapest(hulled, ell)
    if found.status == "stuck":
        answer = selectable(want.keys, list(face.support))
        if answer.status == "selectable":
            found = cheapest(reduced, ell, start=answer.query)
        if found.status == "stuck":
            head = _excluded(want, face, reduced, found, answer.proof)
            return replace(_stored(want, face, head.query * want.scale, storage), **_verdict(head))
    return _within_leak(want, face, reduced, found, ell, storage)


def _within_leak(want: Wanted, face: Face, reduced: Reduced, found: Cheapest, ell: float, storage: str) -> Head:
    """Store the query; while the certificate finds more leak than allowed, solve for less and less."""
    first, margin = found, 0.0
    head = _stored(want, face, reduced.q0 + found.y, storage)
    for _ in range(_TIGHTENINGS):
        if _fine(want, head, storage) or found.status == "stuck" or _hopeless(want, head, margin):
            break
        margin = 2.0 * max(margin, float(np.log(max(head.leak / want.leak, 1.0))), _INSIDE)
        found = cheapest(reduced, ell - margin, start=first.y)
        head = _stored(want, face, reduced.q0 + found.y, storage)
    return _judged(want, head, _lower(want, face, reduced.q0 + first.y), storage)


def _stored(want: Wanted, face: Face, logit_query: Query, storage: str) -> Head:
    inside, keys = list(face.support), want.keys
    query = rounded(logit_query / want.scale, keys[inside[1:]] - keys[inside[0]], storage)
    leak, low, high = float_weight_bounds(query, keys, inside, want.scale, want.bias)
    error = np.maximum(np.abs(low - face.shares), np.abs(high - face.shares)).max()
    return Head("reached", query, float(leak), float(error))


def _fine(want: Wanted, head: Head, storage: str) -> bool:
    return head.leak <= want.leak and head.error <= want.leak + TOLERANCE[storage]


def _hopeless(want: Wanted, head: Head, margin: float) -> bool:
    """Rounding, not the leak, spoils the query: solving for less leak cannot help."""
    return (head.leak <= want.leak and head.error > 4 * want.leak + 0.1) or (head.leak > 0.5 and margin > 4.0)


def _judged(want: Wanted, head: Head, lower: float, storage: str) -> Head:
    length = float(np.linalg.norm(head.query))
    if _fine(want, head, storage):
        unsure = storage == "float64" and lower < (1 - _GAP_WORTH_SAYING) * length
        message = f"the shortest possible query is only known to be longer than {lower:.6g}" if unsure else ""
        return replace(head, lower=lower, message=message)
    what = f"its leak is only certified to {head.leak:.6g} and its weights to {head.error:.3g}"
    message = f"a query of length {length:.4g} would do in exact arithmetic, but as {storage} {what}"
    return replace(head, status="undecided", lower=lower, message=message)


def _lower(want: Wanted, face: Face, logit_query: Query) -> float:
    """The certificate's own bound, at the leak that was asked for (not the tightened one)."""
    query = logit_query / want.scale
    claim = Claim(query[None], np.ones(1), face, want.leak, want.scale, want.bias)
    return max(norm_bound(claim, want.keys, query, face), spread_bound(claim, want.keys, query, face))


def _verdict(head: Head) -> dict[str, Any]:
    return {"status": head.status, "proof": head.proof, "ceiling": head.ceiling, "message": head.message}


def _excluded(want: Wanted, face: Face, reduced: Reduced, found: Cheapest, given: Combination | None) -> Head:
    """No query was met. With a proof: impossible. Without: undecided."""
    # The most mass on S that any query has: 1 / (1 + e^{min f}).
    mass = float(np.exp(-np.logaddexp(0.0, found.level)))
    head = replace(_stored(want, face, reduced.q0 + found.y, "float64"), ceiling=mass)
    shares = dict(zip(face.support, face.shares.tolist(), strict=True))
    for proof in _candidates(want, face, reduced, found, given):
        if proofs.excludes(proof, shares, want.leak, want.bias, one_head=True):
            return replace(head, status="impossible", proof=proof, message=_impossible(face, proof, mass, want.leak))
    message = f"no query was found and no proof either; the best one met puts {mass:.6g} on the target"
    return replace(head, status="undecided", message=message)


def _candidates(
    want: Wanted, face: Face, reduced: Reduced, found: Cheapest, given: Combination | None
) -> Iterator[Combination]:
    """The separation engine's proof, then ones made of the solver's own weights, which bound the mass best.

    At the minimum of f, X' lam = 0. Weights that vanish as the query grows are cut at several levels; what is left is
    repaired to fit the keys and accepted in rationals, or to tolerance where the keys themselves are rounded (`hull`).
    """
    if given is not None:
        yield given
    u = reduced.c - reduced.along(found.y)
    lam = np.exp(u - u.max())
    lam /= lam.sum()
    for cut in (1e-13, 1e-8, 1e-4):
        rough = _combination(want, face, np.flatnonzero(lam > cut), lam)
        if rough is None or len(rough.outside) * want.keys.shape[1] > proofs.EXACT_SIZE:
            continue
        exact = proofs.in_rationals(want.keys, rough)
        if exact is not None:
            values = [np.array([float(x) for x in side]) for side in exact]
            text = tuple(str(x) for side in exact for x in side)
            yield Combination(rough.outside, values[0], face.support, values[1], 0.0, exact=True, rational=text)
        elif reduced.hulled and proofs.how_it_holds(want.keys, rough) == "tolerance":
            yield rough


def _combination(want: Wanted, face: Face, outside: Array, lam: Float[Array, "n"]) -> Combination | None:
    """lam on `outside`, corrected (in proportion to itself) so that it meets the plane through the face."""
    base, rows = want.keys[list(face.support)], want.keys[outside]
    weights = lam[outside] / lam[outside].sum()
    # Unknown changes lam_i e_i and coefficients x: sum lam_i (1 + e_i) k_i = k0 + E' x, sum lam_i e_i = 0.
    left = np.vstack([(rows - base[0]) * weights[:, None], -(base[1:] - base[0])])
    sums = np.concatenate([weights, np.zeros(len(base) - 1)])
    size = max(float(np.linalg.norm(left, axis=1).max(initial=0.0)), 1e-300)
    change = np.linalg.lstsq(
        np.column_stack([left / size, sums]).T, np.append(-(weights @ (rows - base[0])) / size, 0.0), rcond=None
    )[0]
    weights = weights * (1 + change[: len(outside)])
    if weights.min(initial=0.0) < 0:
        return None
    x = change[len(outside) :]
    nu = np.concatenate([[1.0 - x.sum()], x])
    return Combination(tuple(map(int, outside)), weights / weights.sum(), face.support, nu, 0.0, exact=False)


def _impossible(face: Face, proof: Combination, mass: float, leak: float) -> str:
    outside = list(proof.outside)
    others = ", ".join(str(i) for i in outside[:6]) + (", ..." if len(outside) > 6 else "")
    serving = [a for a, nu in zip(proof.inside, proof.inside_coefficients, strict=True) if nu]
    if len(outside) == len(serving) == 1:
        reason = f"key {serving[0]} and key {outside[0]} are equal and always share their weight"
    elif len(face.support) == 1:
        reason = f"key {face.support[0]} is a convex combination of keys {others}"
    else:
        reason = f"the plane through the keys of the target meets the hull of keys {others}"
    return f"{reason}; no query puts more than {mass:.6g} on the target, {1 - leak:.6g} was asked"


def _contradicted(want: Wanted, face: Face, proof: Contradiction, storage: str) -> Head:
    """The shares cannot be had on these keys; offer the nearest mixture there is."""
    p = np.zeros(want.keys.shape[0])
    p[list(face.support)] = face.shares
    near = nearest(want.keys, p, want.bias)
    head = replace(_stored(want, face, near.query, storage), proof=proof)
    if near.divergence <= _SAME and len(face.support) == len(p):
        return _judged(want, replace(head, proof=None), _lower(want, face, near.query), storage)
    message = (
        "the keys of the target are affinely dependent and the shares contradict that; "
        f"the nearest mixture has Kullback-Leibler divergence {near.divergence:.6g}"
    )
    goal = np.log(p[list(proof.keys)]) - (0.0 if want.bias is None else want.bias[list(proof.keys)])
    proved = "impossible" if proofs.contradicts(want.keys, proof, goal) else "undecided"
    status = "nearest" if len(face.support) == len(p) else proved
    return replace(head, status=status, message=message)
