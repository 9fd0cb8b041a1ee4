"""Claims that c swings: the value in each case, the case of each value, words of alternation."""

from __future__ import annotations

import re
from collections.abc import Iterable

from headwright.homework.judges.claims import LETTERS_OF_PAIR, VALUE_ROLES, about_output
from headwright.homework.locating.answer import Answer
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, tree
from headwright.homework.meaning.formula.characters import simplify
from headwright.homework.meaning.statements import Piece, Statement
from headwright.homework.meaning.terms import bare

_WRITTEN_VALUE = re.compile(r"\b[vV]_?\{?([ab])\b\}?")  # v_a in plain words
_BOTH_VALUES = re.compile(r"<a>[^<.]{0,30}<b>|<b>[^<.]{0,30}<a>")
_BEFORE = 70  # characters before the two values in which the words about them stand


def is_value(chain: Chain, letter: str) -> bool:
    """`c ~ v_a`, also at the end of a chain."""
    last = bare(chain.terms[-1])
    if last is None or not about_output(chain) or not chain.relations:
        return False
    return last.name in VALUE_ROLES and last.index == letter


def alternates(pieces: Iterable[Piece]) -> bool:
    """Words such as "oscillates between" right before `v_a` and `v_b`, no other vector there."""
    text = "".join(_with_values_marked(piece) for piece in pieces)
    for match in _BOTH_VALUES.finditer(text):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        sentence = re.split(r"[.。<]", before)[-1]
        if words.says("alternates", sentence) and not words.says("negation", sentence):
            return True
    return False


def _with_values_marked(piece: Piece) -> str:
    """Words as they are; v_a as `<a>`, any other formula as `<>`."""
    if not isinstance(piece, Statement):
        return _WRITTEN_VALUE.sub(r"<\1>", simplify(piece.text))
    symbol = bare(piece.chain.terms[0])
    if piece.chain.relations or symbol is None or symbol.name not in VALUE_ROLES:
        return " <> "
    return f" <{symbol.index}> "


def crossed(answer: Answer) -> list[Statement]:
    """Claims `c ~ v_a` whose case contradicts them: gamma > 1 belongs to v_a.

    Cases come before their claims or after them, the same way throughout; what comes first in the
    answer decides.
    """
    read = [(s, _case(s.chain), _value(s.chain)) for s in answer.statements]
    row = [(statement, case, value) for statement, case, value in read if case or value]
    if not row:
        return []
    towards_case = -1 if row[0][1] else 1
    contradicted = []
    for k, (statement, _, value) in enumerate(row):
        neighbour = k + towards_case
        if not value or not 0 <= neighbour < len(row):
            continue
        case = row[neighbour][1]
        if case and case != value:
            contradicted.append(statement)
    return contradicted


def _value(chain: Chain) -> str:
    return next((letter for letter in LETTERS_OF_PAIR if is_value(chain, letter)), "")


def _case(chain: Chain) -> str:
    """ "a" for gamma > 1, gamma -> 1.5; "b" for gamma < 1; "" for anything else."""
    symbol = bare(chain.terms[0])
    if symbol is None or symbol.name not in ("gamma", "epsilon", "lambda", "delta"):
        return ""
    if len(chain.terms) != 2:
        return ""
    other = chain.terms[1]
    if isinstance(other, tree.Infinity):
        return "a"
    if not isinstance(other, tree.Number):
        return ""
    return _case_of_number(chain.relations[0], other.value)


def _case_of_number(relation: str, number: float) -> str:
    if relation in (">", ">>", ">=") and number >= 1:
        return "a"
    if relation in ("<", "<<", "<=") and number <= 1:
        return "b"
    if relation not in ("=", "->", "~=") or number == 1:
        return ""
    return "a" if number > 1 else "b"
