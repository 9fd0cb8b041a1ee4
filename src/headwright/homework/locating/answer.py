"""One located answer, ready to be judged, and the choice of the statement that decides it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from headwright.exercise.bank import Question
from headwright.homework.locating.locate import Located
from headwright.homework.meaning import words
from headwright.homework.meaning.statements import Piece, Said, Statement
from headwright.homework.reading.document import Document
from headwright.homework.scenes.queries import Heads
from headwright.homework.verdict import Outcome


@dataclass(frozen=True)
class Answer:
    """`pieces` of this answer, `everything` of the document, and the queries found in earlier
    answers."""

    question: Question
    located: Located
    document: Document
    pieces: tuple[Piece, ...]
    everything: tuple[Piece, ...]
    heads: dict[str, Heads] = field(default_factory=dict)

    @property
    def statements(self) -> list[Statement]:
        """What the student states: nothing struck out, nothing restated from the handout."""
        return [
            p
            for p in self.pieces
            if isinstance(p, Statement) and not p.struck and not self._restated(p.segment)
        ]

    @property
    def prose(self) -> str:
        return " ".join(
            p.text for p in self.pieces if isinstance(p, Said) and not self._restated(p.segment)
        )

    def _restated(self, segment: int) -> bool:
        return self.document.segments[segment].voice == "question"


@dataclass(frozen=True)
class Judged:
    """An outcome, the statements that led to it, and earlier candidates with their own outcomes."""

    outcome: Outcome
    chosen: tuple[Statement, ...] = ()
    earlier: tuple[tuple[Statement, Outcome], ...] = ()
    heads: Heads | None = None


def unread(reason: str) -> Judged:
    return Judged(Outcome("unread", reason))


def decide(candidates: list[Statement], test: Callable[[Statement], Outcome]) -> Judged:
    """Judge every candidate; the last conclusive one decides, a boxed one before all others."""
    judged = [(c, test(c)) for c in candidates]
    readable = [(c, o) for c, o in judged if o.status != "unread"]
    if not readable:
        return (
            Judged(judged[-1][1], (judged[-1][0],))
            if judged
            else unread("no formula that answers this was found")
        )
    firm = [(c, o) for c, o in readable if not tentative(c)] or readable
    boxed = [(c, o) for c, o in firm if "\\boxed" in c.source or "\\fbox" in c.source]
    chosen, outcome = (boxed or firm)[-1]
    unreadable = [c for c, o in judged if o.status == "unread" and not tentative(c)]
    if (
        unreadable
        and judged.index((unreadable[-1], _of(judged, unreadable[-1])))
        > judged.index((chosen, outcome))
        and not boxed
    ):
        doubt = f"a later formula could not be read: {unreadable[-1].source[:60]}"
        if outcome.status != "correct":
            return Judged(Outcome("unread", doubt), (unreadable[-1],))
    earlier = tuple((c, o) for c, o in readable if c is not chosen and c.chain != chosen.chain)
    return Judged(outcome, (chosen,), earlier)


def _of(judged: list[tuple[Statement, Outcome]], statement: Statement) -> Outcome:
    return next(o for c, o in judged if c is statement)


def tentative(statement: Statement) -> bool:
    """Said as a supposition ("if M = A'") or denied ("q = k_a + k_b does not work")."""
    denied = words.says("negation", statement.after[:40])
    return denied or words.says("tentative", statement.before[-25:])
