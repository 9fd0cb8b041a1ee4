"""One field of a stranger's file: it has its type and its limits, or the file is bad input.

Nothing is guessed: a boolean is no number, text is no number (but "inf" where a bound may be
infinite), numbers are finite and of a size whose squares exist, and key numbers are whole.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headwright.errors import InputError

FORMAT = "headwright-design"
VERSION = 2
LARGEST = 1e150  # squares exist
_MOST_KEY = 2**31


def get(table: dict[str, Any], name: str) -> Any:
    if name not in table:
        raise bad(f"a field {name}", "none")
    return table[name]


def table(name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise bad(f"{name} as a table", f"{type(given).__name__}")
    return given


def entries(name: str, given: Any) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise bad(f"{name} as a list with entries", f"{given!r:.40}")
    return given


def text(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise bad(f"{name} as text", f"{given!r:.40}")
    return given


def truth(name: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise bad(f"{name} true or false", f"{given!r:.40}")
    return given


def one_of(name: str, given: Any, known: tuple[str, ...]) -> str:
    if not isinstance(given, str) or given not in known:
        raise bad(f"{name} one of {', '.join(known)}", f"{given!r:.40}")
    return given


def number(name: str, given: Any, *, infinite: bool = False) -> float:
    if infinite and given == "inf" and isinstance(given, str):
        return math.inf
    counts = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not counts or not -LARGEST < given < LARGEST:
        raise bad(f"{name} as a finite number", _short(given))
    return float(given)


def whole(name: str, given: Any, *, low: int) -> int:
    if not _is_whole(given) or not low <= given < _MOST_KEY:
        raise bad(f"{name} as a whole number from {low}", _short(given))
    return given


def numbers(name: str, given: Any, count: int | None) -> np.ndarray:
    row = entries(name, given)
    if count is not None and len(row) != count:
        raise bad(f"{name} with {count} numbers", f"{len(row)}")
    checked = [number(f"{name}[{i}]", x) for i, x in enumerate(row)]
    return np.array(checked)


def key_numbers(name: str, given: Any) -> tuple[int, ...]:
    row = entries(name, given)
    found = tuple(whole(f"{name}[{i}]", a, low=0) for i, a in enumerate(row))
    if len(set(found)) < len(found):
        raise bad(f"{name} with every key once", "one twice")
    return found


def bad(wanted: str, got: str) -> InputError:
    return InputError(
        wanted=f"{wanted} in a {FORMAT} document, version {VERSION}",
        got=got,
        attempt="save the design again with --save",
    )


def _is_whole(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _short(given: Any) -> str:
    """A whole number of thousands of digits is not written out."""
    if _is_whole(given) and abs(given) > _MOST_KEY:
        return f"a whole number of {given.bit_length()} bits"
    return f"{given!r:.40}"
