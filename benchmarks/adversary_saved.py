"""A search for a tampered design that `certify` passes, or that makes it crash.

Every field of several saved designs is replaced by junk of every kind, nudged, or taken out, and
the digest is repaired so that only the claims themselves can give the forgery away. Each forgery
must be bad input, fail a check, or be true: what passes is compared with the design that it was
made from, and with an evaluation in 60 digits.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import mpmath as mp
import numpy as np
from benchmarks.telling import as_they_come

from headwright import GaussianKeys, design
from headwright.design.record import document
from headwright.design.saved.document import sealed
from headwright.errors import InputError

# Restated numbers may differ from the truth by this, relative: what `certify` allows.
AGREES = 2e-6
# Smaller differences of a weight or a length from 0 are rounding.
TINY = 1e-15
QUICK_STEP = 23  # every so many forgeries

DEEP: list[Any] = []
for _ in range(700):
    DEEP = [DEEP]
JUNK: list[Any] = [
    None, True, False, "x", "Reached", "NaN", "nan", "inf", "-inf", "1e5",
    [], {}, [[]], [None], DEEP, {"a": DEEP},
    -1, 0, 1, 2, 0.5, 1e-320, 1e308, -1e308, 10**400, -(10**400), 2**63, math.inf, math.nan,
    "reached", "impossible", "nearest", "undecided", "auto", "bfloat16",
]  # fmt: skip


def run(*, quick: bool) -> dict[str, Any]:
    """Per design: forgeries, and how each ended."""
    mp.mp.dps = 60
    saved = designs()
    step = QUICK_STEP if quick else 1
    forged = (_forged(name, made, K, step) for name, (made, K) in saved.items())
    rows = list(as_they_come(forged, len(saved)))
    notes = [
        "a forgery that passes must be true; the only fields that may differ unseen are those "
        "named as unchecked"
    ]
    return {"title": "tampered designs", "rows": rows, "notes": notes}


def _forged(name: str, made: design.Design, K: np.ndarray, step: int) -> dict[str, Any]:
    """One in `step` of the forgeries of a design."""
    body = document(made)
    row: dict[str, Any] = {"family": name, "cases": 0, "violations": 0}
    row |= {"refused as input": 0, "failed a check": 0, "true": 0, "crashes": 0}
    for number, (path, forged) in enumerate(forgeries(body)):
        if number % step:
            continue
        row["cases"] += 1
        ending = outcome(body, path, forged, K)
        row["violations"] += ending in ("crashes", "false")
        row[ending] = row.get(ending, 0) + 1
    return row


def designs() -> dict[str, tuple[design.Design, np.ndarray]]:
    rng = np.random.default_rng(5)
    K = rng.standard_normal((12, 3))
    corners = [int(j) for j in np.flatnonzero(design.reach(K).reachable)]
    pair = next(
        [a, b]
        for a in corners
        for b in corners
        if a < b and design.selectable(K, [a, b]).margin > 0
    )
    flat = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.3, 0.3]])
    line = np.array([[0.0], [1.0], [2.0]])
    twins = np.array([[1.0], [1.0], [0.0]])
    square = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    bias = rng.standard_normal(12)
    law = GaussianKeys(np.eye(3), isotropic=1e-3)
    return {
        "copy": (design.copy(corners[0], K), K),
        "mixture with bias": (design.mixture({pair[0]: 0.6, pair[1]: 0.4}, K, bias=bias), K),
        "two heads": (design.average([0, 1], square, heads="auto"), square),
        "bfloat16": (design.average([0, 1], np.eye(4), storage="bfloat16"), np.eye(4)),
        "impossible": (design.copy(3, flat), flat),
        "impossible pair": (design.average([0, 1], square), square),
        "contradiction": (design.mixture({0: 0.2, 1: 0.8}, twins), twins),
        "nearest": (design.mixture([0.2, 0.3, 0.5], line), line),
        "robust": (design.copy(0, np.eye(3), law=law, seconds=0.2), np.eye(3)),
    }


def forgeries(body: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every place of the document, with junk, with a near number, or gone; sealed again."""
    for path in places(body):
        if path in ((), ("sha256",)):
            continue
        value = _at(body, path)
        changes = list(JUNK)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            changes += [value * 1.01, value * 0.99, value + 1, -value, value * 1e9]
        if isinstance(value, list) and value:
            changes += [value[:-1], [*value, value[-1]], value[::-1]]
        for change in changes:
            forged = _with(body, path, change)
            if forged is not None:
                yield path, forged
        forged = copy.deepcopy(body)
        parent = _at(forged, path[:-1])
        del parent[path[-1]]
        yield path, _sealed(forged)


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    pairs = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for step, child in pairs:
        yield from places(child, (*path, step))


