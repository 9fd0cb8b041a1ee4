"""Each statement of a saved design against the keys: computed again, and compared.

Nothing in the file is believed. A number must agree with the one found now, a bound may be weaker
than the one proven now but not stronger, and a verdict needs its certificate or its proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright import attention
from headwright.design.effect import measured
from headwright.design.proofs.certificate import Certificate, examine_proof
from headwright.design.proofs.exclusion import Demand, most_mass
from headwright.design.proofs.proof import Combination, Contradiction, verified
from headwright.design.saved.document import Saved
from headwright.design.target import Wanted
from headwright.types import Keys

# A restated number must agree with the recomputed one to this, relative; both come from float64
# sums.
_AGREES = 1e-6
# Below this an absolute difference is rounding of weights, which are of size one.
_TINY = 1e-15
# The mean key of the nearest mixture is that of the target, relative to the largest key: Newton's
# last step.
_SAME_MEAN = 1e-6


@dataclass(frozen=True)
class Check:
    """One statement of the file, and whether it is so."""

    name: str
    holds: bool
    detail: str


def numbers_checks(file: Saved, K: Keys) -> list[Check]:
    """The numbers that the queries show by themselves."""
    said = file.said
    found = _measured_again(file, K)
    # The truth is within a quarter of the error found now (`effect`); what is stated must cover
    # all of that.
    missed = abs(said["leak"] - found["leak"])
    covered = missed + found["leak_error"] / 4 <= said["leak_error"]
    stated = f"stated {said['leak']:.9g}, found {found['leak']:.9g}"

    weights = found["weights"][list(file.promise.target.support)]
    off = np.abs(weights - file.weights_on_target)
    close = bool((off - _AGREES * np.abs(weights) <= _TINY).all())
    return [
        Check("leak as stated", covered, stated),
        _restated("norm", said["norm"], found["norm"]),
        _restated("sharpness", said["sharpness"], found["sharpness"]),
        Check("weights_on_target as stated", close, f"off by at most {float(off.max()):.3g}"),
    ]


def certificate_check(file: Saved, found: Certificate) -> Check:
    """The certificate in the file against the one computed now, by the same method."""
    said = file.certificate
    # Rounding errors differ from machine to machine by up to what is allowed for them.
    room = {
        "ratio_error": found.ratio_allowed,
        "leak_bound": 0.0,
        "weights_error": 0.0,
        "ratio_allowed": 0.0,
        "norm": 0.0,
    }
    wrong = [name for name in ("holds", "method") if said[name] != getattr(found, name)]
    if bool(said["failures"]) != bool(found.failures):
        wrong.append("failures")
    for name, within in room.items():
        if not _agree(said[name], getattr(found, name), within):
            wrong.append(name)
    if not said["norm_lower"] <= found.norm_lower * (1 + _AGREES):
        wrong.append("norm_lower")

    detail = "another one is found: " + ", ".join(wrong) if wrong else "the same one is found again"
    return Check("the certificate in the file", not wrong, detail)


def verdict_checks(file: Saved, K: Keys, certificate: Certificate) -> list[Check]:
    """What the status and the bounds say."""
    checks = [_lower_bound(file, certificate)]
    if file.ceiling is not None:
        checks.append(_ceiling(file, file.ceiling, K))
    if file.status == "reached":
        checks += _reached(file, K, certificate)
    elif file.status == "impossible":
        why = "; ".join(certificate.failures) or certificate.method
        checks.append(Check("the target is impossible", certificate.holds, why))
    elif file.status == "nearest" and not file.robust:
        checks.append(_nearest(file, K))
    return checks


def proof_check(file: Saved, K: Keys) -> Check:
    """A proof stands beside a verdict that needs it, and is what it says it is."""
    proof = file.proof
    if file.status not in ("impossible", "nearest"):
        return Check("the proof", False, f"a {file.status} target has none")
    if isinstance(proof, Contradiction):
        return _contradiction(file, proof, K)
    assert proof is not None

    found = verified(K, proof)
    if found is None:
        return Check("the proof", False, "it does not hold on these keys")
    size = float(np.abs(K).max())
    missed = abs(proof.residual - found.residual)
    same = found.exact == proof.exact and found.rational == file.rational
    fits = proof.residual >= 0.0 and missed <= _AGREES * size
    how = "in rationals" if found.exact else "up to the rounding of the keys"
    return Check("the proof", same and fits, how)


def _measured_again(file: Saved, K: Keys) -> dict[str, Any]:
    promise = file.promise
    want = Wanted(promise.target, K, promise.leak, promise.scale, promise.bias)
    return measured(want, promise.queries, promise.mix, promise.faces)


def _lower_bound(file: Saved, certificate: Certificate) -> Check:
    bound = file.said["lower_bound"]
    # That no query exists is not a statement about short ones.
    proven = certificate.norm_lower if file.status != "impossible" else 0.0
    fine = bound <= proven * (1 + _AGREES)
    detail = f"stated {bound:.9g}, proven {certificate.norm_lower:.9g}"
    return Check("no shorter query, as stated", fine, detail)


def _reached(file: Saved, K: Keys, certificate: Certificate) -> list[Check]:
    why = "; ".join(certificate.failures) or f"leak at most {certificate.leak_bound:.9g}"
    enough = file.fewest_heads <= len(file.promise.mix)
    return [
        Check("the target is reached", certificate.holds, why),
        Check("fewest_heads is not above the heads there are", enough, f"{file.fewest_heads}"),
        _served(file, K),
    ]


def _served(file: Saved, K: Keys) -> Check:
    """The shares that each head gives the keys it serves."""
    promise = file.promise
    z = attention.logits(promise.queries, K, scale=promise.scale, bias=promise.bias)
    worst = 0.0
    heads = zip(attention.weights(z), promise.faces, strict=bool(promise.faces))
    for row, face in heads:
        weights = row[list(face.support)]
        off = np.abs(weights / weights.sum() - face.shares)
        worst = max(worst, float(off.max()))
    return Check("heads as stated", worst <= _AGREES, f"a share is off by {worst:.3g}")


def _contradiction(file: Saved, proof: Contradiction, K: Keys) -> Check:
    found = examine_proof(file.promise, K, proof)
    fine = found.holds and 0.0 <= proof.residual <= _AGREES
    if fine:
        goal = Demand.behind(file.promise).goal(proof.keys)
        fine = _agree(proof.imbalance, float(proof.coefficients @ goal), _AGREES)
    why = "; ".join(found.failures) or f"imbalance {proof.imbalance:.6g}"
    return Check("the proof", fine, why)


def _ceiling(file: Saved, stated: float, K: Keys) -> Check:
    """A stated ceiling must be allowed by the proof in the file."""
    proof = file.proof
    demand = Demand.behind(file.promise)
    least = 1.0
    if isinstance(proof, Combination) and set(proof.inside) <= set(demand.shares):
        found = verified(K, proof)
        least = 1.0 if found is None else most_mass(found, demand)
    fine = file.status == "impossible" and stated >= least * (1 - _AGREES)
    return Check("ceiling as stated", fine, f"stated {stated:.9g}, proven {least:.9g}")


def _nearest(file: Saved, K: Keys) -> Check:
    """The divergence is convex in the query; it is least where the mean key of the weights is that
    of the target."""
    target = file.promise.target
    weights = _measured_again(file, K)["weights"]
    off = float(np.linalg.norm((weights - target.dense(len(K))) @ K))
    size = float(np.sqrt(np.einsum("ij,ij->i", K, K).max()))
    single = len(file.promise.mix) == 1 and len(target.support) == len(K)
    fine = single and off <= _SAME_MEAN * size
    detail = f"the mean key is off by {off:.3g}, keys are up to {size:.3g} long"
    return Check("no mixture is nearer", fine, detail)


def _restated(name: str, said: float, found: float) -> Check:
    return Check(f"{name} as stated", _agree(said, found), f"stated {said:.9g}, found {found:.9g}")


def _agree(said: float, found: float, within: float = 0.0) -> bool:
    if math.isinf(said) or math.isinf(found):
        return said == found
    slack = _AGREES * max(abs(said), abs(found))
    return abs(said - found) <= slack + _TINY + within
