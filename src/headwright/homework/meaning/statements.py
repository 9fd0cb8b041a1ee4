"""A document as one stream of words and statements, in order and with their places.

Answers mix the two ("`k_j'q` must be much larger than `k_i'q`"), so neither is read alone: words
between two quantities become a relation, words around a statement are kept beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from headwright.homework.meaning import words
from headwright.homework.meaning.formula import (
    Chain,
    Mark,
    Missing,
    Text,
    Unread,
    join,
    joined_sum,
    parse,
    vocabulary,
)
from headwright.homework.meaning.formulas_in_prose import formula_spans, with_scripts
from headwright.homework.meaning.notation import ASKED, OUTPUTS
from headwright.homework.meaning.terms import is_score, subject
from headwright.homework.reading.document import Document, Segment

# A sum that goes on in the next block, and one that began in the block before.
_CLAUSE = re.compile(r"[,:;，：；]")
_OPEN_END = re.compile(r"[+\-−](?:\s|&|\\q?quad|\\\\)*$")
_OPEN_START = re.compile(r"(?:\s|&|\\q?quad|\\[hv]?phantom\{[^{}]*\}|\{\})*([+\-−])")
_LONGEST_SUM = 5000  # characters; nobody writes a longer one in pieces
# How many characters of words before and after a statement belong to it.
NEAR = 90


@dataclass(frozen=True)
class Said:
    """Words, with the number of the segment they stand in."""

    text: str
    segment: int


@dataclass(frozen=True)
class Statement:
    """One chain of relations. `after_mark` is what separates it from the statement before it."""

    chain: Chain
    segment: int
    start: int
    end: int
    source: str
    before: str = ""
    after: str = ""
    after_mark: str = ""
    struck: bool = False
    inline: bool = False


Piece = Said | Statement


def stream(document: Document) -> list[Piece]:
    """Words and statements in document order; statements continued in the next block are joined. A
    label opens another answer: what was said before it does not reach across."""
    out: list[Piece] = []
    pieces: list[Piece] = []
    for number, segment in enumerate(document.segments):
        if segment.label:
            out += _surrounded(_compared(_joined(pieces)))
            pieces = []
        if segment.kind != "code":
            pieces.extend(_of_segment(number, segment))
    return out + _surrounded(_compared(_joined(pieces)))


def _of_segment(number: int, segment: Segment) -> Iterator[Piece]:
    if segment.kind == "math":
        yield from _of_formula(segment.text, number, segment, (segment.start, segment.end))
        return

    at = 0
    for start, end in formula_spans(segment.text):
        yield from _said(segment.text[at:start], number)
        formula = with_scripts(segment.text[start:end])
        yield from _of_formula(formula, number, segment, segment.span(start, end))
        at = end
    yield from _said(segment.text[at:], number)


def _said(text: str, number: int) -> Iterator[Said]:
    if text.strip():
        yield Said(text.strip(), number)


def _of_formula(
    text: str, number: int, segment: Segment, place: tuple[int, int]
) -> Iterator[Piece]:
    start, end = place
    inline = segment.kind == "math" and not segment.display
    mark = "" if inline else "newline"
    for item in parse(text, quantity=words.large_number):
        if isinstance(item, (Text, Unread)):
            yield Said(item.text, number)
            mark = "text"
        elif isinstance(item, Mark):
            # Words weigh more than punctuation, "=>" and "for all" more than words
            if mark in ("", "newline", ",") or item.sign in ("=>", "forall"):
                mark = item.sign
        else:
            yield Statement(
                item,
                number,
                start,
                end,
                text,
                after_mark=mark,
                struck=segment.struck,
                inline=not segment.display,
            )
            mark = ""


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Statements that are two halves of one become one; what is left without any side goes."""
    out: list[Piece] = []
    for piece in pieces:
        last = out[-1] if out else None
        whole = None
        if isinstance(piece, Statement) and isinstance(last, Statement):
            whole = _halves(last, piece)
        if whole is None:
            out.append(piece)
        else:
            out[-1] = whole
    return [p for p in out if isinstance(p, Said) or not _hollow(p.chain)]


def _halves(last: Statement, piece: Statement) -> Statement | None:
    """`... =` at the end of one block and `= ...` at the start of the next, `... +` and `+ ...`;
    and `k_a'q => k_i'q`, a slip of scanning for `>>`."""
    if piece.segment - last.segment > 1:
        return None

    chain = join(last.chain, piece.chain)
    if chain is None and _is_sum_broken(last, piece):
        chain = joined_sum(last.chain, piece.chain)
    if chain is None:
        slip = piece.after_mark == "=>" and not piece.chain.relations
        if not slip or not _scores(last, piece):
            return None
        chain = Chain(last.chain.terms + piece.chain.terms, (*last.chain.relations, ">>"))

    one_segment = last.segment == piece.segment
    source = last.source if one_segment else f"{last.source} {piece.source}"
    return replace(last, chain=chain, end=max(last.end, piece.end), source=source)


