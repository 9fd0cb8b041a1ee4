"""One head, one face: the cheapest query, or the reason why there is none.

The order of questions: can the equalities on S be met at all? does the solver find a query? does
the certificate accept it as stored? If not, tighten and solve again; if the solver found none, ask
for a proof. Only a proof that was checked makes a target "impossible"; a solver that got stuck
makes it "undecided".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright.design.proofs import proof as proofs
from headwright.design.proofs.certificate import mixed_bounds, ratio_bound
from headwright.design.proofs.length import shortest
from headwright.design.proofs.proof import Combination, Contradiction
from headwright.design.proofs.reached import Claim, Face, enclosure, most_bent
from headwright.design.separation.separate import selectable
from headwright.design.solve.cheapest import Cheapest, cheapest
from headwright.design.solve.coordinates import Reduced, reduce, within_hull
from headwright.design.solve.nearest import nearest
from headwright.design.storage import rounded
from headwright.design.target import Wanted
from headwright.types import Array, Float, Query

# The leak asked for is undercut by this fraction, so that the answer is strictly inside.
_INSIDE = 1e-9
_TIGHTENINGS = 12
_GAP_WORTH_SAYING = 1e-5
# Corrections of a query towards the ratio of the shares; each gains as many digits as the
# differences allow.
_CORRECTIONS = 3


@dataclass(frozen=True)
class Head:
    """`leak` and `ratio` (error) are certified bounds on the query as stored, `allowed` is the
    ratio error that rounding explains; `lower` bounds the length of any query that does it."""

    status: str
    query: Query
    leak: float
    ratio: float
    allowed: float
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
        head = _solved(want, face, reduced.q0, storage)
        return _judged(want, head, _lower(want, face, reduced.q0, storage), storage)
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
            head = _excluded(want, face, reduced, found, answer.proof, storage)
            return replace(_solved(want, face, head.query * want.scale, storage), **_verdict(head))
    return _within_leak(want, face, reduced, found, ell, storage)


def _within_leak(
    want: Wanted, face: Face, reduced: Reduced, found: Cheapest, ell: float, storage: str
) -> Head:
    """Store the query; while the certificate finds more leak than allowed, solve for less and less."""
    first, margin = found, 0.0
    head = _solved(want, face, reduced.q0 + found.y, storage)
    for _ in range(_TIGHTENINGS):
        if _fine(want, head) or found.status == "stuck" or _hopeless(want, head, margin):
            break
        margin = 2.0 * max(margin, float(np.log(max(head.leak / want.leak, 1.0))), _INSIDE)
        found = cheapest(reduced, ell - margin, start=first.y)
        head = _solved(want, face, reduced.q0 + found.y, storage)
    return _judged(want, head, _lower(want, face, reduced.q0 + first.y, storage), storage)


def _solved(want: Wanted, face: Face, logit_query: Query, storage: str) -> Head:
    return _stored(want, face, _in_ratio(want, face, logit_query), storage)


def _stored(want: Wanted, face: Face, logit_query: Query, storage: str) -> Head:
    """The query as it will be stored, and what the certificate says of it."""
    inside, keys = list(face.support), want.keys
    query = rounded(logit_query / want.scale, keys[inside[1:]] - keys[inside[0]], storage)
    claim = _claim(want, face, query, storage)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        bounds = mixed_bounds(claim, keys)
        ratio = ratio_bound(claim, keys, bounds)
    return Head(
        "reached",
        query,
        bounds.leak,
        ratio,
        enclosure(claim, keys).allowed(float(np.linalg.norm(query))),
    )


def _claim(want: Wanted, face: Face, query: Query, storage: str) -> Claim:
    return Claim(query[None], np.ones(1), face, want.leak, want.scale, want.bias, (face,), storage)


def _in_ratio(want: Wanted, face: Face, logit_query: Query) -> Query:
    """The query corrected, by as little as possible, until the weights on the face stand in the
    ratio of the shares as nearly as rounding lets them."""
    if len(face.support) == 1:
        return logit_query
    inside = list(face.support)
    E = want.keys[inside[1:]] - want.keys[inside[0]]
    goal = np.log(face.shares) - (0.0 if want.bias is None else want.bias[inside])
    length = np.linalg.norm(E, axis=1)
    length = np.where(length > 0, length, 1.0)
    best, least = logit_query, np.inf
    for _ in range(_CORRECTIONS):
        miss = goal[1:] - goal[0] - E @ logit_query
        if np.abs(miss).max() >= least:
            break
        best, least = logit_query, np.abs(miss).max()
        logit_query = best + np.linalg.lstsq(E / length[:, None], miss / length, rcond=None)[0]
    return best


def _fine(want: Wanted, head: Head) -> bool:
    return head.leak <= want.leak and head.ratio <= head.allowed


def _hopeless(want: Wanted, head: Head, margin: float) -> bool:
    """Rounding, not the leak, spoils the query: solving for less leak cannot help."""
    return head.leak <= want.leak or (head.leak > 0.5 and margin > 4.0)


def _judged(want: Wanted, head: Head, lower: float, storage: str) -> Head:
    length = float(np.linalg.norm(head.query))
    if _fine(want, head):
        unsure = storage == "float64" and lower < (1 - _GAP_WORTH_SAYING) * length
        message = (
            f"the shortest possible query is only known to be longer than {lower:.6g}"
            if unsure
            else ""
        )
        return replace(head, lower=lower, message=message)
    what = f"its leak is only certified to {head.leak:.6g} and the ratio of its weights to {head.ratio:.3g}"
    message = (
        f"a query of length {length:.4g} would do in exact arithmetic, but as {storage} {what}"
    )
    return replace(head, status="undecided", lower=lower, message=message)


def _lower(want: Wanted, face: Face, logit_query: Query, storage: str) -> float:
    """The certificate's own bound, at the leak that was asked for (not the tightened one)."""
    return shortest(_claim(want, face, logit_query / want.scale, storage), want.keys)


