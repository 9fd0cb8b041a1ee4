"""A condition in words: "the score of k_j is far larger than all others".

Read sentence by sentence. Three things make it whole: it is about scores, it compares one of them
with all others, and it says that the difference is large. What is missing is told; a sentence with
a negation, or in which the others come out on top, says nothing.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import NamedTuple

from headwright.homework.locating.answer import Answer
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Node, Symbol
from headwright.homework.meaning.formula.tree import Add, Call, Negate
from headwright.homework.meaning.notation import INDEX_LETTERS, KEYS
from headwright.homework.meaning.statements import Piece, Statement
from headwright.homework.meaning.terms import bare, indices_in, is_score
from headwright.homework.verdict import Outcome

REPAIR = "say that k_j'q exceeds every other score, and by a lot"
MOST_READ = 4000  # characters of one sentence
MOST_QUOTED = 160
_END = re.compile(
    r"(?<![ (]i\.e\.)(?<![ (]e\.g\.)(?<=[.!?])\s+(?!q\b)|(?<=[。！？；;])|\n\s*\n"
    r"|,\s+or\s+(?:when|if)\b"
)
_RELATION = re.compile(r"[=<>≈≫≪≤≥→]|\\(?:gg|ll|approx|geq?|leq?|to|gt|lt)\b")
_EXAMPLE = re.compile(r"\((?:e\.g\.|for example)[^)]{0,300}\)")
_PLAIN_SCORE = re.compile(r"(?<![A-Za-z_])k_?[a-z] ?[.·*] ?q(?![A-Za-z_])")
_PLAIN_KEY = re.compile(r"(?<![A-Za-z_])k_?([ijlmn])(?![A-Za-z_])")
_NEAR = 14  # characters between "than" and "the others"


class Sentence(NamedTuple):
    """As written, and with marks for what its formulas are."""

    written: str
    marked: str


def condition_in_words(answer: Answer, winner: str) -> Outcome | None:
    """What the sentences say, the fullest one first; None where none of them is a condition."""
    letter = _only_key(answer) or winner
    told = [(_told(sentence), sentence) for sentence in _sentences(answer, letter)]
    by_status = {outcome.status: (outcome, s) for outcome, s in told if outcome is not None}
    for status in ("correct", "incomplete", "wrong"):
        if status in by_status:
            outcome, sentence = by_status[status]
            quote = " ".join(sentence.written.split())[:MOST_QUOTED]
            return Outcome(outcome.status, f"{outcome.reason}: {quote}", repair=outcome.repair)
    return None


def _told(sentence: Sentence) -> Outcome | None:
    text = _EXAMPLE.sub("", sentence.marked[:MOST_READ])
    if _says("negation", text) or _says("hedged", text):
        return None
    if "⟨lead⟩" not in text and not _says("score", text):
        if _says("far_more_similar", text):
            return None  # a score for some, a direction for others
        return _without_score(text)

    if "⟨lead⟩" in text:
        if not _says("large", text):
            return None
        return Outcome("correct", "in words it says that one score leads every other by a lot")

    compared = _compared(text)
    if compared == "much":
        return Outcome("correct", "in words it says that one score exceeds all others by a lot")
    if compared == "turned":
        return None
    if _says("others", text) or _says("largest", text):
        if not _is_plainly_larger(text):
            return None
        lacking = "in words it says that one score is the largest, and not that it is so by a lot"
        return Outcome("incomplete", lacking, repair=REPAIR)
    if _says("positive", text) and "⟨kj⟩" in text and not _says("large", text):
        lacking = "in words it says that one score is positive, and nothing about the others"
        return Outcome("incomplete", lacking, repair=REPAIR)
    if _says("large", text) and "⟨kj⟩" in text + _key_of_score(text):
        lacking = "in words it says that one score is large, and nothing about the others"
        return Outcome("incomplete", lacking, repair=REPAIR)
    return None


def _without_score(text: str) -> Outcome | None:
    """Something else than scores is compared: sizes of keys, a value, a direction."""
    if _compares_lengths(text):
        false = "in words it compares the lengths of keys, and a long key can point away from q"
        return Outcome("wrong", false, repair=REPAIR)
    if _says("query", text) and _says("aligned", text) and _is_about_value(text):
        false = "in words it compares the query with a value, and the weights depend on keys only"
        return Outcome("wrong", false, repair=REPAIR)
    return _direction(text)


def _is_about_value(text: str) -> bool:
    return _says("value", text) and not _says("key", text)


def _direction(text: str) -> Outcome | None:
    """The query points along one key: enough together with its size and with other keys that stand
    at right angles to it."""
    if not _says("aligned", text) or not _says("query", text):
        return None
    sized = _says("large", text) or _says("length", text)
    if sized and _says("others", text) and _says("much_smaller", text):
        return Outcome("correct", "in words it says that one score is large and the others small")
    if sized or "⟨kj⟩" not in text:
        return None
    lacking = "in words it says where the query points, and nothing about sizes"
    return Outcome("incomplete", lacking, repair=REPAIR)


def _is_plainly_larger(text: str) -> bool:
    """Larger, and right before it no word that could say by how much."""
    larger = _pattern("larger").search(text) or _pattern("largest").search(text)
    if larger is None or _says("much_larger", text):
        return False
    before = text[: larger.start()].rstrip()
    return words.unspaced(text) or _says("plainly", before)


def _key_of_score(text: str) -> str:
    return "⟨kj⟩" if "⟨s⟩" in text else ""


def _compares_lengths(text: str) -> bool:
    """The length of one key with that of the others, or its size with the keys themselves; nothing
    about the query or a direction."""
    compared = _says("much_larger", text) or _says("larger", text)
    sized = _says("length", text) or _says("other_keys", text)
    lengths = sized and _says("key", text) and _says("others", text)
    return compared and lengths and not _says("query", text) and not _says("aligned", text)


def _compared(text: str) -> str:
    """`much` where one score is said to be far above all others, `turned` where they are far above
    it; otherwise nothing."""
    others = _pattern("others").search(text)
    if others is None:
        return ""
    larger = _pattern("much_larger").search(text)
    if larger is not None:
        below = others.start() > larger.start() or _is_measure(text, others)
        return "much" if below else "turned"
    smaller = _pattern("much_smaller").search(text)
    if smaller is None:
        return ""
    if _says("much", smaller[0]):
        turned = _is_measure(text, others) and others.start() > smaller.start()
        return "turned" if turned else "much"
    return "much" if _says("large", text) or _says("larger", text) else ""


def _is_measure(text: str, others: re.Match[str]) -> bool:
    """Are "the others" what the score is compared with?"""
    before = text[max(0, others.start() - _NEAR) : others.start()]
    after = text[others.end() : others.end() + _NEAR]
    return _says("than", before) or _says("than_after", after)


# ------------------------------------------------------------------- sentences with marks


def _sentences(answer: Answer, winner: str) -> Iterator[Sentence]:
    segments = answer.document.segments
    own = [piece for piece in answer.pieces if segments[piece.segment].voice != "question"]
    written = ""
    marked = ""
    for piece in own:
        if isinstance(piece, Statement):
            written += f" {piece.source}"
            marked += f" {_mark(piece, winner)}"
        else:
            *whole, rest = _END.split(piece.text)
            for sentence in whole:
                yield Sentence(f"{written} {sentence}", f"{marked} {_marked(sentence, winner)}")
                written = ""
                marked = ""
            written += f" {rest}"
            marked += f" {_marked(rest, winner)}"
    yield Sentence(written, marked)


def _marked(said: str, winner: str) -> str:
    """Plain words with marks for the letters that nobody set as formulas."""
    scored = _PLAIN_SCORE.sub(" ⟨s⟩ ", said)
    return _PLAIN_KEY.sub(lambda key: "⟨kj⟩" if key[1] == winner else "⟨k⟩", scored)


def _only_key(answer: Answer) -> str:
    """The index of the key that is spoken of, where there is but one."""
    stated = [statement.chain for statement in answer.statements]
    found = {index for chain in stated for index in indices_in(chain, KEYS)} & INDEX_LETTERS
    return next(iter(found)) if len(found) == 1 else ""


def _mark(piece: Piece, winner: str) -> str:
    """What a formula is, for the phrases."""
    if not isinstance(piece, Statement) or piece.struck:
        return ""
    first = _mark_of(piece.chain.terms[0], winner)
    if not piece.chain.relations or _RELATION.search(piece.source):
        return first
    last = _mark_of(piece.chain.terms[-1], winner)  # words between two quantities became a relation
    return f"{first} {piece.source} {last}"


def _mark_of(term: Node, winner: str) -> str:
    if isinstance(term, Call) and term.function == "exp":
        term = term.arguments[0]
    if _is_lead(term, winner):
        return "⟨lead⟩"
    if is_score(term):
        return "⟨s⟩"
    symbol = bare(term)
    if symbol is None:
        return "⟨⟩"
    if symbol == Symbol("q"):
        return "⟨q⟩"
    if symbol.name in KEYS and symbol.index:
        return "⟨kj⟩" if symbol.index == winner else "⟨k⟩"
    return "⟨⟩"


def _is_lead(term: Node, winner: str) -> bool:
    """`k_j'q - k_i'q`: a difference of scores speaks of both, the winner's first."""
    if not isinstance(term, Add) or len(term.terms) != 2:
        return False
    ahead, behind = term.terms
    if not isinstance(behind, Negate):
        return False
    scores = is_score(ahead) and is_score(behind.of)
    return scores and winner in indices_in(ahead, KEYS)


# -------------------------------------------------------------------------------- phrases


def _says(meaning: str, text: str) -> bool:
    return _pattern(meaning).search(text) is not None


@functools.cache
def _pattern(meaning: str) -> re.Pattern[str]:
    by_language = _phrases()[meaning]
    return words.any_of([text for texts in by_language.values() for text in texts])


@functools.cache
def _phrases() -> dict[str, dict[str, list[str]]]:
    file = resources.files("headwright.homework.judges.condition").joinpath("phrases.toml")
    return tomllib.loads(file.read_text("utf-8"))
