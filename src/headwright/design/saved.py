"""Designs on disk: one versioned JSON document, and the check that believes none of it.

`certify` recomputes every number from the keys and the queries. The digest of the keys catches the
wrong keys, the document's own digest any edit, and an edit that also repairs the digest meets the
recomputed claims. What keys and queries cannot show again is named in `unchecked`, and is not part
of the answer.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headwright import attention, inputs
from headwright.design.document import FORMAT, VERSION, Saved, parsed, read_json
from headwright.design.proofs import proof as proofs
from headwright.design.proofs.certificate import Certificate, examine, examine_proof
from headwright.design.proofs.proof import Combination, Contradiction
from headwright.design.proofs.reached import most_bent
from headwright.design.record import Design, measured, shown
from headwright.design.target import Target, Wanted, computable
from headwright.errors import InputError
from headwright.files import write_json
from headwright.result import plain, to_numpy
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


@dataclass(frozen=True)
class Recheck:
    """All checks of one saved design; `certificate` is computed afresh. `unchecked` names the
    fields that keys and queries cannot show again."""

    holds: bool
    status: str
    checks: tuple[Check, ...]
    certificate: Certificate
    unchecked: tuple[str, ...] = ()


def document(design: Design) -> dict[str, Any]:
    """The JSON document of a design."""
    assert design._wanted is not None
    body = {
        "format": FORMAT,
        "version": VERSION,
        **shown(design),
        "bias": design._wanted.bias,
        "keys": {
            "shape": list(design._wanted.keys.shape),
            "sha256": keys_digest(design._wanted.keys),
        },
        "certificate": design.certify(),
    }
    body = plain(body)
    return {**body, "sha256": _digest(body)}


def save(design: Design, path: str | Path) -> Path:
    return write_json(path, document(design))


def keys_digest(K: Keys) -> str:
    """SHA-256 of the shape and the keys as little-endian float64, row by row."""
    digest = hashlib.sha256(f"{K.shape[0]} {K.shape[1]} ".encode())
    for start in range(0, K.shape[0], 4096):
        digest.update(np.ascontiguousarray(K[start : start + 4096], dtype="<f8").tobytes())
    return digest.hexdigest()


def _digest(body: dict[str, Any]) -> str:
    text = json.dumps(
        body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def certify(saved: str | Path | dict[str, Any], K: Any, *, method: str = "float") -> Recheck:
    """Re-check a saved design against its keys. Bad files are `InputError`; false statements are
    failed checks."""
    body = saved if isinstance(saved, dict) else read_json(Path(saved))
    file = parsed(body)
    _, (K,) = inputs.arrays(keys=K)
    K = inputs.shape("keys", to_numpy(K).astype(float, copy=False), "n", "d")
    computable("keys", K)
    fits = _fit(file, K)
    checks = [
        Check("the file is as it was written", _sealed(body, file.digest), "its digest"),
        Check(
            "the keys are those of the design",
            fits and file.keys_shape == K.shape and keys_digest(K) == file.keys_digest,
            f"shape {K.shape[0]} x {K.shape[1]} and digest",
        ),
    ]
    if not fits:
        failed = ("the design does not fit these keys",)
        nothing = Certificate(False, 1.0, 1.0, math.inf, 0.0, 0.0, 0.0, "none", failed)
        return Recheck(False, file.status, tuple(checks), nothing)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        impossible = file.status == "impossible"
        usual = examine_proof(file.claim, K, file.proof) if impossible else examine(file.claim, K)
        certificate = (
            usual if impossible or method == "float" else examine(file.claim, K, method=method)
        )
        checks += (
            _numbers(file, K)
            + _certificate(file, usual)
            + _verdict(file, K, certificate)
            + _proof(file, K)
        )
    return Recheck(
        all(check.holds for check in checks),
        file.status,
        tuple(checks),
        certificate,
        _unchecked(file),
    )


def _unchecked(file: Saved) -> tuple[str, ...]:
    """What keys and queries cannot show: words, a search that is not repeated, a law that the file
    does not hold."""
    names = ["message", "target.word", "fewest_heads_when"]
    names += ["fewest_heads"] * (file.fewest_heads > 1)
    names += ["robust"] * file.robust
    names += ["heads.shares"] * (file.status != "reached")
    return tuple(names)


def _sealed(body: dict[str, Any], digest: str) -> bool:
    try:
        return _digest({k: v for k, v in body.items() if k != "sha256"}) == digest
    except (TypeError, ValueError, OverflowError, RecursionError) as reason:
        raise InputError(
            wanted=f"a {FORMAT} document of plain JSON",
            got=str(reason)[:80],
            attempt="save the design again",
        ) from None


def _numbers(file: Saved, K: Keys) -> list[Check]:
    """The numbers that the queries show by themselves."""
    claim, said = file.claim, file.said
    target = Target("mixture", claim.target.support, claim.target.shares)
    want = Wanted(target, K, claim.leak, claim.scale, claim.bias)
    found = measured(want, claim.queries, claim.mix, claim.faces)
    # The truth is within a quarter of the error found now (`measured`); what is stated must cover
    # all of that.
    covered = abs(said["leak"] - found["leak"]) + found["leak_error"] / 4 <= said["leak_error"]
    stated = f"stated {said['leak']:.9g}, found {found['leak']:.9g}"
    checks = [Check("leak as stated", covered, stated)]
    checks += [_restated(name, said[name], found[name]) for name in ("norm", "sharpness")]
    weights = found["weights"][list(claim.target.support)]
    off = np.abs(weights - file.weights_on_target) - _AGREES * np.abs(weights)
    detail = f"off by at most {float(np.abs(weights - file.weights_on_target).max()):.3g}"
    checks.append(Check("weights_on_target as stated", bool((off <= _TINY).all()), detail))
    return checks


def _certificate(file: Saved, found: Certificate) -> list[Check]:
    """The certificate in the file against the one computed now, by the same method."""
    said = file.certificate
    # Rounding errors differ from machine to machine by up to what is allowed for them.
    slack = {
        "ratio_error": found.ratio_allowed,
        "leak_bound": 0.0,
        "weights_error": 0.0,
        "ratio_allowed": 0.0,
    }
    numbers = [
        name
        for name, within in slack.items()
        if not _agree(said[name], getattr(found, name), within)
    ]
    numbers += ["norm"] * (not _agree(said["norm"], found.norm))
    numbers += ["norm_lower"] * (not said["norm_lower"] <= found.norm_lower * (1 + _AGREES))
    words = [name for name in ("holds", "method") if said[name] != getattr(found, name)]
    words += ["failures"] * (bool(said["failures"]) != bool(found.failures))
    wrong = [*words, *numbers]
    detail = "another one is found: " + ", ".join(wrong) if wrong else "the same one is found again"
    return [Check("the certificate in the file", not wrong, detail)]


def _verdict(file: Saved, K: Keys, certificate: Certificate) -> list[Check]:
    """What the status and the bounds say."""
    checks = []
    bound = file.said["lower_bound"]
    proven = certificate.norm_lower if file.status != "impossible" else 0.0
    detail = f"stated {bound:.9g}, proven {certificate.norm_lower:.9g}"
    checks.append(Check("no shorter query, as stated", bound <= proven * (1 + _AGREES), detail))
    checks += _ceiling(file, K)
    if file.status == "reached":
        why = "; ".join(certificate.failures) or f"leak at most {certificate.leak_bound:.9g}"
        checks.append(Check("the target is reached", certificate.holds, why))
        enough = file.fewest_heads <= len(file.claim.mix)
        checks.append(
            Check("fewest_heads is not above the heads there are", enough, f"{file.fewest_heads}")
        )
        checks.append(_served(file, K))
    elif file.status == "impossible":
        why = "; ".join(certificate.failures) or certificate.method
        checks.append(Check("the target is impossible", certificate.holds, why))
    elif file.status == "nearest" and not file.robust:
        checks.append(_nearest(file, K))
    return checks


def _served(file: Saved, K: Keys) -> Check:
    """The shares that each head gives the keys it serves."""
    claim = file.claim
    z = attention.logits(claim.queries, K, scale=claim.scale, bias=claim.bias)
    worst = 0.0
    for row, face in zip(attention.weights(z), claim.faces, strict=bool(claim.faces)):
        weights = row[list(face.support)]
        worst = max(worst, float(np.abs(weights / weights.sum() - face.shares).max()))
    return Check("heads as stated", worst <= _AGREES, f"a share is off by {worst:.3g}")


def _proof(file: Saved, K: Keys) -> list[Check]:
    """A proof stands beside a verdict that needs it, and is what it says it is."""
    proof = file.proof
    if proof is None:
        return []
    if file.status not in ("impossible", "nearest"):
        return [Check("the proof", False, f"a {file.status} target has none")]
    if isinstance(proof, Contradiction):
        found = examine_proof(file.claim, K, proof)
        goal = np.array([_goal(file, a) for a in proof.keys])
        fine = found.holds and _agree(proof.imbalance, float(proof.coefficients @ goal), _AGREES)
        fine = fine and 0.0 <= proof.residual <= _AGREES
        return [
            Check(
                "the proof", fine, "; ".join(found.failures) or f"imbalance {proof.imbalance:.6g}"
            )
        ]
    found = proofs.verified(K, proof)
    if found is None:
        return [Check("the proof", False, "it does not hold on these keys")]
    size = float(np.abs(K).max())
    same = found.exact == proof.exact and found.rational == file.rational
    same = same and proof.residual >= 0.0 and abs(proof.residual - found.residual) <= _AGREES * size
    return [
        Check(
            "the proof", same, "in rationals" if found.exact else "up to the rounding of the keys"
        )
    ]


def _goal(file: Saved, a: int) -> float:
    share = dict(
        zip(file.claim.target.support, file.claim.target.shares.tolist(), strict=True)
    ).get(a, 1.0)
    return math.log(share) - (0.0 if file.claim.bias is None else float(file.claim.bias[a]))


def _ceiling(file: Saved, K: Keys) -> list[Check]:
    """A stated ceiling must be allowed by the proof in the file."""
    if file.ceiling is None:
        return []
    proof, claim = file.proof, file.claim
    shares = dict(zip(claim.target.support, claim.target.shares.tolist(), strict=True))
    asked = proofs.Asked(
        shares, claim.leak, claim.bias, most_bent(claim.storage, len(shares)), one_head=True
    )
    apart = (
        isinstance(proof, Combination)
        and set(proof.inside) <= set(shares)
        and not set(proof.outside) & set(shares)
    )
    found = proofs.verified(K, proof) if apart and isinstance(proof, Combination) else None
    least = 1.0 if found is None else proofs.most_mass(found, asked)
    fine = file.status == "impossible" and file.ceiling >= least * (1 - _AGREES)
    return [Check("ceiling as stated", fine, f"stated {file.ceiling:.9g}, proven {least:.9g}")]


def _nearest(file: Saved, K: Keys) -> Check:
    """The divergence is convex in the query; it is least where the mean key of the weights is that
    of the target."""
    claim = file.claim
    target = Target("mixture", claim.target.support, claim.target.shares)
    found = measured(
        Wanted(target, K, claim.leak, claim.scale, claim.bias),
        claim.queries,
        claim.mix,
        claim.faces,
    )
    off = float(np.linalg.norm((found["weights"] - target.dense(len(K))) @ K))
    size = float(np.sqrt(np.einsum("ij,ij->i", K, K).max()))
    single = len(claim.mix) == 1 and len(target.support) == len(K)
    fine = single and off <= _SAME_MEAN * size
    return Check(
        "no mixture is nearer",
        fine,
        f"the mean key is off by {off:.3g}, keys are up to {size:.3g} long",
    )


def _restated(name: str, said: float, found: float) -> Check:
    return Check(f"{name} as stated", _agree(said, found), f"stated {said:.9g}, found {found:.9g}")


def _agree(said: float, found: float, within: float = 0.0) -> bool:
    if math.isinf(said) or math.isinf(found):
        return said == found
    return abs(said - found) <= _AGREES * max(abs(said), abs(found)) + _TINY + within


def _fit(file: Saved, K: Keys) -> bool:
    """Do all key numbers and lengths fit these keys?"""
    claim = file.claim
    named = [a for face in (claim.target, *claim.faces) for a in face.support]
    if isinstance(file.proof, Combination):
        named += [*file.proof.inside, *file.proof.outside]
    elif isinstance(file.proof, Contradiction):
        named += file.proof.keys
    n, d = K.shape
    inside = {a for face in claim.faces for a in face.support} <= set(claim.target.support)
    return (
        claim.queries.shape[1] == d
        and (claim.bias is None or len(claim.bias) == n)
        and max(named) < n
        and inside
    )
