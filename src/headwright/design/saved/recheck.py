"""`certify`: a saved design is read, and every statement in it is checked against the keys.

The digest of the keys catches the wrong keys, the document's own digest any edit, and an edit that
also repairs the digest meets the recomputed claims (`checks`). What keys and queries cannot show
again is named in `unchecked`, and is not part of the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headwright import inputs
from headwright.design.proofs.certificate import Certificate, examine, examine_proof
from headwright.design.proofs.proof import Combination, Contradiction
from headwright.design.saved.checks import (
    Check,
    certificate_check,
    numbers_checks,
    proof_check,
    verdict_checks,
)
from headwright.design.saved.document import Saved, keys_digest, parsed, read_json, sealed
from headwright.design.saved.fields import FORMAT
from headwright.design.target import computable
from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.types import Keys


@dataclass(frozen=True)
class Recheck:
    """All checks of one saved design; `certificate` is computed afresh. `unchecked` names the
    fields that keys and queries cannot show again."""

    holds: bool
    status: str
    checks: tuple[Check, ...]
    certificate: Certificate
    unchecked: tuple[str, ...] = ()


def certify(saved: str | Path | dict[str, Any], K: Any, *, method: str = "float") -> Recheck:
    """Re-check a saved design against its keys. Bad files are `InputError`; false statements are
    failed checks.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> K = [[1, 0], [0, 1]]
    >>> with TemporaryDirectory() as folder:
    ...     saved = hw.design.copy(0, K, leak=0.01).save(Path(folder, "design.json"))
    ...     hw.design.certify(saved, K).holds
    True
    """
    body = saved if isinstance(saved, dict) else read_json(Path(saved))
    file = parsed(body)
    _, (K,) = inputs.arrays(keys=K)
    K = inputs.shape("keys", to_numpy(K).astype(float, copy=False), "n", "d")
    computable("keys", K)

    fits = _fit(file, K)
    same_keys = fits and file.keys_shape == K.shape and keys_digest(K) == file.keys_digest
    shape = f"shape {K.shape[0]} x {K.shape[1]} and digest"
    checks = [
        Check("the file is as it was written", _seal_holds(body, file.digest), "its digest"),
        Check("the keys are those of the design", same_keys, shape),
    ]
    if not fits:
        return Recheck(False, file.status, tuple(checks), _nothing_certified())

    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        usual, certificate = _certificates(file, K, method)
        checks += numbers_checks(file, K)
        checks.append(certificate_check(file, usual))
        checks += verdict_checks(file, K, certificate)
        if file.proof is not None:
            checks.append(proof_check(file, K))
    holds = all(check.holds for check in checks)
    return Recheck(holds, file.status, tuple(checks), certificate, _unchecked(file))


def _certificates(file: Saved, K: Keys, method: str) -> tuple[Certificate, Certificate]:
    """The certificate that is comparable with the one in the file, and the one by `method`."""
    if file.status == "impossible":
        by_proof = examine_proof(file.promise, K, file.proof)
        return by_proof, by_proof
    usual = examine(file.promise, K)
    if method == "float":
        return usual, usual
    return usual, examine(file.promise, K, method=method)


def _nothing_certified() -> Certificate:
    return Certificate(
        holds=False,
        leak_bound=1.0,
        weights_error=1.0,
        ratio_error=math.inf,
        ratio_allowed=0.0,
        norm=0.0,
        norm_lower=0.0,
        method="none",
        failures=("the design does not fit these keys",),
    )


def _unchecked(file: Saved) -> tuple[str, ...]:
    """What keys and queries cannot show: words, a search that is not repeated, a law that the file
    does not hold."""
    names = ["message", "target.word", "fewest_heads_when"]
    if file.fewest_heads > 1:
        names.append("fewest_heads")
    if file.robust:
        names.append("robust")
    if file.status != "reached":
        names.append("heads.shares")
    return tuple(names)


def _seal_holds(body: dict[str, Any], digest: str) -> bool:
    try:
        return sealed(body)["sha256"] == digest
    except (TypeError, ValueError, OverflowError, RecursionError) as reason:
        raise InputError(
            wanted=f"a {FORMAT} document of plain JSON",
            got=str(reason)[:80],
            attempt="save the design again",
        ) from None


def _fit(file: Saved, K: Keys) -> bool:
    """Do all key numbers and lengths fit these keys?"""
    promise = file.promise
    served = {a for face in promise.faces for a in face.support}
    named = {*promise.target.support, *served}
    if isinstance(file.proof, Combination):
        named.update(file.proof.inside, file.proof.outside)
    elif isinstance(file.proof, Contradiction):
        named.update(file.proof.keys)

    n, d = K.shape
    width_fits = promise.queries.shape[1] == d
    bias_fits = promise.bias is None or len(promise.bias) == n
    split_fits = served <= set(promise.target.support)
    return width_fits and bias_fits and split_fits and max(named) < n
