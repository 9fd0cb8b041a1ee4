"""Plain values and the key of a result.

What a job takes and returns is JSON, so that any process on any machine reads it and nothing is
unpickled. Infinities and NaN are written as Python's JSON writes them (`Infinity`, `NaN`): a result
keeps its bits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_SORTED = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_AS_GIVEN = json.JSONEncoder(separators=(",", ":"))
_READ_BACK = (str, int, float, bool, type(None))
MOST_NESTING = 100
_SHORT_POINT = 1_000  # characters


class NotPlain(ValueError):
    """`str(error)` says what stands where."""


def text_of(value: Any) -> str:
    """One text for equal values: keys sorted, no spaces, ASCII."""
    return encoded(plain_value(value))


def result_text(value: Any) -> str:
    """The same with names in the order in which the function gave them: so a table has them."""
    return encoded(plain_value(value), _AS_GIVEN)


def encoded(plain: Any, encoder: json.JSONEncoder = _SORTED) -> str:
    """The text of a value that is plain already."""
    try:
        return encoder.encode(plain)
    except ValueError as reason:  # an integer of more digits than Python writes
        raise NotPlain(str(reason)) from None


def plain_value(value: Any, place: str = "", depth: int = 0) -> Any:
    """The value with tuples as lists and NumPy's numbers as Python's; anything else that JSON does
    not have is refused, never turned into text."""
    kind = type(value)
    if kind in _READ_BACK:
        return value
    if depth > MOST_NESTING:
        raise NotPlain(f"{place or 'it'} is nested deeper than {MOST_NESTING} levels")
    if isinstance(value, Mapping):
        return _plain_mapping(value, place, depth)
    if isinstance(value, (list, tuple)):
        return [
            plain_value(item, f"{place}[{number}]", depth + 1) for number, item in enumerate(value)
        ]
    if kind.__module__ == "numpy" and getattr(value, "shape", None) == ():
        number = value.item()
        if type(number) in _READ_BACK:
            return number
    # A subclass of a plain type, such as an enumeration, would come back as something else.
    raise NotPlain(f"{place or 'it'} is of the type {kind.__module__}.{kind.__qualname__}")


def _plain_mapping(value: Mapping[Any, Any], place: str, depth: int) -> dict[str, Any]:
    plain = {}
    for name, item in value.items():
        if type(name) is not str:
            raise NotPlain(f"{place or 'it'} has the name {name!r:.60}, which is no text")
        if type(item) not in _READ_BACK:
            inner = f"{place}.{name}" if place else name
            item = plain_value(item, inner, depth + 1)
        plain[name] = item
    return plain


def shortened(point: str) -> str:
    """A point as a store shows it: long texts by their beginning and their digest. The key is that
    of the whole point."""
    if len(point) <= _SHORT_POINT:
        return point
    return encoded({name: _short(value) for name, value in json.loads(point).items()})


def _short(value: Any) -> Any:
    if not isinstance(value, str) or len(value) <= _SHORT_POINT:
        return value
    digest = hashlib.sha256(value.encode("utf-8", errors="surrogatepass")).hexdigest()[:16]
    return f"{value[:60]}... ({len(value)} characters, sha256 {digest})"


class Keys:
    """Keys of the results of one function in one version: a hash of both and of the parameters."""

    def __init__(self, function: str, version: str) -> None:
        # Each part's length stands before it: no two triples are the same bytes.
        self._start = hashlib.blake2b(digest_size=20)
        for part in (function, version):
            data = part.encode("utf-8", errors="backslashreplace")
            self._start.update(b"%d:" % len(data) + data)

    def of(self, point: str) -> str:
        hashed = self._start.copy()
        hashed.update(point.encode("ascii"))
        return hashed.hexdigest()
