"""Reading a saved design as a stranger's file: every field has its type and its limits, or the file
is bad input.

Nothing is guessed: a boolean is no number, text is no number (but "inf" where a bound may be
infinite), numbers are finite and of a size whose squares exist, key numbers are whole, and a status
is one of four words.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headwright.design.proofs.proof import Combination, Contradiction
from headwright.design.proofs.reached import Claim, Face
from headwright.design.storage import STORAGES
from headwright.errors import InputError

FORMAT = "headwright-design"
VERSION = 2
STATUSES = ("reached", "impossible", "nearest", "undecided")
WORDS = ("copy", "average", "mixture")
_LARGEST = 1e150  # squares exist
_MOST_KEY = 2**31
_SHARES_SUM = 1e-9
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
    claim: Claim
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


def read_json(path: Path) -> Any:
    """The file as JSON; NaN and Infinity are no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except (OSError, ValueError, RecursionError) as reason:
        raise _bad("the file", f"{path.name}: {str(reason)[:80]}") from None


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def parsed(body: Any) -> Saved:
    """The fields of one document; `InputError` names the first that cannot be meant."""
    body = _table("the document", body)
    if (
        body.get("format") != FORMAT
        or type(body.get("version")) is not int
        or body["version"] != VERSION
    ):
        raise _bad("format and version", f"{body.get('format')!r:.40}, {body.get('version')!r:.40}")
    status = _one_of("status", _get(body, "status"), STATUSES)
    keys = _table("keys", _get(body, "keys"))
    said = {name: _number(name, _get(body, name)) for name in _NUMBERS}
    said["lower_bound"] = _number("lower_bound", _get(body, "lower_bound"), infinite=True)
    ceiling = _get(body, "ceiling")
    claim = _claim(body)
    return Saved(
        status=status,
        claim=claim,
        proof=_proof(_get(body, "proof")),
        said=said,
        ceiling=None if ceiling is None else _number("ceiling", ceiling),
        weights_on_target=_numbers(
            "weights_on_target", _get(body, "weights_on_target"), len(claim.target.support)
        ),
        certificate=_certificate(_get(body, "certificate")),
        fewest_heads=_whole("fewest_heads", _get(body, "fewest_heads"), low=1),
        robust=_get(body, "robust") is not None,
        rational=_rational(_get(body, "proof")),
        keys_shape=tuple(
            _whole("keys.shape", x, low=1) for x in _list("keys.shape", _get(keys, "shape"))
        ),
        keys_digest=_text("keys.sha256", _get(keys, "sha256")),
        digest=_text("sha256", _get(body, "sha256")),
    )


def _claim(body: dict[str, Any]) -> Claim:
    rows = _list("queries", _get(body, "queries"))
    width = len(_list("queries[0]", rows[0]))
    queries = np.stack([_numbers(f"queries[{h}]", row, width) for h, row in enumerate(rows)])
    target = _table("target", _get(body, "target"))
    _one_of("target.word", _get(target, "word"), WORDS)
    bias = _get(body, "bias")
    served = _get(body, "heads")
    faces = () if served == [] else tuple(_face("heads", face) for face in _list("heads", served))
    asked = _get(body, "heads_asked")
    one_head = asked != "auto" and _whole("heads_asked", asked, low=1) == 1
    leak = _number("leak_asked", _get(body, "leak_asked"))
    scale = _number("scale", _get(body, "scale"))
    if not 0.0 < leak < 1.0:
        raise _bad("leak_asked between 0 and 1", f"{leak:g}")
    if not 1 / _LARGEST < abs(scale) < _LARGEST:
        raise _bad("a scale other than 0", f"{scale:g}")
    if faces and len(faces) != len(queries):
        raise _bad("one entry of heads per query", f"{len(faces)} for {len(queries)}")
    return Claim(
        queries=queries,
        mix=_numbers("mix", _get(body, "mix"), len(queries)),
        target=_face("target", target),
        leak=leak,
        scale=scale,
        bias=None if bias is None else _numbers("bias", bias, None),
        faces=faces,
        storage=_one_of("storage", _get(body, "storage"), STORAGES),
        one_head=one_head,
    )


def _face(name: str, given: Any) -> Face:
    given = _table(name, given)
    support = _key_numbers(f"{name}.support", _get(given, "support"))
    shares = _numbers(f"{name}.shares", _get(given, "shares"), len(support))
    if shares.min() <= 0.0 or abs(math.fsum(shares.tolist()) - 1.0) > _SHARES_SUM:
        raise _bad(f"{name}.shares above 0 that sum to 1", f"sum {math.fsum(shares.tolist()):.6g}")
    return Face(support, shares)