def _verdict(head: Head) -> dict[str, Any]:
    return {
        "status": head.status,
        "proof": head.proof,
        "ceiling": head.ceiling,
        "message": head.message,
    }


def _excluded(
    want: Wanted,
    face: Face,
    reduced: Reduced,
    found: Cheapest,
    given: Combination | None,
    storage: str,
) -> Head:
    """No query was met. With a proof: impossible, and the ceiling is what the best proof allows.
    Without: undecided."""
    head = _solved(want, face, reduced.q0 + found.y, "float64")
    shares = dict(zip(face.support, face.shares.tolist(), strict=True))
    asked = proofs.Asked(
        shares, want.leak, want.bias, most_bent(storage, len(shares)), one_head=True
    )
    proved = [
        proof
        for proof in _candidates(want, face, reduced, found, given)
        if proofs.excludes(proof, asked)
    ]
    if proved:
        best = min(proved, key=lambda proof: (not proof.exact, _mass(proof, asked)))
        mass = _mass(best, asked)
        message = _impossible(face, best, mass, want.leak)
        return replace(head, status="impossible", proof=best, ceiling=mass, message=message)
    # The most mass on S of any query met: 1 / (1 + e^{min f}).
    mass = float(np.exp(-np.logaddexp(0.0, found.level)))
    message = (
        f"no query was found and no proof either; the best one met puts {mass:.6g} on the target"
    )
    return replace(head, status="undecided", message=message)


def _candidates(
    want: Wanted, face: Face, reduced: Reduced, found: Cheapest, given: Combination | None
) -> Iterator[Combination]:
    """The separation engine's proof, then ones made of the solver's own weights, which bound the
    mass best.

    At the minimum of f, X' lam = 0. Weights that vanish as the query grows are cut at several
    levels; what is left is repaired to fit the keys and accepted in rationals, or for keys within
    rounding of these.
    """
    rough = [] if given is None else [given]
    u = reduced.c - reduced.along(found.y)
    lam = np.exp(u - u.max())
    lam /= lam.sum()
    rough += [
        _combination(want, face, np.flatnonzero(lam > cut), lam) for cut in (1e-13, 1e-8, 1e-4)
    ]
    for candidate in rough:
        proof = None if candidate is None else proofs.verified(want.keys, candidate)
        if proof is not None:
            yield proof


def _combination(
    want: Wanted, face: Face, outside: Array, lam: Float[Array, "n"]
) -> Combination | None:
    """lam on `outside`, corrected (in proportion to itself) so that it meets the plane through the
    face."""
    base, rows = want.keys[list(face.support)], want.keys[outside]
    weights = lam[outside] / lam[outside].sum()
    # Unknown changes lam_i e_i and coefficients x: sum lam_i (1 + e_i) k_i = k0 + E' x, sum lam_i
    # e_i = 0.
    left = np.vstack([(rows - base[0]) * weights[:, None], -(base[1:] - base[0])])
    sums = np.concatenate([weights, np.zeros(len(base) - 1)])
    size = max(float(np.linalg.norm(left, axis=1).max(initial=0.0)), 1e-300)
    change = np.linalg.lstsq(
        np.column_stack([left / size, sums]).T,
        np.append(-(weights @ (rows - base[0])) / size, 0.0),
        rcond=None,
    )[0]
    weights = weights * (1 + change[: len(outside)])
    if weights.min(initial=0.0) < 0:
        return None
    x = change[len(outside) :]
    nu = np.concatenate([[1.0 - x.sum()], x])
    return Combination(
        tuple(map(int, outside)), weights / weights.sum(), face.support, nu, 0.0, exact=False
    )


def _mass(proof: Combination, asked: proofs.Asked) -> float:
    """A proof through other keys of the target says nothing about the target's mass."""
    return 1.0 if set(proof.outside) & set(asked.shares) else proofs.most_mass(proof, asked)


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
    message = (
        "the keys of the target are affinely dependent and the shares contradict that; "
        f"the nearest mixture has Kullback-Leibler divergence {near.divergence:.6g}"
    )
    head = replace(_stored(want, face, near.query, storage), message=message)
    goal = np.log(p[list(proof.keys)]) - (0.0 if want.bias is None else want.bias[list(proof.keys)])
    proved = proofs.contradicts(want.keys, proof, goal, most_bent(storage, len(face.support)))
    head = replace(head, proof=proof if proved else None)
    if len(face.support) == len(p):
        return replace(head, status="nearest")
    return replace(head, status="impossible" if proved else "undecided")
