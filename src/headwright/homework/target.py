"""Which letter names the key that should win: j in most courses, i in some."""

from __future__ import annotations

from collections.abc import Iterable

from headwright.homework.formula import symbols
from headwright.homework.shapes import KEYS, bare, tags
from headwright.homework.statements import Piece, Statement

LETTERS = set("ijklmnrst")


def target_letter(pieces: Iterable[Piece], conditions: list[Statement]) -> str | None:
    """From what the output is said to be, then from the running index, then from custom. None where these disagree."""
    used = {
        _letter(s.index) for c in conditions for t in c.chain.terms for s in symbols(t) if s.name in KEYS and s.index
    }
    used &= LETTERS
    stated = [p for p in pieces if isinstance(p, Statement)]
    copied = {bare(p.chain.terms[-1]).index for p in stated if "output is one value" in tags(p.chain)} & LETTERS  # type: ignore[union-attr]
    if len(copied) == 1:
        return next(iter(copied))
    running = _running(stated, conditions)
    if len(used) == 2 and running in used:
        return next(iter(used - {running}))
    if "j" in used or len(used) == 0:
        return "j"
    return next(iter(used)) if len(used) == 1 else None


def _letter(index: str) -> str:
    return index.split("!=")[0].split("notin")[0]


def _running(stated: list[Statement], conditions: list[Statement]) -> str:
    """The index in `for all i != j` or `i in {1, ..., n}` right after the condition: its first letter."""
    for condition in conditions:
        near = [s for s in stated if s.start >= condition.start and s.segment - condition.segment <= 6]
        for statement in near:
            first = bare(statement.chain.terms[0])
            if (
                first is not None
                and not first.index
                and first.name in LETTERS
                and statement.chain.relations[:1] in (("!=",), ("in",))
            ):
                return first.name
        for term in condition.chain.terms:
            for symbol in symbols(term):
                if "!=" in symbol.index:
                    return _letter(symbol.index)
    return ""
