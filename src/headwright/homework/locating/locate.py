"""Where each question is answered: the most plausible walk through the document.

A document is a row of segments; a hidden question stands behind each. Shapes of formulas, words and
numbering speak for questions (weights from the bank), and moving from one question to the next is
cheap where a label or a heading stands and dear in the middle of a sentence. The best walk is found
exactly (Viterbi). Rules such as "the second formula of part b" were rejected: every course year
numbers differently.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from headwright.exercise.bank import Bank, Question
from headwright.homework.locating.numbering import Path, layouts, numbers, paths
from headwright.homework.meaning.formula import Chain, symbols
from headwright.homework.meaning.shapes import tags
from headwright.homework.meaning.statements import Piece, Said, Statement, stream
from headwright.homework.reading.document import Document, Segment

# Costs of moving between questions (in units of evidence); what a heading's word counts for.
STAY_AT_LABEL, FORWARD_AT_LABEL, FORWARD_AT_BREAK, FORWARD_INSIDE = 0.6, 0.2, 2.2, 4.0
ENTER, SKIP, BACK, ASIDE, LEAVE = 1.0, 0.12, 6.0, 0.8, 0.5
HEADING = 3.0
PART_FITS, PART_MISFITS, NUMBER_FITS, NUMBER_MISFITS = 2.5, -2.0, 1.5, -0.7
MOST_PER_TAG = 2.0
LABEL_READ, INHERITED = 6.0, 0.4


@dataclass(frozen=True)
class Located:
    """The segments that answer one question, and how sure that is. `empty`: its label stands there
    alone."""

    question: str
    segments: tuple[int, ...]
    span: tuple[int, int]
    confidence: float
    empty: bool = False


def locate(document: Document, bank: Bank, pieces: list[Piece] | None = None) -> list[Located]:
    """The answered questions in the order of the bank. `pieces`: the document's stream, where it
    was made already."""
    keep = [k for k, s in enumerate(document.segments) if s.kind != "code"]
    if not keep:
        return []
    content = _content(document, bank, keep, stream(document) if pieces is None else pieces)
    readings = [*layouts([document.segments[k] for k in keep]), ""]
    walks = [
        _walk(document, bank, keep, content + _numbered(document, bank, keep, r)) for r in readings
    ]
    best = max(walks, key=lambda walk: walk[0])
    return _regions(document, bank, keep, best[1], content)


def _content(document: Document, bank: Bank, keep: list[int], pieces: list[Piece]) -> np.ndarray:
    """evidence[segment, question] from shapes and words; the last column is "none of them"."""
    position = {k: row for row, k in enumerate(keep)}
    evidence = np.zeros((len(keep), len(bank.questions) + 1))
    seen: dict[int, Counter[str]] = {}
    aside = _scale_tags(pieces)
    repeated: set[Chain] = set()
    for piece in pieces:
        row = position.get(piece.segment)
        if row is None:
            continue
        if isinstance(piece, Said):
            weight = _weight(document, keep, row)
            evidence[row, :-1] += weight * np.array([_word_evidence(q, piece.text) for q in bank])
        elif piece.chain not in repeated:  # said again, it may be a reminder in a later part
            repeated.add(piece.chain)
            seen.setdefault(row, Counter()).update(tags(piece.chain) - aside)
    for row, counts in seen.items():
        for column, question in enumerate(bank):
            evidence[row, column] += sum(
                question.shapes[tag] * min(count, MOST_PER_TAG) ** 0.5
                for tag, count in counts.items()
                if tag in question.shapes
            )
    for row, k in enumerate(keep):
        # A restated question tells where we are, but less than an answer
        if document.segments[k].voice == "question":
            evidence[row] *= 0.6
    return evidence


def _scale_tags(pieces: list[Piece]) -> set[str]:
    """A letter that multiplies a query somewhere is a scale everywhere: then "gamma" says nothing
    about lengths."""
    queries = [
        p.chain
        for p in pieces
        if isinstance(p, Statement) and any(t.startswith("query of") for t in tags(p.chain))
    ]
    return {
        s.name for chain in queries for t in chain.terms[1:] for s in symbols(t) if not s.index
    } & {"gamma"}


def _weight(document: Document, keep: list[int], row: int) -> float:
    """Words in a heading count more, except in a heading above another heading: that one titles a
    whole section."""
    here = document.segments[keep[row]]
    if here.kind != "heading" or _sentence(document, keep, row):
        return 1.0
    following = document.segments[keep[row + 1]] if row + 1 < len(keep) else None
    title = following is not None and following.kind == "heading" and following.text.strip()
    return 0.2 if title else HEADING


def _sentence(document: Document, keep: list[int], row: int) -> bool:
    """A numbered line with formulas in it is an answer, even where it was typed as a heading."""
    here = document.segments[keep[row]]
    return any(
        document.segments[k].paragraph == here.paragraph and document.segments[k].kind == "math"
        for k in keep[max(0, row - 6) : row + 7]
    )


def _word_evidence(question: Question, text: str) -> float:
    return sum(
        w for pattern, w in question.words.items() if re.search(pattern, text[:2000], re.IGNORECASE)
    )


def _numbered(document: Document, bank: Bank, keep: list[int], letters: str) -> np.ndarray:
    """Evidence from numbering, under one reading of what letters number (see `numbering.paths`)."""
    out = np.zeros((len(keep), len(bank.questions) + 1))
    if not letters:
        return out
    last: np.ndarray | None = None
    for row, path in enumerate(paths([document.segments[k] for k in keep], letters)):
        if path is not None:
            here = np.array([*(_label_evidence(q, path) for q in bank), -0.5])
            last = np.array([*(_label_evidence(q, Path(path.part, 0)) for q in bank), -0.5])
            # Readings compete: a label that fits is worth the same in all of them, one that must be
            # ignored costs.
            out[row] = here + LABEL_READ - here[:-1].max()
        elif (
            last is not None
            and document.segments[keep[row]].paragraph != document.segments[keep[row - 1]].paragraph
        ):
            # A part's letter still holds in the paragraphs below
            out[row] = INHERITED * (last - last[:-1].max())
    return out


def _label_evidence(question: Question, path: Path) -> float:
    score = 0.0
    parts = {label.partition(".")[0] for label in question.labels}
    if path.part:
        score += PART_FITS if path.part in parts else PART_MISFITS if question.part != "p" else -0.5
    if path.number:
        numbers = {label.partition(".")[2] for label in question.labels}
        rank = [label.partition(".")[2] for label in question.labels]
        if str(path.number) in numbers:
            score += NUMBER_FITS if rank[0] == str(path.number) else NUMBER_FITS / 2
        else:
            score += NUMBER_MISFITS
    return score


def _walk(
    document: Document, bank: Bank, keep: list[int], evidence: np.ndarray
) -> tuple[float, list[int]]:
    """The best sequence of questions, one for each segment, and its score."""
    parts = tuple(q.part for q in bank)
    moves = {strength: _moves(parts, strength) for strength in (0, 1, 2)}
    segments = [document.segments[k] for k in keep]
    score = evidence[0] - np.array([ENTER] * len(bank.questions) + [0.0])
    back: list[np.ndarray] = []
    for row in range(1, len(keep)):
        reached = score[:, None] - moves[_boundary(segments[row - 1], segments[row])]
        back.append(reached.argmax(axis=0))
        score = reached.max(axis=0) + evidence[row]
    states = [int(score.argmax())]
    for pointers in reversed(back):
        states.append(int(pointers[states[-1]]))
    return float(score.max()), states[::-1]


def _boundary(before: Segment, here: Segment) -> int:
    """2 at a label or heading, 1 between paragraphs, 0 inside one."""
    if here.label:
        return 2
    if before.paragraph == here.paragraph and not here.display:
        return 0
    if here.kind == "heading":
        return 2
    if before.kind == "heading":  # a label alone on its line belongs to what follows
        return 1 if before.label and not before.text.strip() else 2
    if before.voice != here.voice and "question" in (before.voice, here.voice):
        return 2
    return 1


@functools.lru_cache(maxsize=16)
def _moves(parts: tuple[str, ...], strength: int) -> np.ndarray:
    """cost[from, to] of going on with another question at a boundary of this strength."""
    size = len(parts) + 1
    forward = (FORWARD_INSIDE, FORWARD_AT_BREAK, FORWARD_AT_LABEL)[strength]
    cost = np.zeros((size, size))
    for a in range(size):
        for b in range(size):
            cost[a, b] = (
                STAY_AT_LABEL * (strength == 2) if a == b else forward + _distance(parts, a, b)
            )
    return cost


def _distance(parts: tuple[str, ...], a: int, b: int) -> float:
    last = len(parts)
    if b == last:
        return LEAVE
    return ENTER + (LEAVE if a == last else _order(parts, a, b))


def _order(parts: tuple[str, ...], a: int, b: int) -> float:
    if (parts[a] == "p") != (parts[b] == "p"):  # that section stands in various places
        return ASIDE
    return SKIP * (b - a - 1) if b > a else BACK


def _regions(
    document: Document, bank: Bank, keep: list[int], states: list[int], content: np.ndarray
) -> list[Located]:
    out = []
    for column, question in enumerate(bank):
        rows = _trimmed(
            document, keep, [r for r, s in enumerate(states) if s == column], content[:, column]
        )
        if not rows:
            continue
        segments = tuple(keep[r] for r in rows)
        empty = all(_silent(document.segments[k]) for k in segments)
        if empty and not _left_out(document, keep, rows, question):
            continue
        labelled = any(document.segments[k].label for k in segments)
        shaped = max(content[r, column] for r in rows)
        rivals = max((content[r, :-1].max() - content[r, column] for r in rows), default=0.0)
        confidence = (
            0.5 + 0.2 * labelled + 0.1 * min(max(shaped, 0.0) / 2.5, 2.0) - 0.05 * min(rivals, 4.0)
        )
        span = (document.segments[segments[0]].start, document.segments[segments[-1]].end)
        out.append(
            Located(question.id, segments, span, round(min(max(confidence, 0.05), 0.99), 2), empty)
        )
    return out


def _trimmed(
    document: Document, keep: list[int], rows: list[int], evidence: np.ndarray
) -> list[int]:
    """Without the titles and introductions before the first sign of the answer."""
    for at, row in enumerate(rows):
        if document.segments[keep[row]].label or evidence[row] > 0:
            return rows[at:]
    return rows


def _silent(segment: Segment) -> bool:
    return (
        segment.kind == "heading"
        or segment.voice == "question"
        or not segment.text.strip(" .:()-*")
    )


def _left_out(document: Document, keep: list[int], rows: list[int], question: Question) -> bool:
    """The question's own number with the next label right behind it: nothing was written there."""
    label = next(
        (document.segments[keep[r]].label for r in rows if document.segments[keep[r]].label), None
    )
    after = rows[-1] + 1
    following = document.segments[keep[after]] if after < len(keep) else None
    closed = following is None or bool(following.label) or following.kind == "heading"
    return closed and label is not None and numbers(label, question.part, question.labels)
