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
    """An outcome, the statements that led to it, and what else was offered with its own outcome."""

    outcome: Outcome
    chosen: tuple[Statement, ...] = ()
    others: tuple[tuple[Statement, Outcome], ...] = ()
    heads: WrittenQueries | None = None


def unread(reason: str) -> Judged:
    return Judged(Outcome("unread", reason))


def decide(candidates: list[Statement], test: Callable[[Statement], Outcome]) -> Judged:
    """Judge every candidate; the one that is offered as final decides."""
    outcomes = [test(candidate) for candidate in candidates]
    places = range(len(candidates))
    readable = [k for k in places if outcomes[k].status != "unread"]
    if not readable:
        if not candidates:
            return unread("no formula that answers this was found")
        return Judged(outcomes[-1], (candidates[-1],))

    firm = _firm(candidates, readable)
    boxed = [k for k in firm if _is_boxed(candidates[k])]
    decisive = (boxed or firm)[-1]
    if not boxed and not _concludes(candidates[decisive]):
        # Nothing says that the last one replaces a right one before it
        right = [k for k in firm if outcomes[k].status == "correct"]
        decisive = right[0] if right else decisive
    chosen = candidates[decisive]
    outcome = outcomes[decisive]

    later = [k for k in places if k > decisive and outcomes[k].status == "unread"]
    doubtful = [candidates[k] for k in later if not tentative(candidates[k])]
    if doubtful and not boxed and outcome.status != "correct":
        doubt = f"a later formula could not be read: {doubtful[-1].source[:60]}"
        return Judged(Outcome("unread", doubt), (doubtful[-1],))

    others = [k for k in readable if candidates[k].chain != chosen.chain]
    offered = tuple((candidates[k], outcomes[k]) for k in others)
    return Judged(outcome, (chosen,), offered)


def _firm(candidates: list[Statement], places: list[int]) -> list[int]:
    """Without suppositions and without remarks, where anything is left then."""
    stated = [k for k in places if not tentative(candidates[k])] or places
    return [k for k in stated if not _is_aside(candidates[k])] or stated


def _is_boxed(statement: Statement) -> bool:
    return "\\boxed" in statement.source or "\\fbox" in statement.source


def tentative(statement: Statement) -> bool:
    """Said as a supposition ("if M = A'") or denied ("q = k_a + k_b does not work")."""
    denied = words.says("negation", statement.after[:40])
    return denied or words.says("tentative", statement.before[-25:])


def _is_aside(statement: Statement) -> bool:
    """A remark or an alternative beside the answer: "in which case M = A'"."""
    before = statement.before
    last_clause = before.rstrip(" ,;:").replace(";", ",").rsplit(",", 1)[-1]
    if words.says("concludes", last_clause):  # "which also works, but better:"
        return False
    denied = words.says("negation", before[-25:])
    return denied or words.says("aside", before) or words.says("restates", before[-30:])


def _concludes(statement: Statement) -> bool:
    """ "The answer is therefore ..." """
    return words.says("concludes", statement.before) and not _is_aside(statement)
