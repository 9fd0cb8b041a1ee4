"""The three questions, `copy`, `average` and `mixture`, and how an answer is put together.

This file only wires: target -> split into faces -> one query per face -> one record. Options that
few callers need travel in one record, so that the three signatures stay short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from headwright import inputs
from headwright.design.proofs.reached import Face
from headwright.design.record import Design, measured
from headwright.design.several.fewest import Split, split
from headwright.design.several.mixing import mixed_heads
from headwright.design.solve.one_head import Head, one_head
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
    """`scale` and `bias` of the logits; `storage` of the query ("float64", "float32", "bfloat16");
    `uniform` head weights; `seconds` for the search for fewest heads. For robust designs: `values`
    (n, v; by default the target is measured in weights), `budget` on the length of every query, and
    the `seed` of the sampled check."""

    scale: float = 1.0
    bias: Any = None
    storage: str = "float64"
    uniform: bool = False
    seconds: float = 10.0
    values: Any = None
    budget: float | None = None
    seed: int = 0


def copy(
    j: Any, K: Any, *, leak: float = 1e-3, heads: Any = 1, law: Any = None, **options: Any
) -> Design:
    """The cheapest query that puts all but `leak` of the weight on key j. Options: see `Options`."""
    return _answer(lambda n: copy_target(j, n), K, leak, heads, law, options)


def average(
    keys: Any, K: Any, *, leak: float = 1e-3, heads: Any = 1, law: Any = None, **options: Any
) -> Design:
    """Equal weights on several keys. `heads`: 1, another number, or "auto" for the fewest."""
    return _answer(lambda n: average_target(keys, n), K, leak, heads, law, options)


def mixture(
    shares: Any, K: Any, *, leak: float = 1e-3, heads: Any = 1, law: Any = None, **options: Any
) -> Design:
    """Given shares on several keys, `{key: share}`; or n shares, one per key."""
    return _answer(lambda n: mixture_target(shares, n), K, leak, heads, law, options)


def _answer(
    target: Callable[[int], Target],
    K: Any,
    leak: Any,
    heads: Any,
    law: Any,
    options: dict[str, Any],
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
        from headwright.design.several.robust import robust

        return robust(want, law, heads=count, options=chosen)
    return exact_design(want, count, chosen)


def exact_design(want: Wanted, heads: int | str, options: Options) -> Design:
    """Keys as they are: split, solve every face, assemble."""
    whole = Face(want.target.support, want.target.shares)
    alone = len(whole.support) == 1
    if heads in (1, "auto") or alone:
        head = one_head(want, whole, storage=options.storage)
        if heads == 1 or alone or head.status == "reached":
            return replace(_alone(want, whole, head, options), heads_asked=heads)
    found = split(
        want, heads=heads, uniform=options.uniform, seconds=options.seconds, storage=options.storage
    )
    if found.faces:
        return _several(want, found, heads, options)
    single = exact_design(want, 1, options)
    if single.status == "reached":
        return replace(single, heads_asked=heads)
    return replace(
        single,
        status="impossible" if found.proven else "undecided",
        heads_asked=heads,
        fewest_heads=found.fewest,
        fewest_heads_when=found.when,
        proof=found.proof,
        ceiling=None,
        message=found.message,
    )


def _alone(want: Wanted, whole: Face, head: Head, options: Options) -> Design:
    """The record of one head."""
    return Design(
        status=head.status,
        lower_bound=head.lower,
        target=want.target,
        leak_asked=want.leak,
        scale=want.scale,
        storage=options.storage,
        faces=(whole,),
        proof=head.proof,
        ceiling=head.ceiling,
        message=head.message,
        _wanted=want,
        **measured(want, head.query[None], np.ones(1), (whole,)),
    )


def _several(want: Wanted, found: Split, heads: int | str, options: Options) -> Design:
    """The record of several heads. What fails for this split proves nothing about other splits."""
    mixed = mixed_heads(
        want, found.faces, found.mix, uniform=options.uniform, storage=options.storage
    )
    certificate = mixed.certificate
    faces = mixed.served(want) if certificate.holds else found.faces
    return Design(
        status="reached" if certificate.holds else "undecided",
        lower_bound=certificate.norm_lower,
        target=want.target,
        leak_asked=want.leak,
        scale=want.scale,
        storage=options.storage,
        faces=faces,
        heads_asked=heads,
        fewest_heads=found.fewest,
        fewest_heads_when=found.when,
        message="; ".join(filter(None, [_fewest(found), mixed.failure])),
        _wanted=want,
        **measured(want, mixed.queries, mixed.mix, faces),
    )


def _fewest(found: Split) -> str:
    count = f"{len(found.faces)} head{'s' * (len(found.faces) > 1)}"
    if found.proven and found.fewest > 1:
        return f"{count}; no fewer will do ({found.when})"
    if found.message or found.fewest == 1:
        return found.message
    return f"{count}; at least {found.fewest} are needed ({found.when})"


def _count(heads: Any, m: int) -> int | str:
    if isinstance(heads, str) and heads == "auto":
        return "auto"
    count = inputs.number("heads", heads, low=1, high=m)
    if count != int(count) or isinstance(heads, bool):
        raise InputError(
            wanted='heads="auto" or a whole number', got=repr(heads), attempt='heads="auto"'
        )
    return int(count)
