"""The certificate's second route: ball arithmetic. Every number is a midpoint with a radius that
provably contains the truth (python-flint's arb), so the leak is enclosed with no a-priori analysis
at all. Slow, and independent. Each logit gets the radius that KEY_ROUNDING stands for, so the
bounds hold for the same keys as the first route's.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from flint import arb, arb_mat

from headwright.design.digits.frame import many_digits
from headwright.design.proofs.reached import KEY_ROUNDING
from headwright.design.proofs.weight_bounds import Bounds
from headwright.design.target import Bias
from headwright.types import Keys, Query

_BITS = 128
_ROWS = 4096


def ball_precision() -> AbstractContextManager[None]:
    """Balls made inside have enough bits for products of doubles and their sums."""
    return many_digits(_BITS)


def ball_sum(balls: Any) -> Any:
    return sum(balls, arb(0))


def ball_length(row: list[float]) -> Any:
    return ball_sum(arb(x) * arb(x) for x in row).sqrt()


def ball_matrix(rows: list[list[float]]) -> Any:
    return arb_mat([[arb(x) for x in row] for row in rows])


def ball_weight_bounds(q: Query, K: Keys, inside: list[int], scale: float, bias: Bias) -> Bounds:
    """The leak and the weights inside, from both sides, for one query."""
    with ball_precision():
        z = _logits(q, K, scale, bias)
        # The largest logit leaves every exponent <= about 0: nothing overflows, and shifting
        # changes no weight.
        top = arb(max(float(x.mid()) for x in z))
        e = [(x - top).exp() for x in z]

        chosen = set(inside)
        within = ball_sum(e[a] for a in inside)
        beyond = ball_sum(x for i, x in enumerate(e) if i not in chosen)
        total = within + beyond
        leak = beyond / total
        weights = [e[a] / total for a in inside]
        return Bounds(
            least_leak=_from_below(leak),
            leak=_from_above(leak),
            low=np.array([_from_below(w) for w in weights]),
            high=np.array([_from_above(w) for w in weights]),
        )


def _logits(q: Query, K: Keys, scale: float, bias: Bias) -> list[Any]:
    """One ball per logit, wide enough for all keys within KEY_ROUNDING of those given."""
    column = arb_mat([[arb(float(x))] for x in q])
    length = ball_length(q.tolist())
    logits = []
    for start in range(0, K.shape[0], _ROWS):
        rows = K[start : start + _ROWS].tolist()
        products = ball_matrix(rows) * column
        for i, row in enumerate(rows):
            blur = arb(KEY_ROUNDING) * ball_length(row) * length
            z = arb(scale) * (products[i, 0] + arb(0, blur.upper()))
            if bias is not None:
                z = z + arb(float(bias[start + i]))
            logits.append(z)
    return logits


def _from_below(weight: Any) -> float:
    return max(0.0, -_above(-weight))


def _from_above(weight: Any) -> float:
    return min(1.0, _above(weight))


def _above(x: Any) -> float:
    """A double that is certainly not below the ball; infinite where the ball is all numbers."""
    upper = float(x.upper())
    return float(np.nextafter(upper, np.inf)) if np.isfinite(upper) else np.inf
