"""One head, one face: the cheapest query, or the reason why there is none.

The order of questions: can the equalities on S be met at all? does the solver find a query? does the certificate
accept it as stored? If not, tighten and solve again; if the solver found none, ask for a proof. Only a proof that was
checked makes a target "impossible"; a solver that got stuck makes it "undecided".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headwright.design import proof as proofs
from headwright.design.certificate import Face, float_weight_bounds
from headwright.design.cheapest import Cheapest, cheapest
from headwright.design.interior import nearest
from headwright.design.proof import Combination, Contradiction
from headwright.design.reduced import Reduced, reduce
from headwright.design.storage import rounded
from headwright.design.target import Wanted
from headwright.types import Query

# The leak asked for is undercut by this fraction, so that the answer is strictly inside.
_INSIDE = 1e-8
_TIGHTENINGS = 8
# Below this divergence a KL-nearest mixture is the target itself, to rounding.
_SAME = 1e-12


@dataclass(frozen=True)
class Head:
    """`leak` is the certified bound on the query as stored; `lower` bounds the length of any query that does it."""

    status: str
    query: Query
    leak: float
    lower: float = 0.0
    proof: Combination | Contradiction | None = None
    ceiling: float | None = None
    message: str = ""
    steps: int = 0


def one_head(want: Wanted, face: Face, *, storage: str = "float64") -> Head:
    """The cheapest query that serves `face` at the wanted leak."""
    reduced = reduce(want.keys, face.support, face.shares, want.bias)
    if reduced.contradiction is not None:
        return _contradicted(want, face, reduced.contradiction, storage)
    odds = want.leak * (1 - _INSIDE)
    ell = np.log(odds) - np.log1p(-odds)
    if reduced.alone:
        return _stored(
            want, face, Cheapest("solved", np.zeros_like(reduced.q0), 0.0, 0.0, -np.inf, 0), reduced, storage
        )
    found = cheapest(reduced, ell)
    if found.status == "stuck":
        verdict = _why_stuck(want, face, reduced, found, ell)
        if isinstance(verdict, Head):
            return verdict
        found = verdict
    return _within_leak(want, face, reduced, found, ell, storage)


def _within_leak(want: Wanted, face: Face, reduced: Reduced, found: Cheapest, ell: float, storage: str) -> Head:
    """Store the query; while the certificate finds more leak than allowed, solve for less."""
    head = _stored(want, face, found, reduced, storage)
    first, previous = found, head.leak
    for _ in range(_TIGHTENINGS):
        if head.leak <= want.leak or found.status == "stuck":
            break
        ell -= 1.5 * float(np.log(head.leak / want.leak)) + _INSIDE
        found = cheapest(reduced, ell, start=first.y)
        head = _stored(want, face, found, reduced, storage)
        if head.leak > 0.999 * previous:
            break
        previous = head.leak
    # The bound belongs to the leak that was asked for, not to the tightened one.
    lower = float(np.hypot(np.linalg.norm(reduced.q0), first.lower)) / abs(want.scale)
    if head.leak <= want.leak:
        slow = (
            ""
            if first.status == "solved"
            else f"; the gap to the shortest query stayed at {1 - first.lower / first.norm:.1g}"
        )
        return replace(head, lower=lower, message=head.message + slow)
    return replace(
        head,
        status="undecided",
        lower=lower,
        message=f"a query of length {np.linalg.norm(head.query):.4g} would do in exact arithmetic, but as {storage} "
        f"numbers its leak is only certified to {head.leak:.3g}",
    )


def _stored(want: Wanted, face: Face, found: Cheapest, reduced: Reduced, storage: str) -> Head:
    inside = list(face.support)
    query = (reduced.q0 + found.y) / want.scale
    query = rounded(query, want.keys[inside[1:]] - want.keys[inside[0]], storage)
    leak, _, _ = float_weight_bounds(query, want.keys, inside, want.scale, want.bias)
    return Head("reached", query, 0.0 if reduced.alone else float(leak), steps=found.steps)


def _why_stuck(want: Wanted, face: Face, reduced: Reduced, found: Cheapest, ell: float) -> Head | Cheapest:
    """Proof, a better start, or an honest "undecided"."""
    from headwright.design.separate import selectable

    goal = np.log(face.shares) - (0.0 if want.bias is None else want.bias[list(face.support)])
    answer = selectable(want.keys, list(face.support))
    if answer.status == "selectable":
        again = cheapest(reduced, ell, start=answer.query)
        if again.status != "stuck":
            return again
    # The most mass on S that any query has: 1 / (1 + e^{min f}).
    mass = float(np.exp(-np.logaddexp(0.0, found.level)))
    head = replace(_stored(want, face, found, reduced, "float64"), ceiling=mass)
    for proof in _candidates(want, face, reduced, found, answer.proof):
        bound = proofs.most_mass(proof, goal[[face.support.index(a) for a in proof.inside]], want.bias)
        if bound < 1 - want.leak:
            return replace(
                head,
                status="impossible",
                proof=proof,
                message=_impossible(face, proof, mass, want.leak),
            )
    return replace(
        head,
        status="undecided",
        message=f"no query was found and no proof either; the best one met puts {mass:.6g} on the target",
    )


def _candidates(want: Wanted, face: Face, reduced: Reduced, found: Cheapest, given: Combination | None):
    """The separation engine's proof, then one made of the solver's own weights if it survives exact arithmetic."""
    if given is not None:
        yield given
    u = reduced.c - reduced.along(found.y)
    lam = np.exp(u - u.max())
    lam /= lam.sum()
    outside = np.flatnonzero(lam > 1e-13)
    if (outside.size + len(face.support)) * want.keys.shape[1] > proofs.EXACT_SIZE:
        return
    base = want.keys[list(face.support)]
    nu = np.ones(1)
    if len(face.support) > 1:
        E = base[1:] - base[0]
        x = np.linalg.lstsq(E.T, lam @ want.keys - base[0], rcond=None)[0]
        nu = np.concatenate([[1.0 - x.sum()], x])
    rough = Combination(tuple(map(int, outside)), lam[outside] / lam[outside].sum(), face.support, nu, 0.0, False)
    exact = proofs.in_rationals(want.keys, rough)
    if exact is not None:
        out, inn = exact
        yield Combination(
            rough.outside,
            np.array([float(x) for x in out]),
            face.support,
            np.array([float(x) for x in inn]),
            residual=0.0,
            exact=True,
            rational=tuple(str(x) for x in (*out, *inn)),
        )


def _impossible(face: Face, proof: Combination, mass: float, leak: float) -> str:
    others = ", ".join(str(i) for i in proof.outside[:6]) + (", ..." if len(proof.outside) > 6 else "")
    serving = [a for a, nu in zip(proof.inside, proof.inside_coefficients, strict=True) if nu]
    if len(proof.outside) == len(serving) == 1:
        reason = f"key {serving[0]} and key {proof.outside[0]} are equal and always share their weight"
    elif len(face.support) == 1:
        reason = f"key {face.support[0]} is a convex combination of keys {others}"
    else:
        reason = f"the plane through the keys of the target meets the hull of keys {others}"
    return f"{reason}; no query puts more than {mass:.6g} on the target, {1 - leak:.6g} was asked"


def _contradicted(want: Wanted, face: Face, proof: Contradiction, storage: str) -> Head:
    """The shares cannot be had on these keys; offer the nearest mixture there is."""
    keys, n = want.keys, want.keys.shape[0]
    p = np.zeros(n)
    p[list(face.support)] = face.shares
    near = nearest(keys, p, want.bias)
    query = rounded(near.query / want.scale, keys[list(face.support[1:])] - keys[face.support[0]], storage)
    leak = (
        0.0
        if len(face.support) == n
        else float_weight_bounds(query, keys, list(face.support), want.scale, want.bias)[0]
    )
    goal = np.log(face.shares) - (0.0 if want.bias is None else want.bias[list(face.support)])
    proved = proofs.contradicts(keys, proof, goal)
    what = (
        f"the keys of the target are affinely dependent and the shares contradict that; the nearest mixture has "
        f"Kullback-Leibler divergence {near.divergence:.6g}"
    )
    if len(face.support) == n:
        status = "nearest" if near.divergence > _SAME else "reached"
        return Head(status, query, leak, proof=proof, message=what if status == "nearest" else "")
    status = "impossible" if proved else "undecided"
    return Head(status, query, leak, proof=proof, message=what)
