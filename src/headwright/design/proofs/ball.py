"""The certificate's second route: ball arithmetic. Every number is a midpoint with a radius that
provably contains the truth (python-flint's arb), so the leak is enclosed with no a-priori analysis
at all. Slow, and independent. Each logit gets the radius that KEY_ROUNDING stands for, so the
bounds hold for the same keys as the first route's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from headwright.design.proofs.reached import KEY_ROUNDING
from headwright.types import Array, Float, Keys, Query

_BITS = 128
_ROWS = 4096


def weight_bounds(
    q: Query, K: Keys, inside: list[int], scale: float, bias: Float[Array, "n"] | None
) -> tuple[float, float, Float[Array, "m"], Float[Array, "m"]]:
    """Lower and upper bound of the leak, lower and upper bounds of the weights inside, for one
    query."""
    from flint import arb, arb_mat, ctx

    before = ctx.prec
    ctx.prec = _BITS
    try:
        column = arb_mat([[arb(float(x))] for x in q])
        length = _length(q.tolist())
        e = []
        for start in range(0, K.shape[0], _ROWS):
            rows = K[start : start + _ROWS].tolist()
            product = arb_mat([[arb(x) for x in row] for row in rows]) * column
            for i, row in enumerate(rows):
                blur = arb(KEY_ROUNDING) * _length(row) * length
                z = arb(scale) * (product[i, 0] + arb(0, blur.upper()))
                e.append(z if bias is None else z + arb(float(bias[start + i])))
        # The largest logit leaves every exponent <= about 0: nothing overflows, and shifting
        # changes no weight.
        top = arb(max(float(z.mid()) for z in e))
        e = [(z - top).exp() for z in e]
        chosen = set(inside)
        within = sum((e[a] for a in inside), arb(0))
        beyond = sum((x for i, x in enumerate(e) if i not in chosen), arb(0))
        total = within + beyond
        weights = [e[a] / total for a in inside]
        return (
            max(0.0, -_above(-(beyond / total))),
            min(1.0, _above(beyond / total)),
            np.array([max(0.0, -_above(-w)) for w in weights]),
            np.array([min(1.0, _above(w)) for w in weights]),
        )
    finally:
        ctx.prec = before


def _length(row: list[float]) -> Any:
    from flint import arb

    return sum((arb(x) * arb(x) for x in row), arb(0)).sqrt()


def _above(x: Any) -> float:
    """A double that is certainly not below the ball; infinite where the ball is all numbers."""
    upper = float(x.upper())
    return float(np.nextafter(upper, np.inf)) if np.isfinite(upper) else np.inf
