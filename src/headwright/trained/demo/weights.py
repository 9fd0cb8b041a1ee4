"""Four heads written down instead of trained, and what each is built to do:

    layer 0, head 0   looks at the previous token, and notes which word it was
    layer 0, head 1   rests on the first token
    layer 1, head 0   induction: looks where the word noted is the word of now, passes on what is
                      there
    layer 1, head 1   weighs all tokens equally

A token's vector holds four codes: its word, its place, the word before it (filled in by the first
head) and what the second head saw. A code is a block of columns of an orthonormal frame at right
angles to the vector of ones, so that a layer norm, which takes the mean away, changes the length
and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from headwright.types import Float

Matrix = Float[np.ndarray, "_ _"]

# The frame has one direction less than there are numbers in a vector, hence one less per code
CODE = 31
WIDTH = 4 * (CODE + 1)
HEADS = 2
HEAD_WIDTH = WIDTH // HEADS
# Enough for the made text of --needle
PLACES = 512

WORD, PLACE, BEFORE, FIRST = np.split(helmert(WIDTH).T[:, : 4 * CODE], 4, axis=1)

# By how much of a logit a head's own key leads keys that have nothing in common with its query.
# The induction head leads by least, so it is the first to break when keys are rounded.
_LEAD_PREVIOUS = 24.0
_LEAD_FIRST = 20.0
_LEAD_INDUCTION = 9.0
# The word passed on outweighs the word of now in what the model predicts
_PASSED_ON = 3.0


@dataclass(frozen=True)
class MadeLayer:
    """`columns` and `offset` make queries, keys and values of all heads, in this order; `output`
    takes the heads back into the token's vector; `codes` are in it when the layer begins."""

    columns: Matrix
    offset: Float[np.ndarray, "_"]
    output: Matrix
    codes: int


def word_codes(count: int) -> Matrix:
    """A direction for each word."""
    return np.eye(count, CODE) @ WORD.T


def place_codes() -> Matrix:
    return _waves(np.arange(PLACES, dtype=float)) @ PLACE.T


def first_layer() -> MadeLayer:
    queries = [_LEAD_PREVIOUS * PLACE @ _one_step_back(), np.zeros((WIDTH, 1))]
    keys = [PLACE, PLACE @ _waves(np.zeros(1)).T]
    offset = np.zeros(3 * WIDTH)
    # The second head asks for the first place, whatever it reads
    offset[HEAD_WIDTH] = _LEAD_FIRST * np.sqrt(HEAD_WIDTH)
    return MadeLayer(_columns(queries, keys, [WORD, WORD]), offset, _output([BEFORE, FIRST]), 2)


def second_layer() -> MadeLayer:
    queries = [_LEAD_INDUCTION * WORD, np.zeros((WIDTH, 1))]
    columns = _columns(queries, [BEFORE, WORD], [WORD, WORD])
    return MadeLayer(columns, np.zeros(3 * WIDTH), _output([_PASSED_ON * WORD, FIRST]), 4)


def _columns(queries: list[Matrix], keys: list[Matrix], values: list[Matrix]) -> Matrix:
    """Beside each other, each head's own padded with zeros. The model divides logits by the root
    of the head's width; the queries make up for it."""
    scaled = [np.sqrt(HEAD_WIDTH) * one for one in queries]
    return np.hstack([_padded(one) for one in (*scaled, *keys, *values)])


def _output(codes: list[Matrix]) -> Matrix:
    return np.vstack([_padded(one).T for one in codes])


def _padded(block: Matrix) -> Matrix:
    return np.pad(block, ((0, 0), (0, HEAD_WIDTH - block.shape[1])))


# A place is written as waves. Multiples of the golden ratio fill the frequencies evenly and never
# come back to the same one, so no two places of a text have nearly the same code.
_WAVES = CODE // 2
_FREQUENCIES = np.pi * (np.arange(1, _WAVES + 1) * (np.sqrt(5.0) - 1.0) / 2.0 % 1.0)


def _waves(places: Float[np.ndarray, "n"]) -> Matrix:
    """Of length one, whatever the place."""
    turned = np.outer(places, _FREQUENCIES)
    parts = np.hstack([np.cos(turned), np.sin(turned)]) / np.sqrt(_WAVES)
    return np.pad(parts, ((0, 0), (0, CODE - 2 * _WAVES)))


def _one_step_back() -> Matrix:
    """`code @ this` is the code of the place before: every wave turns back by its frequency."""
    turn = np.zeros((CODE, CODE))
    cosines = np.diag(np.cos(_FREQUENCIES))
    sines = np.diag(np.sin(_FREQUENCIES))
    turn[: 2 * _WAVES, : 2 * _WAVES] = np.block([[cosines, -sines], [sines, cosines]])
    return turn