def _proof(given: Any) -> Combination | Contradiction | None:
    if given is None:
        return None
    given = _table("proof", given)
    residual = _number("proof.residual", _get(given, "residual"))
    if "imbalance" in given:
        keys = _key_numbers("proof.keys", _get(given, "keys"))
        coefficients = _numbers("proof.coefficients", _get(given, "coefficients"), len(keys))
        return Contradiction(
            keys, coefficients, _number("proof.imbalance", given["imbalance"]), residual
        )
    outside = _key_numbers("proof.outside", _get(given, "outside"))
    inside = _key_numbers("proof.inside", _get(given, "inside"))
    return Combination(
        outside=outside,
        outside_coefficients=_numbers(
            "proof.outside_coefficients", _get(given, "outside_coefficients"), len(outside)
        ),
        inside=inside,
        inside_coefficients=_numbers(
            "proof.inside_coefficients", _get(given, "inside_coefficients"), len(inside)
        ),
        residual=residual,
        exact=_truth("proof.exact", _get(given, "exact")),
    )


def _rational(proof: Any) -> tuple[str, ...] | None:
    given = proof.get("rational") if isinstance(proof, dict) else None
    if given is None:
        return None
    return tuple(_text("proof.rational", x) for x in _list("proof.rational", given))


def _certificate(given: Any) -> dict[str, Any]:
    given = _table("certificate", given)
    numbers = {
        name: _number(f"certificate.{name}", _get(given, name), infinite=True)
        for name in _CERTIFICATE_NUMBERS
    }
    holds = _truth("certificate.holds", _get(given, "holds"))
    method = _text("certificate.method", _get(given, "method"))
    failures = _get(given, "failures")
    if not isinstance(failures, list) or not all(isinstance(text, str) for text in failures):
        raise _bad("certificate.failures as a list of text", f"{failures!r:.40}")
    return {**numbers, "holds": holds, "method": method, "failures": failures}


def _get(table: dict[str, Any], name: str) -> Any:
    if name not in table:
        raise _bad(f"a field {name}", "none")
    return table[name]


def _table(name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _bad(f"{name} as a table", f"{type(given).__name__}")
    return given


def _list(name: str, given: Any) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise _bad(f"{name} as a list with entries", f"{given!r:.40}")
    return given


def _text(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise _bad(f"{name} as text", f"{given!r:.40}")
    return given


def _truth(name: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise _bad(f"{name} true or false", f"{given!r:.40}")
    return given


def _one_of(name: str, given: Any, known: tuple[str, ...]) -> str:
    if not isinstance(given, str) or given not in known:
        raise _bad(f"{name} one of {', '.join(known)}", f"{given!r:.40}")
    return given


def _number(name: str, given: Any, *, infinite: bool = False) -> float:
    if infinite and given == "inf" and isinstance(given, str):
        return math.inf
    if (
        isinstance(given, bool)
        or not isinstance(given, (int, float))
        or not -_LARGEST < given < _LARGEST
    ):
        raise _bad(f"{name} as a finite number", _short(given))
    return float(given)


def _whole(name: str, given: Any, *, low: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not low <= given < _MOST_KEY:
        raise _bad(f"{name} as a whole number from {low}", _short(given))
    return given


def _numbers(name: str, given: Any, count: int | None) -> np.ndarray:
    row = _list(name, given)
    if count is not None and len(row) != count:
        raise _bad(f"{name} with {count} numbers", f"{len(row)}")
    return np.array([_number(f"{name}[{i}]", x) for i, x in enumerate(row)])


def _key_numbers(name: str, given: Any) -> tuple[int, ...]:
    found = tuple(_whole(f"{name}[{i}]", a, low=0) for i, a in enumerate(_list(name, given)))
    if len(set(found)) < len(found):
        raise _bad(f"{name} with every key once", "one twice")
    return found


def _short(given: Any) -> str:
    """A whole number of thousands of digits is not written out."""
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) > _MOST_KEY:
        return f"a whole number of {given.bit_length()} bits"
    return f"{given!r:.40}"


def _bad(wanted: str, got: str) -> InputError:
    return InputError(
        wanted=f"{wanted} in a {FORMAT} document, version {VERSION}",
        got=got,
        attempt="save the design again with --save",
    )
