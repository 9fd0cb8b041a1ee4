"""What a sheet calls the keys that the judges know as a and b."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwright.errors import InputError

# Letters that mean nothing else in an answer about attention
USABLE = ("f", "g", "p", "r", "s", "t", "w", "x", "y", "z")


def letters_of(table: Any, where: str) -> Mapping[str, str]:
    """`{a: letter, b: letter}`, two different ones, or nothing."""
    if table == {}:
        return {}
    complete = isinstance(table, dict) and set(table) == {"a", "b"}
    if not complete or len({*table.values()} & set(USABLE)) != 2:
        raise InputError(
            wanted=f"letters for a and b, two of {', '.join(USABLE)}",
            got=f"{table} in {where}",
            attempt='letters = { a = "p", b = "w" }',
        )
    return dict(table)
