"""Designs on disk: one versioned JSON document, and the check that believes none of it.

`certify` recomputes every number from the keys and the queries. The digest of the keys catches the wrong keys, the
document's own digest any edit, and an edit that also repairs the digest meets the recomputed claims.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headwright import attention, inputs
from headwright.design.certificate import TOLERANCE, Certificate, Claim, Face, examine, examine_proof
from headwright.design.proof import Combination, Contradiction
from headwright.design.record import Design, lead, shown
from headwright.errors import InputError
from headwright.files import write_json
from headwright.result import plain, to_numpy
from headwright.types import Keys

FORMAT, VERSION = "headwright-design", 1
# A restated number must agree with the recomputed one to this, relative; both come from float64 sums.
_AGREES = 1e-6


@dataclass(frozen=True)
class Check:
    """One statement of the file, and whether it is so."""

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True)
class Recheck:
    """All checks of one saved design; `certificate` is computed afresh."""

    holds: bool
    status: str
    checks: tuple[Check, ...]
    certificate: Certificate


def document(design: Design) -> dict[str, Any]:
    """The JSON document of a design."""
    assert design._wanted is not None
    body = {
        "format": FORMAT,
        "version": VERSION,
        **shown(design),
        "bias": design._wanted.bias,
        "tolerance": TOLERANCE[design.storage],
        "keys": {"shape": list(design._wanted.keys.shape), "sha256": keys_digest(design._wanted.keys)},
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
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def certify(saved: str | Path | dict[str, Any], K: Any, *, method: str = "float") -> Recheck:
    """Re-check a saved design against its keys. Bad files are `InputError`; false statements are failed checks."""
    body = dict(saved) if isinstance(saved, dict) else _read(Path(saved))
    _, (K,) = inputs.arrays(keys=K)
    K = inputs.shape("keys", to_numpy(K).astype(float, copy=False), "n", "d")
    try:
        claim, proof = _claim(body), _proof(body.get("proof"))
        inside = _inside(claim, proof, K)
        statements = {name: float(body[name]) for name in ("leak", "sharpness", "norm", "lower_bound")}
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as reason:
        raise InputError(
            wanted=f"a {FORMAT} document, version {VERSION}",
            got=f"one without readable {reason}",
            attempt="save the design again with --save",
        ) from None
    sealed = _digest({k: v for k, v in body.items() if k != "sha256"}) == body.get("sha256")
    same = inside and keys_digest(K) == body.get("keys", {}).get("sha256")
    checks = [
        Check("the file is as it was written", sealed, "its digest"),
        Check("the keys are those of the design", same, f"shape {K.shape[0]} x {K.shape[1]} and digest"),
    ]
    if not inside:
        empty = Certificate(False, 1.0, 1.0, 0.0, 0.0, "none", ("the design does not fit these keys",))
        return Recheck(False, str(body.get("status")), tuple(checks), empty)
    impossible = body.get("status") == "impossible"
    certificate = examine_proof(claim, K, proof) if impossible else examine(claim, K, method=method)
    checks += _statements(body, claim, K, statements, certificate)
    return Recheck(all(c.holds for c in checks), str(body.get("status")), tuple(checks), certificate)


def _statements(
    body: dict[str, Any], claim: Claim, K: Keys, said: dict[str, float], certificate: Certificate
) -> list[Check]:
    z = attention.logits(claim.queries, K, scale=claim.scale, bias=claim.bias)
    weights = claim.mix @ attention.weights(z)
    leak = float(np.delete(weights, list(claim.target.support)).sum())
    found = {"leak": leak, "norm": certificate.norm}
    if claim.faces:
        found["sharpness"] = lead(z, claim.faces) / abs(claim.scale)
    checks = [
        Check(f"{name} as stated", _agree(said[name], value), f"stated {said[name]:.9g}, found {value:.9g}")
        for name, value in found.items()
    ]
    proved = min(certificate.norm_lower, certificate.norm) * (1 + _AGREES)
    if body["status"] == "reached" and claim.storage == "float64" and claim.faces:
        detail = f"stated {said['lower_bound']:.9g}, proven {certificate.norm_lower:.9g}"
        checks.append(Check("no shorter query, as stated", said["lower_bound"] <= proved, detail))
    if body["status"] in ("reached", "impossible"):
        why = "; ".join(certificate.failures) or f"leak at most {certificate.leak_bound:.9g}"
        name = "the target is reached" if body["status"] == "reached" else "the target is impossible"
        if body["status"] == "impossible" and certificate.holds:
            why = certificate.method
        checks.append(Check(name, certificate.holds, why))
    return checks


def _agree(said: float, found: float) -> bool:
    return abs(said - found) <= _AGREES * max(abs(said), abs(found)) + 1e-15


def _read(path: Path) -> dict[str, Any]:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as reason:
        raise InputError(
            wanted="a design saved as JSON", got=f"{path.name}: {str(reason)[:80]}", attempt="--save D.json"
        ) from None
    if not isinstance(body, dict) or body.get("format") != FORMAT or body.get("version") != VERSION:
        raise InputError(
            wanted=f"format {FORMAT}, version {VERSION}",
            got=f"{path.name} without that header",
            attempt="save the design again with --save",
        )
    return body


def _claim(body: dict[str, Any]) -> Claim:
    bias = body.get("bias")
    claim = Claim(
        queries=_array(body["queries"], 2),
        mix=_array(body["mix"], 1),
        target=_face(body["target"]),
        leak=inputs.number("leak_asked", body["leak_asked"], low=0.0, high=1.0, open_ends=True),
        scale=inputs.number("scale", body["scale"]),
        bias=None if bias is None else _array(bias, 1),
        faces=tuple(_face(f) for f in body["heads"]),
        storage=str(body["storage"]),
        tolerance=TOLERANCE[str(body["storage"])],
        one_head=body["heads_asked"] == 1,
    )
    if len(claim.mix) != len(claim.queries) or (claim.faces and len(claim.faces) != len(claim.mix)):
        raise ValueError("heads")
    return claim


def _array(rows: Any, ndim: int) -> np.ndarray:
    array = np.array(rows, dtype=float)
    if array.ndim != ndim or not array.size or not np.all(np.isfinite(array)):
        raise ValueError("numbers")
    return array


def _face(given: dict[str, Any]) -> Face:
    support, shares = tuple(int(a) for a in given["support"]), _array(given["shares"], 1)
    if len(support) != len(shares) or len(set(support)) < len(support) or shares.min() <= 0:
        raise ValueError("target")
    return Face(support, shares)


def _proof(given: dict[str, Any] | None) -> Combination | Contradiction | None:
    if given is None:
        return None
    if "imbalance" in given:
        keys = tuple(int(a) for a in given["keys"])
        return Contradiction(
            keys, _array(given["coefficients"], 1), float(given["imbalance"]), float(given["residual"])
        )
    return Combination(
        outside=tuple(int(i) for i in given["outside"]),
        outside_coefficients=_array(given["outside_coefficients"], 1),
        inside=tuple(int(a) for a in given["inside"]),
        inside_coefficients=_array(given["inside_coefficients"], 1),
        residual=float(given["residual"]),
        exact=bool(given["exact"]),
    )


def _inside(claim: Claim, proof: Combination | Contradiction | None, K: Keys) -> bool:
    """Do all key numbers and lengths fit these keys?"""
    named = [a for face in (claim.target, *claim.faces) for a in face.support]
    if isinstance(proof, Combination):
        named += [*proof.inside, *proof.outside]
    n, d = K.shape
    fits = claim.queries.shape[1] == d and (claim.bias is None or len(claim.bias) == n)
    return fits and min(named) >= 0 and max(named) < n
