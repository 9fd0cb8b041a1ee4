"""Tokens in the characters they stand for.

Vocabularies write a space as a sign of their own, and those of bytes write every byte as a letter.
Here a token is what it adds to the text, spaces and line ends included; a byte that is only part of
a character is spelled in hexadecimal, because no letter would be true.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

# How sentence pieces write a space.
_PIECE_SPACE = "\u2581"
# How they write a byte that no piece has.
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_RIGHT_TO_LEFT = ("R", "AL")


def spelled(tokenizer: Any, ids: Sequence[int]) -> tuple[str, ...]:
    """The tokens of a text; without a tokenizer their numbers."""
    if tokenizer is None:
        return tuple(str(number) for number in ids)
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        return tuple(tokenizer.decode([number]) for number in ids)
    pieces = tokenizer.convert_ids_to_tokens(list(ids))
    special = set(getattr(tokenizer, "all_special_tokens", ()))
    of_bytes = _spells_bytes(tokenizer)
    return tuple(_one(piece, of_bytes and piece not in special) for piece in pieces)


def _spells_bytes(tokenizer: Any) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return "ByteLevel" in repr(getattr(backend, "decoder", None))


def _one(piece: str | None, of_bytes: bool) -> str:
    if piece is None:  # a number beyond the vocabulary
        return "?"
    letters = _byte_letters()
    if of_bytes and all(letter in letters for letter in piece):
        return _characters(bytes(letters[letter] for letter in piece))
    byte = _BYTE.fullmatch(piece)
    if byte is not None:
        return _characters(bytes.fromhex(byte[1]))
    return piece.replace(_PIECE_SPACE, " ")


def _characters(data: bytes) -> str:
    """Parts of a character are left as hexadecimal: `e6\u00b797`."""
    whole = []
    rest = data
    while rest:
        try:
            whole.append(rest.decode())
            break
        except UnicodeDecodeError as fault:
            whole.append(rest[: fault.start].decode())
            whole.append("\u00b7".join(f"{byte:02x}" for byte in rest[fault.start : fault.end]))
            rest = rest[fault.end :]
    return "".join(whole)


@cache
def _byte_letters() -> dict[str, int]:
    """The letter of every byte: itself where it is printable Latin-1, else the next of those from
    U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = {chr(byte): byte for byte in printable}
    others = [byte for byte in range(256) if byte not in printable]
    return letters | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def runs_right_to_left(tokens: Sequence[str]) -> bool:
    """Whether more of the letters are written from right to left than from left to right."""
    kinds = [unicodedata.bidirectional(letter) for token in tokens for letter in token]
    return sum(kind in _RIGHT_TO_LEFT for kind in kinds) > kinds.count("L")
