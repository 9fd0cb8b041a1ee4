"""No query was met. With a proof the target is impossible, and the ceiling is what the best proof
allows; without one it is undecided. Shares that contradict the keys get the nearest mixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from headwright.design.proofs.exclusion import contradicts, excludes, most_mass
from headwright.design.proofs.proof import Combination, Contradiction, verified
from headwright.design.solve.cheapest import Cheapest
from headwright.design.solve.coordinates import HeadProblem
from headwright.design.solve.nearest import nearest
from headwright.design.solve.stored import Head, Task, solved_head, stored_head
from headwright.design.target import PerKey, Target, named_keys
from headwright.types import Array

# Weights of the solver below these parts of one are cut, in turn, to make a proof of the rest.
_CUTS = (1e-13, 1e-8, 1e-4)


def excluded(task: Task, problem: HeadProblem, found: Cheapest, known: Combination | None) -> Head:
    """The best query met, and why it is not enough; `known` is a proof that is there already."""
    best_met = solved_head(replace(task, storage="float64"), problem.q0 + found.y)
    head = solved_head(task, best_met.query * task.want.scale)

    demand = task.demand
    proved = [proof for proof in _proofs(task, problem, found, known) if excludes(proof, demand)]
    if proved:
        best = min(proved, key=lambda proof: (not proof.exact, most_mass(proof, demand)))
        mass = most_mass(best, demand)
        message = _impossible(task.face, best, mass, task.want.leak)
        return replace(head, status="impossible", proof=best, ceiling=mass, message=message)

    # The most mass on S of any query met: 1 / (1 + e^{min f}).
    mass = float(np.exp(-np.logaddexp(0.0, found.level)))
    nothing = "no query was found and no proof either"
    message = f"{nothing}; the best one met puts {mass:.6g} on the target"
    return replace(head, status="undecided", message=message)


def contradicted(task: Task, proof: Contradiction) -> Head:
    """The shares cannot be had on these keys; offer the nearest mixture there is."""
    keys = task.want.keys
    wanted = task.face.dense(len(keys))
    near = nearest(keys, wanted, task.want.bias)
    message = (
        "the keys of the target are affinely dependent and the shares contradict that; "
        f"the nearest mixture has Kullback-Leibler divergence {near.divergence:.6g}"
    )
    proved = contradicts(keys, proof, task.demand)
    head = stored_head(task, near.query)
    head = replace(head, message=message, proof=proof if proved else None)
    if len(task.face.support) == len(keys):
        return replace(head, status="nearest")
    return replace(head, status="impossible" if proved else "undecided")


def _proofs(
    task: Task, problem: HeadProblem, found: Cheapest, known: Combination | None
) -> Iterator[Combination]:
    """The separation engine's proof, then ones made of the solver's own weights, which bound the
    mass best; those that hold.

    At the minimum of f, X' lam = 0. Weights that vanish as the query grows are cut at several
    levels; what is left is repaired to fit the keys and accepted in rationals, or for keys within
    rounding of these.
    """
    u = problem.c - problem.along(found.y)
    lam = np.exp(u - u.max())
    lam /= lam.sum()
    rough = [known]
    for cut in _CUTS:
        heavy = np.flatnonzero(lam > cut)
        rough.append(_combination(task, heavy, lam))
    for candidate in rough:
        proof = None if candidate is None else verified(task.want.keys, candidate)
        if proof is not None:
            yield proof


def _combination(task: Task, outside: Array, lam: PerKey) -> Combination | None:
    """lam on `outside`, corrected (in proportion to itself) so that it meets the plane through the
    face."""
    face = task.face
    base = task.want.keys[list(face.support)]
    rows = task.want.keys[outside] - base[0]
    weights = lam[outside] / lam[outside].sum()

    # Unknown changes lam_i e_i and coefficients x: sum lam_i (1 + e_i) k_i = k0 + E' x, sum lam_i
    # e_i = 0.
    left = np.vstack([rows * weights[:, None], -task.differences])
    sums = np.concatenate([weights, np.zeros(len(base) - 1)])
    size = max(float(np.linalg.norm(left, axis=1).max(initial=0.0)), 1e-300)
    equations = np.column_stack([left / size, sums]).T
    missing = np.append(-(weights @ rows) / size, 0.0)
    change = np.linalg.lstsq(equations, missing, rcond=None)[0]

    weights = weights * (1 + change[: len(outside)])
    if weights.min(initial=0.0) < 0:
        return None
    x = change[len(outside) :]
    return Combination(
        outside=tuple(map(int, outside)),
        outside_coefficients=weights / weights.sum(),
        inside=face.support,
        inside_coefficients=np.concatenate([[1.0 - x.sum()], x]),
        residual=0.0,
        exact=False,
    )


def _impossible(face: Target, proof: Combination, mass: float, leak: float) -> str:
    others = named_keys(proof.outside)
    coefficients = zip(proof.inside, proof.inside_coefficients, strict=True)
    serving = [a for a, nu in coefficients if nu]
    if len(proof.outside) == len(serving) == 1:
        twins = f"key {serving[0]} and key {proof.outside[0]}"
        reason = f"{twins} are equal and always share their weight"
    elif len(face.support) == 1:
        reason = f"key {face.support[0]} is a convex combination of keys {others}"
    else:
        reason = f"the plane through the keys of the target meets the hull of keys {others}"
    return f"{reason}; no query puts more than {mass:.6g} on the target, {1 - leak:.6g} was asked"
