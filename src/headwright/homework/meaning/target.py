"""Which letter names the key that should win: j in most courses, i in some."""

from __future__ import annotations

from collections.abc import Iterable

from headwright.homework.meaning import words
from headwright.homework.meaning.formula import symbols
from headwright.homework.meaning.shapes import tags
from headwright.homework.meaning.statements import Piece, Statement
from headwright.homework.meaning.terms import KEYS, bare

LETTERS = set("ijklmnrst")


def target_letter(pieces: Iterable[Piece], conditions: list[Statement]) -> str | None:
    """From the running index of "for all i != j", then from what the output is said to be, then j
    by custom."""
    used = {
        _letter(s.index)
        for c in conditions
        for t in c.chain.terms
        for s in symbols(t)
        if s.name in KEYS and s.index
    }
    used &= LETTERS
    stated = [p for p in pieces if isinstance(p, Statement)]
    running, firm = _running(stated, conditions)
    if firm and len(used) == 2 and running in used:
        return next(iter(used - {running}))
    copied = {_copied(p) for p in stated if "output is one value" in tags(p.chain)} & LETTERS
    if len(copied) == 1:
        return next(iter(copied))
    if "j" in used or len(used) == 0:
        return "j"
    if len(used) == 2 and running in used:
        return next(iter(used - {running}))
    return next(iter(used)) if len(used) == 1 else None


def _copied(statement: Statement) -> str:
    return next(
        (s.index for s in symbols(statement.chain.terms[-1]) if s.index and s.name != "alpha"), ""
    )


def _letter(index: str) -> str:
    return index.split("!=")[0].split("notin")[0]


def _running(stated: list[Statement], conditions: list[Statement]) -> tuple[str, bool]:
    """The first letter of `for all i != j` or `i in {1, ..., n}` near the condition; and whether
    "all" was said."""
    for condition in conditions:
        near = [
            s for s in stated if s.start >= condition.start and s.segment - condition.segment <= 6
        ]
        for statement in near:
            first = bare(statement.chain.terms[0])
            if (
                first is None
                or first.index
                or first.name not in LETTERS
                or statement.chain.relations[:1] not in (("!=",), ("in",))
            ):
                continue
            said = statement.after_mark == "forall" or words.says("every", statement.before[-25:])
            return first.name, said or statement.chain.relations[0] == "in"
        for symbol in (s for t in condition.chain.terms for s in symbols(t)):
            if "!=" in symbol.index:
                return _letter(symbol.index), True
    return "", False
