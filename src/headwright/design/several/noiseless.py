"""Keys as they are: one head if it will do, else a split into faces, one query per face, and one
record of it all. This file only wires.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from headwright.design.effect import measured
from headwright.design.options import Options
from headwright.design.record import Design
from headwright.design.several.fewest import Split, split
from headwright.design.several.mixing import mixed_heads
from headwright.design.solve.one_head import Head, one_head
from headwright.design.target import Wanted


def noiseless_design(want: Wanted, heads: int | str, options: Options) -> Design:
    """The cheapest heads for these very keys: `heads` of them, or the fewest ("auto")."""
    single = len(want.target.support) == 1
    if heads in (1, "auto") or single:
        head = one_head(want, want.target, storage=options.storage)
        if heads == 1 or single or head.status == "reached":
            return replace(_alone(want, head, options), heads_asked=heads)

    found = split(want, heads=heads, options=options)
    if found.faces:
        return _several(want, found, heads, options)
    return _without_split(want, found, heads, options)


def _without_split(want: Wanted, found: Split, heads: int | str, options: Options) -> Design:
    """No way to divide the target. One head may do all the same; if not, its best query is shown
    with the reason."""
    alone = noiseless_design(want, 1, options)
    if alone.status == "reached":
        return replace(alone, heads_asked=heads)
    return replace(
        alone,
        status="impossible" if found.proven else "undecided",
        heads_asked=heads,
        fewest_heads=found.fewest,
        fewest_heads_when=found.when,
        proof=found.proof,
        ceiling=None,
        message=found.message,
    )


def _alone(want: Wanted, head: Head, options: Options) -> Design:
    """The record of one head."""
    return Design(
        status=head.status,
        lower_bound=head.lower,
        proof=head.proof,
        ceiling=head.ceiling,
        exact_length=head.exact,
        message=head.message,
        **_asked(want, options),
        faces=(want.target,),
        **measured(want, head.query[None], np.ones(1), (want.target,)),
    )


def _several(want: Wanted, found: Split, heads: int | str, options: Options) -> Design:
    """The record of several heads. What fails for this split proves nothing about other splits."""
    mixed = mixed_heads(
        want, found.faces, found.mix, uniform=options.uniform, storage=options.storage
    )
    certificate = mixed.certificate
    faces = mixed.served(want) if certificate.holds else found.faces
    messages = [_fewest(found), mixed.failure]
    return Design(
        status="reached" if certificate.holds else "undecided",
        lower_bound=certificate.norm_lower,
        heads_asked=heads,
        fewest_heads=found.fewest,
        fewest_heads_when=found.when,
        message="; ".join(filter(None, messages)),
        **_asked(want, options),
        faces=faces,
        **measured(want, mixed.queries, mixed.mix, faces),
    )


def _asked(want: Wanted, options: Options) -> dict[str, Any]:
    """What was asked, as fields of a design."""
    return {
        "target": want.target,
        "leak_asked": want.leak,
        "scale": want.scale,
        "storage": options.storage,
        "_wanted": want,
    }


def _fewest(found: Split) -> str:
    heads = len(found.faces)
    count = f"{heads} head{'s' * (heads > 1)}"
    if found.proven and found.fewest > 1:
        return f"{count}; no fewer will do ({found.when})"
    if found.message or found.fewest == 1:
        return found.message
    return f"{count}; at least {found.fewest} are needed ({found.when})"
