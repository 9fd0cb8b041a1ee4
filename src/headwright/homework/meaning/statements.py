"""A document as one stream of words and statements, in order and with their places.

Answers mix the two ("`k_j'q` must be much larger than `k_i'q`"), so neither is read alone: words
between two quantities become a relation, words around a statement are kept beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Mark, Missing, Text, Unread, join, parse
from headwright.homework.meaning.formulas_in_prose import islands, plain
from headwright.homework.meaning.terms import is_score
from headwright.homework.reading.document import Document, Segment

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
    """Words and statements in document order; statements continued in the next block are joined."""
    pieces: list[Piece] = []
    for number, segment in enumerate(document.segments):
        if segment.kind == "code":
            continue
        pieces.extend(_of_segment(number, segment))
    return _surrounded(_compared(_joined(pieces)))


def _of_segment(number: int, segment: Segment) -> Iterator[Piece]:
    if segment.kind == "math":
        yield from _of_formula(segment.text, number, segment, (segment.start, segment.end))
        return
    at = 0
    for start, end in islands(segment.text):
        if segment.text[at:start].strip():
            yield Said(segment.text[at:start].strip(), number)
        yield from _of_formula(
            plain(segment.text[start:end]), number, segment, segment.span(start, end)
        )
        at = end
    if segment.text[at:].strip():
        yield Said(segment.text[at:].strip(), number)


def _of_formula(
    text: str, number: int, segment: Segment, place: tuple[int, int]
) -> Iterator[Piece]:
    mark = "" if segment.kind == "math" and not segment.display else "newline"
    for item in parse(text, quantity=words.large_number):
        if isinstance(item, Text):
            yield Said(item.text, number)
            mark = "text"
        elif isinstance(item, Mark):
            mark = (
                item.sign if mark in ("", "newline", ",") or item.sign in ("=>", "forall") else mark
            )
        elif isinstance(item, Unread):
            yield Said(item.text, number)
            mark = "text"
        else:
            yield Statement(
                item,
                number,
                *place,
                text,
                after_mark=mark,
                struck=segment.struck,
                inline=not segment.display,
            )
            mark = ""


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Join `... =` at the end of one block with `= ...` at the start of the next, and `k_a'q =>
    k_i'q` (a slip of scanning for `>>`) with what stands before it."""
    out: list[Piece] = []
    for piece in pieces:
        last = out[-1] if out else None
        if (
            isinstance(piece, Statement)
            and isinstance(last, Statement)
            and piece.segment - last.segment <= 1
        ):
            together = join(last.chain, piece.chain)
            if (
                together is None
                and piece.after_mark == "=>"
                and not piece.chain.relations
                and _scores(last, piece)
            ):
                together = Chain(
                    last.chain.terms + piece.chain.terms, (*last.chain.relations, ">>")
                )
            if together is not None:
                source = (
                    last.source
                    if last.segment == piece.segment
                    else f"{last.source} {piece.source}"
                )
                out[-1] = replace(last, chain=together, end=max(last.end, piece.end), source=source)
                continue
        out.append(piece)
    return [p for p in out if isinstance(p, Said) or not _hollow(p.chain)]


def _scores(last: Statement, piece: Statement) -> bool:
    return is_score(piece.chain.terms[0]) and is_score(last.chain.terms[-1])


def _hollow(chain: Chain) -> bool:
    return all(isinstance(t, Missing) for t in chain.terms)


def _compared(pieces: list[Piece]) -> list[Piece]:
    """quantity, "much larger than", quantity -> one statement."""
    out: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Statement) and len(out) >= 2:
            said, first = out[-1], out[-2]
            if isinstance(said, Said) and isinstance(first, Statement) and len(said.text) < NEAR:
                relation = words.comparison(said.text)
                if (
                    relation
                    and not first.chain.relations
                    and _lone(first)
                    and not isinstance(piece.chain.terms[0], Missing)
                ):
                    chain = Chain(
                        first.chain.terms + piece.chain.terms, (relation, *piece.chain.relations)
                    )
                    source = f"{first.source} {said.text} {piece.source}"
                    out[-2:] = [replace(first, chain=chain, end=piece.end, source=source)]
                    continue
        out.append(piece)
        _postposed(out)
    return out


def _postposed(out: list[Piece]) -> None:
    """quantity, a particle, quantity, "보다 훨씬 ..." (than it, much ...): Korean, Japanese and Chinese
    order."""
    if (
        len(out) < 4
        or not isinstance(out[-1], Said)
        or not words.says("compared_after", out[-1].text)
    ):
        return
    first, particle, second = out[-4:-1]
    if (
        isinstance(first, Statement)
        and isinstance(particle, Said)
        and isinstance(second, Statement)
        and len(particle.text) <= 12
        and _lone(first)
        and _lone(second)
    ):
        chain = Chain(first.chain.terms + second.chain.terms, (">>",))
        source = f"{first.source} {particle.text} {second.source} {out[-1].text}"
        out[-4:-1] = [replace(first, chain=chain, end=second.end, source=source)]


def _lone(statement: Statement) -> bool:
    return len(statement.chain.terms) == 1


def _surrounded(pieces: list[Piece]) -> list[Piece]:
    """Give every statement the words around it, up to the next sentence or statement."""
    out: list[Piece] = []
    for k, piece in enumerate(pieces):
        if isinstance(piece, Said):
            out.append(piece)
            continue
        before, after = _words(pieces, k, -1), _words(pieces, k, +1)
        out.append(replace(piece, before=before[-NEAR:], after=after[:NEAR]))
    return out


def _words(pieces: list[Piece], k: int, step: int) -> str:
    near = pieces[k + step] if 0 <= k + step < len(pieces) else None
    here = pieces[k].segment
    if not isinstance(near, Said) or abs(near.segment - here) > 1:
        return ""
    sentences = re.split(r"(?<=[.!?。！？])\s+|\n\s*\n", near.text)
    return sentences[-1] if step < 0 else sentences[0]
