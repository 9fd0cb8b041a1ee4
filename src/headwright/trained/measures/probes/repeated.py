"""Random tokens, and the same once more: nothing but the repetition says what comes next, and every
token has stood in one place before. The usual text for induction scores."""

from __future__ import annotations

import numpy as np

from headwright.errors import InputError
from headwright.trained.rows.result import Rows
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array, Float

# Tokens of one half, or fewer where the model has no such vocabulary or as many positions.
HALF = 128


def repeated_tokens(vocabulary: int, *, longest: int | None, seed: int) -> list[int]:
    """`HALF` different tokens twice; `longest` is the number of positions."""
    half = min(HALF, vocabulary, (longest or 2 * HALF) // 2)
    if half < 2:
        raise InputError(
            wanted="room for two tokens twice",
            got=f"{vocabulary} tokens, {longest} positions",
            attempt="leave --induction out",
        )
    drawn = np.random.default_rng(seed).choice(vocabulary, size=half, replace=False)
    return drawn.tolist() * 2


def induction(rows: Rows, tokens: Tokens) -> Float[Array, "h"]:
    """Mean weight, over the second half, on what followed the same token in the first."""
    return rows.patterns["induction"] / tokens.rows_with("induction")
