"""What several judges ask of a statement: its letters, the values of its members, how much is said
beside it in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headwright.homework.locating.answer import Answer
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, tree, walk
from headwright.homework.meaning.notation import OUTPUTS, VALUES
from headwright.homework.meaning.statements import Said
from headwright.homework.meaning.terms import subject
from headwright.homework.reading.document import Segment
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, Value
from headwright.homework.scenes.evaluate import AnyScene, evaluate

LETTERS_OF_PAIR = ("a", "b")  # in this order, which is also the order in which they are quoted
EQUALITIES = {"=", "~="}
VALUE_ROLES = dict.fromkeys(sorted(VALUES), "values")
NEAR = 1e-6  # how far a stated vector may be from the true one, where only rounding is in between


def letters(terms: Iterable[Node]) -> list[Symbol]:
    """The symbols of all terms, in written order."""
    return [symbol for term in terms for symbol in symbols(term)]


def nodes(terms: Iterable[Node]) -> Iterator[Node]:
    """All terms and everything below them."""
    for term in terms:
        yield from walk(term)


def has_exponential(terms: Iterable[Node]) -> bool:
    return any(isinstance(n, tree.Call) and n.function == "exp" for n in nodes(terms))


def about_output(chain: Chain) -> bool:
    """Is the statement about c itself, the output of the only head or of all heads?"""
    about = subject(chain)
    return about is not None and about.name in OUTPUTS and not about.index


def evaluated(terms: Iterable[Node], scene: AnyScene) -> list[tuple[Node, Value]]:
    """Those terms that have a value, with it; a `Mismatch` is the caller's to handle."""
    found = []
    for term in terms:
        if isinstance(term, Missing):
            continue
        try:
            found.append((term, evaluate(term, scene)))
        except Unknown:
            continue
    return found


def members(terms: Iterable[Node], scene: AnyScene) -> list[Value]:
    """The values of those terms that can be evaluated."""
    return [value for _, value in evaluated(terms, scene)]


def consistent_members(terms: Iterable[Node], scene: AnyScene) -> list[Value]:
    """As `members`; none where the shapes contradict each other."""
    try:
        return members(terms, scene)
    except Mismatch:
        return []


def words_spent(answer: Answer) -> float:
    """How many words the student spends outside formulas and headings."""
    segments = answer.document.segments
    said = [piece for piece in answer.pieces if isinstance(piece, Said)]
    own = [piece.text for piece in said if _speaks(segments[piece.segment])]
    return sum(words.count(text) for text in own)


def _speaks(segment: Segment) -> bool:
    return segment.kind != "heading" and segment.voice != "question"
