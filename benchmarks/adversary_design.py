"""A search for a query that contradicts a design: shorter than `lower_bound`, above `ceiling`, or
there at all where "impossible" was said.

Small problems on keys of every awkward kind are answered by headwright; then queries are looked for
by other means (a general-purpose solver on the same meaning of "reached", very long queries along
separating directions, the answer itself shrunk and nudged in its last digits). Only what the
certificate accepts counts, by either of its routes, and what it accepts is evaluated again with 60
digits: leak and ratio error must be within the stated bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
from benchmarks.telling import as_they_come
from scipy.optimize import minimize

from headwright import design
from headwright.design.proofs.certificate import Certificate, examine
from headwright.design.proofs.reached import Promise

CASES = 100
QUICK_CASES = 4
STARTS = 3
LEAKS = (1e-6, 1e-3, 0.05, 0.2, 0.34, 0.45)
# Lengths are sums of d squares in float64: equal lengths may differ by this.
SAME_LENGTH = 1e-14
Keys = np.ndarray
Rng = np.random.Generator


def run(*, quick: bool) -> dict[str, Any]:
    """Per family: designs, queries tried and accepted, and how often one contradicted what was
    claimed."""
    mp.mp.dps = 60
    cases = QUICK_CASES if quick else CASES
    made = (_family(name, make, cases) for name, make in FAMILIES.items())
    rows = list(as_they_come(made, len(FAMILIES)))
    notes = [
        "violations: accepted queries that are shorter than lower_bound, put more than the ceiling "
        "on the target, serve an impossible target, or leak or bend more than their certificate "
        "says",
        "bound / length: the largest lower_bound over the length of an accepted query; above 1 is "
        "a violation",
    ]
    return {"title": "queries that try to contradict a design", "rows": rows, "notes": notes}


def _family(name: str, make: Callable[[Rng], Keys], cases: int) -> dict[str, Any]:
    rng = np.random.default_rng(12)
    row: dict[str, Any] = {
        "family": name,
        "cases": 0,
        "impossible": 0,
        "tried": 0,
        "accepted": 0,
        "violations": 0,
    }
    row["bound / length"] = 0.0
    for _ in range(cases):
        answer = question(make(rng), rng)
        row["cases"] += 1
        row["impossible"] += answer.status == "impossible"
        for promise in attempts(answer, rng):
            row["tried"] += 1
            for method in ("float", "ball"):
                found = examine(promise, answer._wanted.keys, method=method)
                if not found.holds:
                    continue
                row["accepted"] += 1
                row["violations"] += bool(contradictions(answer, promise, found))
                if np.isfinite(answer.lower_bound):
                    row["bound / length"] = max(
                        row["bound / length"], answer.lower_bound / max(found.norm, 1e-300)
                    )
    return row


def question(K: Keys, rng: Rng) -> design.Design:
    """A random target on these keys, put to headwright."""
    m = min(int(rng.integers(1, 4)), len(K) - 1)
    support = [int(a) for a in rng.choice(len(K), m, replace=False)]
    shares = rng.dirichlet(np.full(m, 3.0)) if rng.random() < 0.5 else np.full(m, 1 / m)
    heads = "auto" if m > 1 and rng.random() < 0.25 else 1
    storage = str(rng.choice(["float64", "float64", "float64", "float32", "bfloat16"]))
    options = {
        "storage": storage,
        "scale": float(rng.choice([1.0, -0.5, 3.0])),
        "heads": heads,
        "seconds": 2.0,
    }
    if rng.random() < 0.3:
        options["bias"] = rng.standard_normal(len(K))
    leak = float(rng.choice(LEAKS))
    return design.mixture(
        dict(zip(support, (shares / shares.sum()).tolist(), strict=True)), K, leak=leak, **options
    )


def contradictions(answer: design.Design, promise: Promise, found: Certificate) -> list[str]:
    """What an accepted promise shows to be false in the design, or in its own certificate."""
    wrong = []
    if answer.status == "impossible":
        wrong.append("impossible, but accepted")
    if found.norm < answer.lower_bound * (1 - SAME_LENGTH):
        wrong.append(f"length {found.norm!r} below the bound {answer.lower_bound!r}")
    if answer.ceiling is not None and 1 - found.leak_bound > answer.ceiling:
        wrong.append(f"mass {1 - found.leak_bound!r} above the ceiling {answer.ceiling!r}")
    leak, ratio = truth(promise, answer._wanted.keys)
    if leak > found.leak_bound:
        wrong.append(f"leak {mp.nstr(leak, 20)} above {found.leak_bound!r}")
    if ratio > found.ratio_error:
        wrong.append(f"ratio error {mp.nstr(ratio, 20)} above {found.ratio_error!r}")
    return wrong


def truth(promise: Promise, K: Keys) -> tuple[Any, Any]:
    """Leak and ratio error of the mix, with 60 digits."""
    n = len(K)
    weights = [mp.mpf(0)] * n
    for q, share in zip(promise.queries, promise.mix, strict=True):
        z = [mp.mpf(promise.scale) * mp.fdot(map(mp.mpf, k), map(mp.mpf, q)) for k in K.tolist()]
        if promise.bias is not None:
            z = [x + mp.mpf(float(b)) for x, b in zip(z, promise.bias, strict=True)]
        top = max(z)
        e = [mp.exp(x - top) for x in z]
        total = mp.fsum(e)
        weights = [w + mp.mpf(float(share)) * x / total for w, x in zip(weights, e, strict=True)]
    inside = promise.target.support
    leak = mp.fsum(w for i, w in enumerate(weights) if i not in inside)
    logs = [
        mp.log(weights[a] / mp.mpf(float(p)))
        for a, p in zip(inside, promise.target.shares, strict=True)
    ]
    return leak, max(logs) - min(logs)


def attempts(answer: design.Design, rng: Rng) -> Iterator[Promise]:
    """Claims that compete with the design: same target, other queries."""
    promise = answer.promise()
    for factor in (1.0, 1 - 1e-15, 1 - 1e-12, 1 - 1e-10, 1 - 1e-8, 1 - 1e-6, 1 - 1e-4, 0.99):
        yield replace(promise, queries=answer.queries * factor)
    for _ in range(STARTS):
        noise = rng.integers(-2, 3, answer.queries.shape) * np.finfo(float).eps
        yield replace(promise, queries=answer.queries * (1 + noise))
        yield replace(promise, queries=answer.queries * (1 - 1e-9 + noise * 1e3))
    if len(answer.mix) > 1:
        return
    for query in found_otherwise(answer, rng):
        for stored in {
            "float64": (query,),
            "float32": (query.astype(np.float32).astype(float),),
        }.get(answer.storage, (_bfloat16(query),)):
            yield replace(promise, queries=stored[None])


def found_otherwise(answer: design.Design, rng: Rng) -> Iterator[np.ndarray]:
    """Queries by a general-purpose solver, in the ratio of the shares, and very long ones."""
    want = answer._wanted
    inside = list(want.target.support)
    goal = np.log(want.target.shares) - (0.0 if want.bias is None else want.bias[inside])
    E = want.scale * (want.keys[inside[1:]] - want.keys[inside[0]])
    rise = goal[1:] - goal[0]
    d = want.keys.shape[1]

    def room(q: np.ndarray) -> float:
        """ln of the leak odds asked for, minus those of q."""
        z = want.scale * (want.keys @ q) + (0.0 if want.bias is None else want.bias)
        beside = np.delete(z, inside)
        return float(np.log(want.leak / (1 - want.leak)) - _lse(beside) + _lse(z[inside]))

    limits = [{"type": "ineq", "fun": room}]
    limits += [{"type": "eq", "fun": lambda q: E @ q - rise}] if len(inside) > 1 else []
    for start in _starts(want.keys, inside, answer, rng):
        with np.errstate(all="ignore"):
            end = minimize(
                lambda q: q @ q, start, jac=lambda q: 2 * q, constraints=limits, method="SLSQP"
            )
        for q in (end.x, start):
            if np.all(np.isfinite(q)):
                q = _on_ratio(q, E, rise)
                direction = _on_ratio(q, E, np.zeros_like(rise))
                yield q
                yield from (
                    q + t * direction for t in (1e-9, 1e-6, 1e-3, 0.1, 1e3, 1e6, 1e9, 1e12, 1e15)
                )
    yield from (np.zeros(d), *(10.0**k * rng.standard_normal(d) for k in range(-2, 18, 4)))


def _starts(K: Keys, inside: list[int], answer: design.Design, rng: Rng) -> Iterator[np.ndarray]:
    centre = K[inside].mean(axis=0)
    yield answer.queries[0]
    yield (centre - K.mean(axis=0)) * np.sign(answer.scale)
    for _ in range(STARTS):
        yield rng.standard_normal(K.shape[1]) * 3
    exact = design.selectable(K, inside, tolerance=0)
    if exact.query is not None:
        # The stored numbers can be separated: by a query of the length that takes.
        yield exact.query * np.sign(answer.scale) * 40 / max(abs(exact.margin), 1e-18)


def _on_ratio(q: np.ndarray, E: np.ndarray, rise: np.ndarray) -> np.ndarray:
    for _ in range(3 if len(E) else 0):
        q = q + np.linalg.lstsq(E, rise - E @ q, rcond=None)[0]
    return q


def _lse(z: np.ndarray) -> float:
    return float(np.logaddexp.reduce(z))


def _bfloat16(q: np.ndarray) -> np.ndarray:
    """The nearest bfloat16, by the bits of a float32."""
    with np.errstate(over="ignore"):
        bits = (
            np.nan_to_num(q.astype(np.float32), posinf=3e38, neginf=-3e38)
            .view(np.uint32)
            .astype(np.uint64)
        )
    return ((bits + 0x8000) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(float)


def _size(rng: Rng) -> tuple[int, int]:
    return int(rng.integers(4, 10)), int(rng.integers(1, 5))


def _midpoint(rng: Rng) -> Keys:
    K = rng.standard_normal(_size(rng))
    K[0] = (K[1] + K[2]) / 2
    return K


def _copies(rng: Rng) -> Keys:
    K = rng.standard_normal(_size(rng))
    return K[rng.integers(0, len(K), len(K))]


def _near_copies(rng: Rng) -> Keys:
    K = _copies(rng)
    return K * (1 + 1e-7 * rng.standard_normal(K.shape))


def _low_rank(rng: Rng) -> Keys:
    n, d = _size(rng)
    return rng.standard_normal((n, max(1, d - 1))) @ rng.standard_normal((max(1, d - 1), d + 1))


def _crowded(rng: Rng) -> Keys:
    """The target's keys around a crowd in the middle: large leaks are possible, small ones are
    not."""
    n, d = _size(rng)
    corner = rng.standard_normal((1, d))
    return np.vstack([corner, -corner, 0.1 * rng.standard_normal((n - 2, d))])


FAMILIES: dict[str, Callable[[Rng], Keys]] = {
    "gaussian": lambda rng: rng.standard_normal(_size(rng)),
    "lattice": lambda rng: rng.integers(-2, 3, _size(rng)).astype(float),
    "rounded midpoint": _midpoint,
    "copies": _copies,
    "near copies": _near_copies,
    "low rank, rounded": _low_rank,
    "crowd in the middle": _crowded,
    "far away": lambda rng: rng.standard_normal(_size(rng)) + 1e6,
    "uneven": lambda rng: rng.standard_normal(_size(rng)) * 10.0 ** rng.uniform(-3, 3, (1, 1)),
}
