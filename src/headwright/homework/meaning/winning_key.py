"""Which letter names the key that should win: j in most courses, i in some."""

from __future__ import annotations

from collections.abc import Iterable

from headwright.homework.meaning import words
from headwright.homework.meaning.formula import symbols
from headwright.homework.meaning.notation import INDEX_LETTERS, KEYS
from headwright.homework.meaning.shapes import shapes_of
from headwright.homework.meaning.statements import Piece, Statement
from headwright.homework.meaning.terms import bare, indices_in

# How many segments behind a condition its "for all i" may stand.
NEAR_SEGMENTS = 6


def winning_letter(pieces: Iterable[Piece], conditions: list[Statement]) -> str | None:
    """From the running index of "for all i != j", then from what the output is said to be, then j
    by custom."""
    stated = [p for p in pieces if isinstance(p, Statement)]
    used = _letters_of_keys(conditions)
    running, firm = _running_letter(stated, conditions)
    opposite = next(iter(used - {running})) if len(used) == 2 and running in used else None
    if firm and opposite is not None:
        return opposite

    outputs = [p for p in stated if "output is one value" in shapes_of(p.chain)]
    copied = {_copied(p) for p in outputs} & INDEX_LETTERS
    if len(copied) == 1:
        return next(iter(copied))

    if "j" in used or not used:
        return "j"
    if opposite is not None:
        return opposite
    return next(iter(used)) if len(used) == 1 else None


def _letters_of_keys(conditions: list[Statement]) -> set[str]:
    indices = {index for c in conditions for index in indices_in(c.chain, KEYS)}
    return {_letter(index) for index in indices} & INDEX_LETTERS


def _letter(index: str) -> str:
    """The `i` of an index that was written as `i != j`."""
    return index.split("!=")[0].split("notin")[0]


def _copied(statement: Statement) -> str:
    last = symbols(statement.chain.terms[-1])
    return next((s.index for s in last if s.index and s.name != "alpha"), "")


def _running_letter(stated: list[Statement], conditions: list[Statement]) -> tuple[str, bool]:
    """The first letter of `for all i != j` or `i in {1, ..., n}` near the condition; and whether
    "all" was said."""
    for condition in conditions:
        for statement in stated:
            behind = statement.start >= condition.start
            near = statement.segment - condition.segment <= NEAR_SEGMENTS
            letter = _ranging(statement) if behind and near else None
            if letter is not None:
                return letter, _for_all(statement)

        for symbol in symbols(condition.chain):
            if "!=" in symbol.index:
                return _letter(symbol.index), True
    return "", False


def _ranging(statement: Statement) -> str | None:
    """The `i` of a statement `i != j` or `i in ...`."""
    first = bare(statement.chain.terms[0])
    if first is None or first.index or first.name not in INDEX_LETTERS:
        return None
    ranges = statement.chain.relations[:1] in (("!=",), ("in",))
    return first.name if ranges else None


def _for_all(statement: Statement) -> bool:
    if statement.after_mark == "forall" or statement.chain.relations[0] == "in":
        return True
    return words.says("every", statement.before[-25:])