def _at(node: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        node = node[step]
    return node


def _with(body: dict[str, Any], path: tuple[Any, ...], change: Any) -> dict[str, Any] | None:
    if _at(body, path) == change and type(_at(body, path)) is type(change):
        return None
    forged = copy.deepcopy(body)
    _at(forged, path[:-1])[path[-1]] = change
    return _sealed(forged)


def _sealed(forged: dict[str, Any]) -> dict[str, Any]:
    # Of a document that is no JSON there is no digest: it keeps the old one.
    with suppress(ValueError, RecursionError):
        return sealed(forged)
    return forged


def outcome(
    body: dict[str, Any], path: tuple[Any, ...], forged: dict[str, Any], K: np.ndarray
) -> str:
    try:
        found = design.certify(forged, K)
    except InputError:
        return "refused as input"
    except Exception:
        return "crashes"
    if not found.holds:
        return "failed a check"
    name = ".".join(str(step) for step in path if isinstance(step, str))
    if any(name == field or name.startswith(field + ".") for field in found.unchecked):
        return "true"
    return "true" if is_true(forged, body, K) else "false"


def is_true(forged: dict[str, Any], body: dict[str, Any], K: np.ndarray) -> bool:
    """Is a forgery that passes true after all? Bounds may be weaker than they need be, and more
    leak asked for."""
    weaker = {
        "lower_bound": forged["lower_bound"] <= _inf(body["lower_bound"]) * (1 + AGREES) + TINY,
        "ceiling": forged["ceiling"] is None
        or forged["ceiling"] >= (body["ceiling"] or 1.0) * (1 - AGREES),
        # "undecided" claims nothing, and a robust "nearest" nothing beyond the numbers.
        "status": forged["status"]
        in (body["status"], "undecided", "nearest" if body["robust"] else "undecided"),
    }
    if not all(weaker.values()):
        return False
    leak, weights, norm = evaluated(forged, K)
    stated = [(forged["norm"], norm), *zip(forged["weights_on_target"], weights, strict=True)]
    if any(abs(said - found) > AGREES * abs(found) + TINY for said, found in stated):
        return False
    if abs(forged["leak"] - leak) > forged["leak_error"]:
        return False
    if forged["status"] != "reached":
        return True
    shares = forged["target"]["shares"]
    ratio = [mp.log(w / p) for w, p in zip(weights, shares, strict=True)]
    return (
        leak <= forged["leak_asked"]
        and max(ratio) - min(ratio) <= forged["certificate"]["ratio_allowed"]
    )


def _inf(x: Any) -> float:
    return math.inf if x == "inf" else float(x)


def evaluated(body: dict[str, Any], K: np.ndarray) -> tuple[Any, list[Any], Any]:
    """Leak, weights on the target and the longest query, with 60 digits."""
    total = [mp.mpf(0)] * len(K)
    for q, share in zip(body["queries"], body["mix"], strict=True):
        z = [mp.mpf(body["scale"]) * mp.fdot(map(mp.mpf, k), map(mp.mpf, q)) for k in K.tolist()]
        z = (
            z
            if body["bias"] is None
            else [x + mp.mpf(b) for x, b in zip(z, body["bias"], strict=True)]
        )
        e = [mp.exp(x - max(z)) for x in z]
        total = [t + mp.mpf(share) * x / mp.fsum(e) for t, x in zip(total, e, strict=True)]
    support = body["target"]["support"]
    leak = mp.fsum(t for i, t in enumerate(total) if i not in support)
    norm = max(mp.sqrt(mp.fsum(mp.mpf(x) ** 2 for x in q)) for q in body["queries"])
    return leak, [total[a] for a in support], norm