def _is_sum_broken(last: Statement, piece: Statement) -> bool:
    """`q = beta k_a +` in one block and `beta k_b` in the next, or the sign in the second."""
    if last.segment == piece.segment or not last.chain.relations:
        return False
    if len(last.source) > _LONGEST_SUM:
        return False
    open_end = _OPEN_END.search(last.source) is not None
    sign = _OPEN_START.match(piece.source)
    if open_end or sign is None:
        return open_end and _is_term(piece)
    # A display may begin with a minus of its own: `-k_b <= x`
    return sign[1] == "+" or not piece.chain.relations


def _is_term(piece: Statement) -> bool:
    return not isinstance(piece.chain.terms[0], Missing)


def _scores(last: Statement, piece: Statement) -> bool:
    return is_score(piece.chain.terms[0]) and is_score(last.chain.terms[-1])


def _hollow(chain: Chain) -> bool:
    return all(isinstance(t, Missing) for t in chain.terms)


def _compared(pieces: list[Piece]) -> list[Piece]:
    """quantity, "much larger than", quantity -> one statement."""
    out: list[Piece] = []
    for piece in pieces:
        comparison = _comparison(out[-3:], piece)
        if comparison is not None:
            out[-2:] = [comparison]
            continue
        out.append(piece)
        _compare_behind(out)
    return out


def _comparison(before: list[Piece], second: Piece) -> Statement | None:
    """`before` ends with the quantity and the words that stand before the second quantity."""
    if not isinstance(second, Statement) or len(before) < 2:
        return None
    first, said = before[-2:]
    if not isinstance(said, Said) or not isinstance(first, Statement) or len(said.text) >= NEAR:
        return None

    opening = before[0] if len(before) == 3 else None
    lead = opening.text if isinstance(opening, Said) else ""
    if second.chain.relations and _CLAUSE.search(said.text):
        return None  # "beta is large, so that q = ...": the second says something by itself
    relation = vocabulary.relation(said.text.strip()) or _worded(first, said.text, lead)
    if not relation or not _lone(first) or isinstance(second.chain.terms[0], Missing):
        return None

    chain = Chain(first.chain.terms + second.chain.terms, (relation, *second.chain.relations))
    source = f"{first.source} {said.text} {second.source}"
    return replace(first, chain=chain, end=second.end, source=source)


def _worded(first: Statement, said: str, lead: str) -> str | None:
    """The relation that words express between a quantity, behind the words `lead`, and the next."""
    relation = words.comparison(said)
    if relation == "~=" and words.says("part_of", lead[-60:]):
        return None  # "the angle between k_a and k_b is 90": not k_b is 90
    if relation is not None or not _is_asked(first):
        return relation
    chosen = words.is_only("chosen_as", said) and words.says("chooses", lead[-40:])
    if chosen or words.is_only("defined_as", said):
        return "="
    return "propto" if words.is_only("proportional", said) else None


def _is_asked(statement: Statement) -> bool:
    """A letter that the exercise asks for, alone."""
    symbol = subject(statement.chain)
    return symbol is not None and symbol.name in ASKED and _lone(statement)


def _compare_behind(out: list[Piece]) -> None:
    """quantity, a particle, quantity, "보다 훨씬 ..." (than it, much ...) or "로 둔다" (is set to):
    Korean, Japanese and Chinese order."""
    if len(out) < 4:
        return
    first, particle, second, said = out[-4:]
    if not isinstance(particle, Said) or len(particle.text) > 12 or not isinstance(said, Said):
        return
    if not isinstance(first, Statement) or not isinstance(second, Statement):
        return
    relation = _relation_behind(first, said.text)
    if not relation or not _lone(first) or not _lone(second):
        return

    chain = Chain(first.chain.terms + second.chain.terms, (relation,))
    source = f"{first.source} {particle.text} {second.source}"
    if relation == ">>":
        source += f" {said.text}"
    out[-4:-1] = [replace(first, chain=chain, end=second.end, source=source)]


def _relation_behind(first: Statement, said: str) -> str:
    if words.says("compared_after", said):
        return ">>"
    if _is_output(first) and words.says("near_after", said) and not words.says("negation", said):
        return "~="
    return "=" if words.says("set_after", said) and _is_asked(first) else ""


def _is_output(statement: Statement) -> bool:
    symbol = subject(statement.chain)
    return symbol is not None and symbol.name in OUTPUTS


def _lone(statement: Statement) -> bool:
    return len(statement.chain.terms) == 1


def _surrounded(pieces: list[Piece]) -> list[Piece]:
    """Give every statement the words around it, up to the next sentence or statement."""
    out: list[Piece] = []
    for k, piece in enumerate(pieces):
        if isinstance(piece, Said):
            out.append(piece)
            continue
        before = _words(pieces, k, -1)
        after = _words(pieces, k, +1)
        out.append(replace(piece, before=before[-NEAR:], after=after[:NEAR]))
    return out


def _words(pieces: list[Piece], k: int, step: int) -> str:
    """The sentence next to piece k, before it (step -1) or after it (+1)."""
    near = pieces[k + step] if 0 <= k + step < len(pieces) else None
    here = pieces[k].segment
    if not isinstance(near, Said) or abs(near.segment - here) > 1:
        return ""
    sentences = re.split(r"(?<=[.!?。！？])\s+|\n\s*\n", near.text)
    return sentences[-1] if step < 0 else sentences[0]
