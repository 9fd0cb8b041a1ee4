"""What words say about quantities, in the languages of `words.toml`.

A list of fragments and nothing cleverer: a word that is not listed leaves an answer `unread`, which
is honest; a language model that guesses would not be.
"""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterable
from importlib import resources

# Two quantities are compared within one sentence.
_SENTENCE_END = re.compile(r"(?<!approx)[.。!?！？](?:\s|$)")


@functools.cache
def _table() -> dict[str, dict[str, list[str]]]:
    """meaning -> language -> fragments."""
    file = resources.files("headwright.homework").joinpath("words.toml")
    return tomllib.loads(file.read_text("utf-8"))


@functools.cache
def _pattern(meaning: str) -> re.Pattern[str]:
    """What matches any of its fragments, in any language."""
    return any_of([text for texts in _table()[meaning].values() for text in texts])


def any_of(fragments: list[str]) -> re.Pattern[str]:
    """What matches any of these fragments of regular expressions, as whole words."""
    return re.compile(written_any_of(fragments), re.IGNORECASE)


def written_any_of(fragments: Iterable[str]) -> str:
    """The same as text. Neighbours share their bounds: compiling takes as long as the text is."""
    runs = itertools.groupby(fragments, _is_parted)
    return "|".join(_bounded("|".join(run), parted=parted) for parted, run in runs)


def bounded(text: str) -> str:
    """The fragment as whole words, in scripts that part them."""
    return _bounded(text, parted=_is_parted(text))


def _is_parted(text: str) -> bool:
    return re.match(r"[\w(]", text) is not None and not unspaced(text)


def _bounded(text: str, *, parted: bool) -> str:
    return rf"(?<![^\W\d_])(?:{text})(?![^\W\d_])" if parted else f"(?:{text})"


def unspaced(text: str) -> bool:
    """Written in a script whose words are not (or not always) separated by spaces."""
    return re.search(r"[぀-ヿ㐀-鿿가-힯]", text) is not None


def says(meaning: str, text: str) -> bool:
    """Does `text` contain a phrase with this meaning?"""
    return _pattern(meaning).search(text) is not None


def is_only(meaning: str, text: str) -> bool:
    """Does `text` consist of a phrase with this meaning?"""
    return _pattern(meaning).fullmatch(text.strip(" ,:，：\n")) is not None


def count(text: str) -> float:
    """How many words there are; about three characters make one where none is separated."""
    return len(text) / 3 if unspaced(text) else len(text.split())


def large_number(text: str) -> bool:
    """Words that stand for a large factor: "a large number", "很大的常数", "große Zahl"."""
    if len(text) >= 60 or not says("large", text):
        return False
    return says("number", text) or len(text.split()) <= 2


def comparison(text: str) -> str | None:
    """The relation that words between two quantities express, or None."""
    if says("negation", text) or _SENTENCE_END.search(text):
        return None
    if says("compares_something_else", text.rstrip()):
        return None
    for meaning, relation in (("much_greater", ">>"), ("much_less", "<<"), ("greater", ">")):
        if says(meaning, text):
            return relation
    # "c is about ...": nothing but these words may stand between the two, or the sentence is about
    # something else.
    whole = _pattern("approximately").fullmatch(text.strip(" ,:"))
    return "~=" if whole else None
