"""The options that few callers need, in one record: the three questions keep short signatures."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from headwright.design.storage import checked
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


def options_from(given: dict[str, Any]) -> Options:
    """The options that a caller named, or the names there are."""
    known = {field.name for field in fields(Options)}
    unknown = set(given) - known
    if unknown:
        raise InputError(
            wanted=f"options among {', '.join(sorted(known))}",
            got=", ".join(sorted(unknown)),
            attempt="help(headwright.design.Options)",
        )
    options = Options(**given)
    checked(options.storage)
    return options
