"""The document of a design: its digests, and how a stranger's is read, field by field.

Only what is said is read here, in types and within limits (`fields`); whether it is so is for
`checks`.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headwright.design.proofs.proof import Combination, Contradiction
from headwright.design.proofs.reached import Promise
from headwright.design.saved import fields
from headwright.design.saved.fields import FORMAT, VERSION, bad, get
from headwright.design.storage import STORAGES
from headwright.design.target import Target
from headwright.types import Heads, Keys

STATUSES = ("reached", "impossible", "nearest", "undecided")
WORDS = ("copy", "average", "mixture")
# Queries, mix, scale and bias are the same in both versions.
_VERSIONS_WITH_HEADS = (1, 2)
_SHARES_SUM = 1e-9
_ROWS = 4096  # keys digested at a time
_NUMBERS = ("leak", "leak_error", "sharpness", "norm")
_CERTIFICATE_NUMBERS = (
    "leak_bound",
    "weights_error",
    "ratio_error",
    "ratio_allowed",
    "norm",
    "norm_lower",
)


@dataclass(frozen=True)
class Saved:
    """What a file says, in types; `said` has the numbers that can be computed again, by name."""

    status: str
    promise: Promise
    proof: Combination | Contradiction | None
    said: dict[str, float]
    ceiling: float | None
    weights_on_target: np.ndarray
    certificate: dict[str, Any]
    fewest_heads: int
    robust: bool
    rational: tuple[str, ...] | None
    keys_shape: tuple[int, ...]
    keys_digest: str
    digest: str


def keys_digest(K: Keys) -> str:
    """SHA-256 of the shape and the keys as little-endian float64, row by row."""
    digest = hashlib.sha256(f"{K.shape[0]} {K.shape[1]} ".encode())
    for start in range(0, K.shape[0], _ROWS):
        rows = np.ascontiguousarray(K[start : start + _ROWS], dtype="<f8")
        digest.update(rows.tobytes())
    return digest.hexdigest()


def sealed(body: dict[str, Any]) -> dict[str, Any]:
    """The document with the digest of everything else in it."""
    rest = {name: value for name, value in body.items() if name != "sha256"}
    text = json.dumps(
        rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return {**rest, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def read_json(path: Path) -> Any:
    """The file as JSON; NaN and Infinity are no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except (OSError, ValueError, RecursionError) as reason:
        raise bad("the file", f"{path.name}: {str(reason)[:80]}") from None


def read_heads(path: Path) -> dict[str, Any]:
    """`queries`, `mix`, `scale` and `bias` of a saved design, as they stand there. What the file
    claims is for `certify`; here only its heads are used."""
    body = read_json(path)
    known = isinstance(body, dict) and body.get("version") in _VERSIONS_WITH_HEADS
    if not known or not body.get("queries"):
        raise bad("queries", f"{path.name} without them")
    return {name: body.get(name) for name in ("queries", "mix", "scale", "bias")}


def parsed(body: Any) -> Saved:
    """The fields of one document; `InputError` names the first that cannot be meant."""
    body = fields.table("the document", body)
    _known_version(body)
    status = fields.one_of("status", get(body, "status"), STATUSES)
    keys = fields.table("keys", get(body, "keys"))
    said = {name: fields.number(name, get(body, name)) for name in _NUMBERS}
    said["lower_bound"] = fields.number("lower_bound", get(body, "lower_bound"), infinite=True)
    ceiling = get(body, "ceiling")
    promise = _promise(body)
    on_target = get(body, "weights_on_target")
    shape = fields.entries("keys.shape", get(keys, "shape"))
    return Saved(
        status=status,
        promise=promise,
        proof=_proof(get(body, "proof")),
        said=said,
        ceiling=None if ceiling is None else fields.number("ceiling", ceiling),
        weights_on_target=fields.numbers(
            "weights_on_target", on_target, len(promise.target.support)
        ),
        certificate=_certificate(get(body, "certificate")),
        fewest_heads=fields.whole("fewest_heads", get(body, "fewest_heads"), low=1),
        robust=get(body, "robust") is not None,
        rational=_rational(get(body, "proof")),
        keys_shape=tuple(fields.whole("keys.shape", x, low=1) for x in shape),
        keys_digest=fields.text("keys.sha256", get(keys, "sha256")),
        digest=fields.text("sha256", get(body, "sha256")),
    )


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _known_version(body: dict[str, Any]) -> None:
    version = body.get("version")
    known = type(version) is int and version == VERSION
    if body.get("format") != FORMAT or not known:
        raise bad("format and version", f"{body.get('format')!r:.40}, {version!r:.40}")


