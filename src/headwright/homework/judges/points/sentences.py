"""What the student says, sentence by sentence, formulas in their places.

A sentence that asks states nothing: handouts ask, and their text is often left in the hand-in.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from headwright.homework.judges.points.formulas_as_words import as_words
from headwright.homework.judges.points.phrases import asks
from headwright.homework.locating.answer import Answer
from headwright.homework.meaning import words
from headwright.homework.meaning.statements import Piece, Said, Statement

LONGEST = 1200  # characters of one sentence that are read
MOST = 300  # sentences of one answer that are read
_END = re.compile(
    r"(?<![ (]i\.e\.)(?<![ (]e\.g\.)(?<![ (]cf\.)(?<! vs\.)(?<! w\.r\.t\.)(?<=[.!?])\s+(?!\d)"
    r"|(?<=[。！？；;])|\n"
)
_WRAPPED = re.compile(r"(?<![.!?:;])\n(?=\s*[a-zà-ÿ])")  # a line that goes on with a small letter
_UNFINISHED = (":", "：", ",", "，")  # what follows in the next paragraph belongs to the sentence


@dataclass(frozen=True)
class Sentence:
    """Plain words; `line` is where it begins, `statements` are the formulas in it."""

    text: str
    line: int
    statements: tuple[Statement, ...]

    @property
    def word_count(self) -> float:
        return words.count(self.text)


@dataclass(frozen=True)
class _Part:
    text: str
    line: int
    statement: Statement | None = None


def sentences(answer: Answer) -> list[Sentence]:
    """The sentences in which something is stated."""
    said = islice(_assembled(list(_parts(answer))), MOST)
    return [sentence for sentence in said if not asks(sentence.text)]


def stated(answer: Answer) -> list[Statement]:
    """The statements that stand in those sentences."""
    return [statement for sentence in sentences(answer) for statement in sentence.statements]


def _parts(answer: Answer) -> Iterator[_Part]:
    """The pieces in order; a formula with several statements is spelled once."""
    segments = answer.document.segments
    last: Piece | None = None
    for piece in answer.own:
        segment = segments[piece.segment]
        if segment.kind == "heading" or segment.struck:
            continue
        if last is not None and _new_paragraph(answer, last, piece):
            yield _Part("\n", segment.line_start)
        spelled = _WRAPPED.sub(" ", piece.text) if isinstance(piece, Said) else piece.source
        if _was_spelled(last, piece):
            spelled = ""
        statement = piece if isinstance(piece, Statement) else None
        yield _Part(f"{spelled} ", segment.line_start, statement)
        last = piece if spelled else last


def _new_paragraph(answer: Answer, last: Piece, piece: Piece) -> bool:
    segments = answer.document.segments
    before = segments[last.segment]
    after = segments[piece.segment]
    if before.paragraph == after.paragraph:
        return False
    open_end = before.text.rstrip().endswith(_UNFINISHED)
    return not open_end and not (before.display or after.display)


def _was_spelled(last: Piece | None, piece: Piece) -> bool:
    """The piece comes from the formula that was just spelled as a whole."""
    if not isinstance(last, Statement) or last.segment != piece.segment:
        return False
    if isinstance(piece, Statement):
        return piece.source == last.source or piece.source in last.source
    return piece.text in last.source


def _assembled(parts: list[_Part]) -> Iterator[Sentence]:
    """Parts joined to one text, cut at the ends of sentences."""
    text = "".join(part.text for part in parts)
    starts = list(accumulate((len(part.text) for part in parts), initial=0))
    first = 0
    for start, end in pairwise([0, *(match.end() for match in _END.finditer(text)), len(text)]):
        beyond = bisect_left(starts, end, hi=len(parts))
        held = parts[first:beyond]
        first = beyond
        plain = as_words(text[start:end][:LONGEST])
        if plain.strip(" .,;:"):
            begins = bisect_right(starts, start, hi=len(parts)) - 1
            inside = [part.statement for part in held if part.statement is not None]
            yield Sentence(plain, parts[begins].line, tuple(inside))
