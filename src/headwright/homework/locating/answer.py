"""One located answer, ready to be judged, and the choice of the statement that decides it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from headwright.exercise.bank import Question
from headwright.homework.locating.locate import Located
from headwright.homework.meaning import words
from headwright.homework.meaning.statements import Piece, Said, Statement
from headwright.homework.reading.document import Document
from headwright.homework.scenes.queries import WrittenQueries
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
    heads: dict[str, WrittenQueries] = field(default_factory=dict)

    @property
    def own(self) -> list[Piece]:
        """Words and statements of the student: nothing restated from the handout."""
        return [piece for piece in self.pieces if not self._is_restated(piece)]

    @property
    def statements(self) -> list[Statement]:
        """What the student states: nothing struck out, nothing restated from the handout."""
        stated = [piece for piece in self.pieces if isinstance(piece, Statement)]
        return [one for one in stated if not one.struck and not self._is_restated(one)]

    @property
    def prose(self) -> str:
        said = [piece for piece in self.pieces if isinstance(piece, Said)]
        return " ".join(one.text for one in said if not self._is_restated(one))

    def _is_restated(self, piece: Piece) -> bool:
        return self.document.segments[piece.segment].voice == "question"


@dataclass(frozen=True)
class Judged:
    """An outcome, the statements that led to it, and earlier candidates with their own outcomes."""

    outcome: Outcome
    chosen: tuple[Statement, ...] = ()
    earlier: tuple[tuple[Statement, Outcome], ...] = ()
    heads: WrittenQueries | None = None


def unread(reason: str) -> Judged:
    return Judged(Outcome("unread", reason))


def decide(candidates: list[Statement], test: Callable[[Statement], Outcome]) -> Judged:
    """Judge every candidate; the last conclusive one decides, a boxed one before all others."""
    outcomes = [test(candidate) for candidate in candidates]
    places = range(len(candidates))
    readable = [k for k in places if outcomes[k].status != "unread"]
    if not readable:
        if not candidates:
            return unread("no formula that answers this was found")
        return Judged(outcomes[-1], (candidates[-1],))

    firm = [k for k in readable if not tentative(candidates[k])] or readable
    boxed = [k for k in firm if _is_boxed(candidates[k])]
    decisive = (boxed or firm)[-1]
    chosen = candidates[decisive]
    outcome = outcomes[decisive]

    later = [k for k in places if k > decisive and outcomes[k].status == "unread"]
    doubtful = [candidates[k] for k in later if not tentative(candidates[k])]
    if doubtful and not boxed and outcome.status != "correct":
        doubt = f"a later formula could not be read: {doubtful[-1].source[:60]}"
        return Judged(Outcome("unread", doubt), (doubtful[-1],))

    others = [k for k in readable if candidates[k].chain != chosen.chain]
    earlier = tuple((candidates[k], outcomes[k]) for k in others)
    return Judged(outcome, (chosen,), earlier)


def _is_boxed(statement: Statement) -> bool:
    return "\\boxed" in statement.source or "\\fbox" in statement.source


def tentative(statement: Statement) -> bool:
    """Said as a supposition ("if M = A'") or denied ("q = k_a + k_b does not work")."""
    denied = words.says("negation", statement.after[:40])
    return denied or words.says("tentative", statement.before[-25:])
