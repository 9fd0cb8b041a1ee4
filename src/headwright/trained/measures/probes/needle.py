"""A needle in a haystack: facts stand somewhere in a long text, and are said again at its end.

While one is said again, the token that comes next stands in the needle. A head retrieves it if its
top key is just that token: the retrieval score of a head is the share of such rows. Which heads of
a model look a fact up, and do not only hold its words together, shows in what the facts lose when
they are silenced (`headwright bench heads`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.types import Array, Float, Int

_PEOPLE = ("gardener", "pilot", "baker", "teacher", "doctor", "sailor", "painter", "farmer")
_COLOURS = ("red", "blue", "green", "black", "white", "yellow", "grey", "brown")
_PLACES = ("harbour", "station", "market", "tower", "bridge", "library", "garden", "island")
_DEEDS = ("walked to", "looked at", "wrote about", "asked about", "thought of", "slept near")
# Sentences of the haystack, and facts hidden in it: some 430 tokens in most vocabularies.
SENTENCES = 24
FACTS = 4

Tokenize = Callable[[str], list[int]]


@dataclass(frozen=True)
class NeedleText:
    """`ids`, and for each query whose next token is to be found: the needle's first key and the one
    after its last."""

    ids: Int[np.ndarray, "n"]
    queries: Int[np.ndarray, "r"]
    starts: Int[np.ndarray, "r"]
    ends: Int[np.ndarray, "r"]

    @property
    def wanted(self) -> Int[np.ndarray, "r"]:
        """The tokens that come next."""
        return self.ids[self.queries + 1]

    def retrieval(self, top: Int[Array, "h n"]) -> Float[np.ndarray, "h"]:
        """The share of the queries whose top key lies in the needle and is the next token."""
        keys = to_numpy(top)[:, self.queries]
        inside = (self.starts <= keys) & (keys < self.ends)
        is_next = self.ids[keys] == self.wanted
        return np.mean(inside & is_next, axis=1)


def needle_text(
    tokenize: Tokenize, *, needle: str | None = None, sentences: int = SENTENCES, seed: int = 0
) -> NeedleText:
    """A haystack with `needle` in it, or with `FACTS` made ones, and the needles again at the end.
    `tokenize` adds no special tokens."""
    draw = random.Random(seed)
    facts = _facts(draw) if needle is None else [needle]
    hidden = [tokenize(f" {fact.strip()}") for fact in facts]
    if any(len(fact) < 2 for fact in hidden):
        raise InputError(
            wanted="a needle of two tokens or more",
            got=repr(needle),
            attempt='--needle "The code of the blue tower is 4711."',
        )

    before = sorted(draw.sample(range(1, sentences), len(hidden)))
    pieces: list[list[int]] = []
    for i in range(sentences):
        if i in before:
            pieces.append(hidden[before.index(i)])
        pieces.append(tokenize(f" {_sentence(draw)}"))
    return _said_again(pieces, hidden)


def _said_again(pieces: Sequence[list[int]], hidden: Sequence[list[int]]) -> NeedleText:
    """The pieces, and after them those of `hidden` once more, in reverse order."""
    ids: list[int] = []
    start_of: dict[int, int] = {}
    for piece in pieces:
        start_of[id(piece)] = len(ids)
        ids += piece

    queries, starts, ends = [], [], []
    for fact in reversed(hidden):
        start = start_of[id(fact)]
        following = len(fact) - 1  # the first token of a fact nothing foretells
        queries.append(len(ids) + np.arange(following))
        starts.append(np.full(following, start))
        ends.append(np.full(following, start + len(fact)))
        ids += fact
    return NeedleText(
        np.asarray(ids), np.concatenate(queries), np.concatenate(starts), np.concatenate(ends)
    )


def _facts(draw: random.Random) -> list[str]:
    people = draw.sample(_PEOPLE, FACTS)
    return [
        f"The secret word of the {draw.choice(_COLOURS)} {who} is "
        f"{draw.randint(1000, 9999)} {draw.choice(_PLACES)} {draw.randint(10, 99)}."
        for who in people
    ]


def _sentence(draw: random.Random) -> str:
    return (
        f"The {draw.choice(_PEOPLE)} {draw.choice(_DEEDS)} the {draw.choice(_COLOURS)} "
        f"{draw.choice(_PLACES)} on day {draw.randint(1, 30)}."
    )