def _promise(body: dict[str, Any]) -> Promise:
    queries = _queries(get(body, "queries"))
    target = _target(get(body, "target"))
    bias = get(body, "bias")
    faces = _faces(get(body, "heads"))
    asked = get(body, "heads_asked")
    one_head = asked != "auto" and fields.whole("heads_asked", asked, low=1) == 1
    leak = fields.number("leak_asked", get(body, "leak_asked"))
    scale = fields.number("scale", get(body, "scale"))
    if not 0.0 < leak < 1.0:
        raise bad("leak_asked between 0 and 1", f"{leak:g}")
    if not 1 / fields.LARGEST < abs(scale) < fields.LARGEST:
        raise bad("a scale other than 0", f"{scale:g}")
    if faces and len(faces) != len(queries):
        raise bad("one entry of heads per query", f"{len(faces)} for {len(queries)}")
    return Promise(
        queries=queries,
        mix=fields.numbers("mix", get(body, "mix"), len(queries)),
        target=target,
        leak=leak,
        scale=scale,
        bias=None if bias is None else fields.numbers("bias", bias, None),
        faces=faces,
        storage=fields.one_of("storage", get(body, "storage"), STORAGES),
        one_head=one_head,
    )


def _queries(given: Any) -> Heads:
    rows = fields.entries("queries", given)
    width = len(fields.entries("queries[0]", rows[0]))
    checked = [fields.numbers(f"queries[{h}]", row, width) for h, row in enumerate(rows)]
    return np.stack(checked)


def _target(given: Any) -> Target:
    given = fields.table("target", given)
    word = fields.one_of("target.word", get(given, "word"), WORDS)
    return _shares("target", given, word)


def _faces(given: Any) -> tuple[Target, ...]:
    """No faces are said by an empty list: the heads share the target."""
    if given == []:
        return ()
    tables = fields.entries("heads", given)
    return tuple(_shares("heads", fields.table("heads", face), "mixture") for face in tables)


def _shares(name: str, given: dict[str, Any], word: str) -> Target:
    support = fields.key_numbers(f"{name}.support", get(given, "support"))
    shares = fields.numbers(f"{name}.shares", get(given, "shares"), len(support))
    total = math.fsum(shares.tolist())
    if shares.min() <= 0.0 or abs(total - 1.0) > _SHARES_SUM:
        raise bad(f"{name}.shares above 0 that sum to 1", f"sum {total:.6g}")
    return Target(support, shares, word)


def _proof(given: Any) -> Combination | Contradiction | None:
    if given is None:
        return None
    given = fields.table("proof", given)
    residual = fields.number("proof.residual", get(given, "residual"))
    if "imbalance" in given:
        keys, coefficients = _side(given, "keys", "coefficients")
        imbalance = fields.number("proof.imbalance", given["imbalance"])
        return Contradiction(keys, coefficients, imbalance, residual)

    outside, outside_coefficients = _side(given, "outside", "outside_coefficients")
    inside, inside_coefficients = _side(given, "inside", "inside_coefficients")
    return Combination(
        outside=outside,
        outside_coefficients=outside_coefficients,
        inside=inside,
        inside_coefficients=inside_coefficients,
        residual=residual,
        exact=fields.truth("proof.exact", get(given, "exact")),
    )


def _side(proof: dict[str, Any], keys: str, coefficients: str) -> tuple[tuple[int, ...], Any]:
    """Key numbers of a proof, and a coefficient for each."""
    numbers = fields.key_numbers(f"proof.{keys}", get(proof, keys))
    row = get(proof, coefficients)
    return numbers, fields.numbers(f"proof.{coefficients}", row, len(numbers))


def _rational(proof: Any) -> tuple[str, ...] | None:
    given = proof.get("rational") if isinstance(proof, dict) else None
    if given is None:
        return None
    row = fields.entries("proof.rational", given)
    return tuple(fields.text("proof.rational", x) for x in row)


def _certificate(given: Any) -> dict[str, Any]:
    given = fields.table("certificate", given)
    found: dict[str, Any] = {
        name: fields.number(f"certificate.{name}", get(given, name), infinite=True)
        for name in _CERTIFICATE_NUMBERS
    }
    found["holds"] = fields.truth("certificate.holds", get(given, "holds"))
    found["method"] = fields.text("certificate.method", get(given, "method"))

    failures = get(given, "failures")
    if not isinstance(failures, list) or not all(isinstance(text, str) for text in failures):
        raise bad("certificate.failures as a list of text", f"{failures!r:.40}")
    found["failures"] = failures
    return found
