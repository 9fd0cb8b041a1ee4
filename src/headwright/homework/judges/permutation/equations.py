"""The equations of a proof about permuted rows: which hold, which are false, and what they say."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import NamedTuple

from headwright.homework.judges.claims import evaluated, letters
from headwright.homework.judges.permutation.definitions import learned_definitions, learned_marks
from headwright.homework.judges.permutation.notation import Notation, readings
from headwright.homework.judges.permutation.random_layer import TOLERANCE
from headwright.homework.judges.permutation.roles import (
    concludes,
    counts_tokens_in_columns,
    has_one_meaning,
    is_about_output,
    mentions_permutation,
    named_by_scores,
    passes_softmax,
    permutes_backwards,
)
from headwright.homework.judges.permutation.spelling import respelled
from headwright.homework.locating.answer import Answer
from headwright.homework.meaning.formula import Chain, Missing, Symbol
from headwright.homework.meaning.statements import Said, Statement
from headwright.homework.scenes.arithmetic import Mismatch, Value, agree

MOST_LINES = 80  # no proof has so many; every one of them is tried in all readings


class Found(NamedTuple):
    """What one reading makes of an equation; `differing` are two neighbours that disagree, and
    `ends_agree` where only something in between is off."""

    holds: bool
    ends_agree: bool = True
    differing: tuple[Value, Value] | None = None


class Equation(NamedTuple):
    """`is_false` only where no letter could mean anything else."""

    statement: Statement
    is_true: bool
    is_false: bool
    about_output: bool
    claim_holds: bool  # its first and last member agree
    concludes: bool
    passes_softmax: bool
    differing: tuple[Value, Value] | None


class _Line(NamedTuple):
    statement: Statement
    chain: Chain


def read_proof(answer: Answer) -> list[Equation]:
    """The equations in the reading that makes most of them true."""
    stated = [piece for piece in answer.everything if isinstance(piece, Statement)]
    whole = [chain for statement in stated for chain in respelled(statement.chain)]
    marks = learned_marks(whole)
    defined = learned_definitions(whole, marks)
    used = {symbol.name for chain in whole for symbol in letters(chain.terms)}
    base = Notation(defined=defined, marks=marks, output=_output(answer))
    notations = [replace(base, reading=reading) for reading in readings(used)]

    lines = _lines(answer, notations[0])
    tried = [[_found(line.chain, notation) for line in lines] for notation in notations]
    best = max(range(len(tried)), key=lambda k: _count(tried[k]))
    doubted = _doubted(answer, whole, base)
    settled = {named_by_scores(line.chain, base) for line in lines}
    out = []
    for k, line in enumerate(lines):
        found = tried[best][k]
        if found is None:
            continue
        otherwise = [other[k] for other in tried]
        in_doubt = _count(otherwise) > 0 or doubted is None or line.statement.segment in doubted
        certain = not in_doubt and has_one_meaning(line.chain, notations[best], settled)
        out.append(_equation(line, found, notations[best], certain=certain))
    return out


def _output(answer: Answer) -> str:
    """The output of the whole layer, where the question or the answer names it; else attention."""
    here = [piece.chain for piece in answer.pieces if isinstance(piece, Statement)]
    named = {symbol.name[:1] for chain in here for symbol in letters(chain.terms)}
    return "Z" if "Z" in named else "Attention"


def _lines(answer: Answer, notation: Notation) -> list[_Line]:
    """The equations that are about the permutation or the permuted input."""
    out = []
    for statement in answer.statements:
        for chain in respelled(statement.chain):
            if chain.relations and mentions_permutation(chain, notation):
                out.append(_Line(statement, chain))
    return out[:MOST_LINES]


def _count(found: list[Found | None]) -> int:
    return sum(one is not None and one.holds for one in found)


def _doubted(answer: Answer, whole: list[Chain], notation: Notation) -> set[int] | None:
    """The formulas of which a part could not be read; None (all) where columns are the tokens or P
    goes the other way."""
    for chain in whole:
        if counts_tokens_in_columns(chain) or permutes_backwards(chain, notation):
            return None
    torn = set()
    for piece in answer.pieces:
        if isinstance(piece, Said):
            cut = answer.document.segments[piece.segment].kind == "math"
        else:
            cut = any(isinstance(term, Missing) for term in piece.chain.terms)
        if cut:
            torn.add(piece.segment)
    return torn


def _found(chain: Chain, notation: Notation) -> Found | None:
    """None where nothing can be compared."""
    first = chain.terms[0]
    members: list[Value] = []
    terms = chain.terms
    if chain.relations == ("->",) and isinstance(first, Symbol):  # `Z -> P Z`
        if not notation.known(first.name) or first.index:
            return None
        members.append(notation.on_permuted.plain(first.name))
        terms = chain.terms[1:]
    elif set(chain.relations) != {"="}:
        return None
    try:
        members += [value for _, value in evaluated(terms, notation)]
    except Mismatch:
        return None  # all matrices are square here: something was misread
    if len(members) < 2:
        return None
    for left, right in itertools.pairwise(members):
        if not agree(left, right, TOLERANCE):
            ends = agree(members[0], members[-1], TOLERANCE)
            return Found(holds=False, ends_agree=ends, differing=(left, right))
    return Found(holds=True)


def _equation(line: _Line, found: Found, notation: Notation, *, certain: bool) -> Equation:
    return Equation(
        line.statement,
        is_true=found.holds,
        is_false=certain and not found.holds,
        about_output=is_about_output(line.chain, notation),
        claim_holds=found.ends_agree,
        concludes=found.holds and concludes(line.chain, notation),
        passes_softmax=found.holds and passes_softmax(line.chain, notation),
        differing=found.differing,
    )
