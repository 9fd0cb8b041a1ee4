"""The three questions, `copy`, `average` and `mixture`, and how an answer is put together.

This file only wires: target -> split into faces -> one query per face -> one record. Options that few callers need
travel in one record, so that the three signatures stay short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from headwright import attention, inputs
from headwright.design.certificate import Face
from headwright.design.one_head import Head, one_head
from headwright.design.record import Design, lead
from headwright.design.storage import checked
from headwright.design.target import (
    Target,
    Wanted,
    average_target,
    copy_target,
    mixture_target,
    wanted,
)
from headwright.errors import InputError


@dataclass(frozen=True)
class Options:
    """`scale` and `bias` of the logits; `storage` of the query ("float64", "float32", "bfloat16"); `uniform` head
    weights; `seconds` for the search for fewest heads. For robust designs: `values` (n, v; by default the target is
    measured in weights), `budget` on the length of every query, and the `seed` of the sampled check."""

    scale: float = 1.0
    bias: Any = None
    storage: str = "float64"
    uniform: bool = False
    seconds: float = 10.0
    values: Any = None
    budget: float | None = None
    seed: int = 0


def copy(j: Any, K: Any, *, leak: float = 1e-3, heads: Any = 1, law: Any = None, **options: Any) -> Design:
    """The cheapest query that puts all but `leak` of the weight on key j. Options: see `Options`."""
    return _answer(lambda n: copy_target(j, n), K, leak, heads, law, options)


def average(keys: Any, K: Any, *, leak: float = 1e-3, heads: Any = 1, law: Any = None, **options: Any) -> Design:
    """Equal weights on several keys. `heads`: 1, another number, or "auto" for the fewest."""
    return _answer(lambda n: average_target(keys, n), K, leak, heads, law, options)


def mixture(shares: Any, K: Any, *, leak: float = 1e-3, heads: Any = 1, law: Any = None, **options: Any) -> Design:
    """Given shares on several keys, `{key: share}`; or n shares, one per key."""
    return _answer(lambda n: mixture_target(shares, n), K, leak, heads, law, options)


def _answer(
    target: Callable[[int], Target], K: Any, leak: Any, heads: Any, law: Any, options: dict[str, Any]
) -> Design:
    known = {field.name for field in fields(Options)}
    if not set(options) <= known:
        raise InputError(
            wanted=f"options among {', '.join(sorted(known))}",
            got=", ".join(sorted(set(options) - known)),
            attempt="help(headwright.design.Options)",
        )
    chosen = Options(**options)
    checked(chosen.storage)
    want = wanted(target, K, leak=leak, scale=chosen.scale, bias=chosen.bias)
    count = _count(heads, len(want.target.support))
    if law is not None:
        from headwright.design.robust import robust

        return robust(want, law, heads=count, options=chosen)
    return exact_design(want, count, chosen)


def exact_design(want: Wanted, heads: int | str, options: Options) -> Design:
    """Keys as they are: split, solve every face, assemble."""
    whole = Face(want.target.support, want.target.shares)
    if heads == 1 or len(whole.support) == 1:
        return assemble(want, (whole,), np.ones(1), [one_head(want, whole, storage=options.storage)], options)
    from headwright.design.heads import split

    found = split(want, heads=heads, uniform=options.uniform, seconds=options.seconds)
    if not found.faces:
        alone = exact_design(want, 1, options)
        if alone.status == "reached":
            return replace(alone, heads_asked=heads)
        return replace(
            alone,
            status="impossible" if found.proven else "undecided",
            heads_asked=heads,
            fewest_heads=found.fewest,
            proof=found.proof,
            ceiling=None,
            message=found.message,
        )
    solved = [one_head(want, face, storage=options.storage) for face in found.faces]
    design = assemble(want, found.faces, found.mix, solved, options)
    said = found.message if heads != "auto" or found.message else _fewest(found.proven, len(found.faces), found.fewest)
    return replace(
        design,
        # A face that one head cannot serve proves nothing about other splits.
        status="undecided" if design.status == "impossible" else design.status,
        heads_asked=heads,
        fewest_heads=found.fewest,
        message="; ".join(filter(None, [said, design.message])),
    )


def _fewest(proven: bool, count: int, least: int) -> str:
    return f"{count} head{'s' * (count > 1)} ({'proven' if proven else f'at least {least} needed'})"


def assemble(want: Wanted, faces: tuple[Face, ...], mix: Any, heads: list[Head], options: Options) -> Design:
    """One record from solved heads; the status is the worst of theirs."""
    queries = np.stack([head.query for head in heads])
    z = attention.logits(queries, want.keys, scale=want.scale, bias=want.bias)
    weights = mix @ attention.weights(z)
    outside = np.delete(weights, list(want.target.support))
    order = ["reached", "nearest", "undecided", "impossible"]
    worst = max(heads, key=lambda head: order.index(head.status))
    return Design(
        status=worst.status,
        queries=queries,
        mix=np.asarray(mix, dtype=float),
        weights=weights,
        leak=float(outside.sum()),
        sharpness=lead(z, faces) / abs(want.scale),
        norm=float(np.linalg.norm(queries, axis=1).max()),
        lower_bound=max(head.lower for head in heads),
        target=want.target,
        leak_asked=want.leak,
        scale=want.scale,
        storage=options.storage,
        faces=faces,
        proof=worst.proof,
        ceiling=worst.ceiling,
        message=worst.message,
        _wanted=want,
    )


def _count(heads: Any, m: int) -> int | str:
    if heads == "auto":
        return "auto"
    count = inputs.number("heads", heads, low=1, high=m)
    if count != int(count) or isinstance(heads, bool):
        raise InputError(wanted='heads="auto" or a whole number', got=repr(heads), attempt='heads="auto"')
    return int(count)
