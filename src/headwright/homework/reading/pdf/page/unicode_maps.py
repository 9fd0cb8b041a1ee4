"""How a font numbers and measures its letters: one byte or two, Unicode numbers, widths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_MOST_MAP = 1_000_000  # bytes of a map
_MOST_CODES = 70_000
_SECTION = re.compile(rb"begin(bfchar|bfrange)(.*?)end(?:bfchar|bfrange)", re.DOTALL)
_HEX = re.compile(rb"<([0-9A-Fa-f\s]{0,80})>|([\[\]])")
_DEFAULT_WIDTH = 1000.0


@dataclass(frozen=True)
class Codes:
    wide: bool  # two bytes to a letter
    unicode: dict[int, str]
    widths: dict[int, float]
    usual_width: float  # in thousandths of an em

    def split(self, string: bytes) -> list[int]:
        if not self.wide:
            return list(string)
        return [int.from_bytes(string[i : i + 2]) for i in range(0, len(string) - 1, 2)]

    def width(self, code: int) -> float:
        """In ems."""
        return self.widths.get(code, self.usual_width) / 1000


def unicode_map(record: Any) -> Codes:
    wide = record.get("/Subtype") == "/Type0"
    unicode = _to_unicode(record)
    if wide:
        descendant = record["/DescendantFonts"].get_object()[0].get_object()
        usual = float(descendant.get("/DW", _DEFAULT_WIDTH))
        return Codes(True, unicode, _wide_widths(descendant), usual)
    first = int(record.get("/FirstChar", 0))
    listed = record.get("/Widths")
    widths = listed.get_object()[:256] if listed is not None else []
    unit = _unit(record)
    numbered = {first + i: float(width) * unit for i, width in enumerate(widths)}
    return Codes(False, unicode, numbered, 500.0)


def _unit(record: Any) -> float:
    """Thousandths of an em that a font measures in; fonts of pictures say it themselves."""
    matrix = record.get("/FontMatrix")
    return 1000 * float(matrix.get_object()[0]) if matrix is not None else 1.0


def _wide_widths(descendant: Any) -> dict[int, float]:
    listed = descendant.get("/W")
    entries = list(listed.get_object()[:_MOST_CODES]) if listed is not None else []
    widths: dict[int, float] = {}
    i = 0
    while i + 1 < len(entries):
        first = int(entries[i])
        second = entries[i + 1]
        second = second.get_object() if hasattr(second, "get_object") else second
        if isinstance(second, list):
            widths |= {first + k: float(width) for k, width in enumerate(second)}
            i += 2
        elif i + 2 < len(entries):
            last = min(int(second), first + 5_000)
            widths |= dict.fromkeys(range(first, last + 1), float(entries[i + 2]))
            i += 3
        else:
            break
    return widths


def _to_unicode(record: Any) -> dict[int, str]:
    stream = record.get("/ToUnicode")
    stream = stream.get_object() if stream is not None else None
    if stream is None or not hasattr(stream, "get_data"):
        return {}
    data = stream.get_data()[:_MOST_MAP]
    found: dict[int, str] = {}
    for kind, body in _SECTION.findall(data):
        tokens = _HEX.findall(body)
        if kind == b"bfchar":
            _characters(tokens, found)
        else:
            _ranges(tokens, found)
        if len(found) > _MOST_CODES:
            break
    return found


def _characters(tokens: list[tuple[bytes, bytes]], found: dict[int, str]) -> None:
    words = [word for word, bracket in tokens if not bracket]
    for code, text in zip(words[::2], words[1::2], strict=False):
        found[_number(code)] = _text(text)


def _ranges(tokens: list[tuple[bytes, bytes]], found: dict[int, str]) -> None:
    i = 0
    while i + 2 < len(tokens):
        first = _number(tokens[i][0])
        last = min(_number(tokens[i + 1][0]), first + 5_000)
        i += 2
        if tokens[i][1] == b"[":
            i += 1
            while i < len(tokens) and not tokens[i][1]:
                found[first] = _text(tokens[i][0])
                first += 1
                i += 1
            i += 1
            continue
        start = _text(tokens[i][0])
        i += 1
        for code in range(first, last + 1):
            if start:
                character = min(ord(start[-1]) + code - first, 0x10FFFF)
                found[code] = start[:-1] + chr(character)


def _number(digits: bytes) -> int:
    cleaned = b"".join(digits.split())
    return int(cleaned, 16) if cleaned else 0


def _text(digits: bytes) -> str:
    cleaned = b"".join(digits.split())
    padded = cleaned + b"0" * (len(cleaned) % 2)
    data = bytes.fromhex(padded.decode("ascii"))
    return data.decode("utf-16-be" if len(data) > 1 else "latin-1", "replace")
