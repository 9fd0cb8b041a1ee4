"""Stations 13 and 14: attention does not see order, and positions that tell tokens apart."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from headwright import symmetry
from headwright.attention import attend
from headwright.report.style import ROLES, figure
from headwright.tour.station import Comparison, Station

ROUNDING = 1e-12
TOKENS, WIDTH = 6, 4
HORIZON = 10_000


def equivariance(seed: int) -> Station:
    rng = np.random.default_rng(seed)
    W_q, W_k, W_v = rng.standard_normal((3, WIDTH, WIDTH)) / math.sqrt(WIDTH)
    X, positions = rng.standard_normal((2, TOKENS, WIDTH))
    causal = np.tril(np.ones((TOKENS, TOKENS), dtype=bool))

    def layer(x: np.ndarray, mask: Any = None) -> np.ndarray:
        return attend(x @ W_q, x @ W_k, x @ W_v, scale=1 / math.sqrt(WIDTH), mask=mask).output

    P = np.eye(TOKENS)[rng.permutation(TOKENS)]
    F = np.eye(WIDTH)[[1, 0, 2, 3]]  # swaps features 0 and 1
    left = symmetry.permutation(layer, X)
    right = symmetry.permutation(layer, X, axis=-1)
    placed = symmetry.permutation(lambda x: layer(x + positions), X)
    masked = symmetry.permutation(lambda x: layer(x, causal), X)
    swap = np.eye(TOKENS)[[1, 0, *range(2, TOKENS)]]
    features = _swap_error(layer, X, axis=-1)
    with_positions = _swap_error(lambda x: layer(x + positions), X)
    with_mask = _swap_error(lambda x: layer(x, causal), X)
    return Station(
        id="13",
        title="Permutation equivariance",
        claim=r"Rows are tokens. Self-attention without positions satisfies $f(PX) = P f(X)$; the permutation stands on the "
        r"left. $f(XP) = f(X)P$ permutes features and is false. Positions and a causal mask break the symmetry.",
        comparisons=(
            Comparison("largest |f(P X) - P f(X)|",
                       {"checker": left.error, "explicit matrix": float(np.abs(layer(P @ X) - P @ layer(X)).max())}, ROUNDING),
            Comparison("|f(X P) - f(X) P|, features 0 and 1 swapped",
                       {"checker": features,
                        "explicit matrix": float(np.abs(layer(X @ F) - layer(X) @ F).max())}, ROUNDING),
            Comparison("with positions, tokens 0 and 1 swapped",
                       {"checker": with_positions,
                        "explicit matrix": float(np.abs(layer(swap @ X + positions) - swap @ layer(X + positions)).max())},
                       ROUNDING),
            Comparison("with a causal mask, tokens 0 and 1 swapped",
                       {"checker": with_mask,
                        "explicit matrix": float(np.abs(layer(swap @ X, causal) - swap @ layer(X, causal)).max())},
                       ROUNDING),
        ),
        facts={"P on the left holds": left.holds, "P on the right fails": not right.holds,
               "positions break it": not placed.holds, "a causal mask breaks it": not masked.holds,
               "each failure has a one-swap counterexample": all(
                   v.counterexample is not None for v in (right, placed, masked))},
        finding=f"P on the left: error {left.error:.0e}, rounding. One swap breaks each of the others: P on the right by "
        f"{features:.2f}, positions by {with_positions:.2f}, a causal mask by {with_mask:.2f}.",
        draw=lambda: _draw_errors(left, right, placed, masked),
        caption="Largest error of the claim over all permutations tried, not only the swap of the table; the dotted line is "
        "the rounding to be expected.",
    )  # fmt: skip


def _swap_error(layer: symmetry.Layer, X: np.ndarray, axis: int = -2) -> float:
    """The checker's error when it may try one permutation only: its first is the swap of 0 and 1."""
    return symmetry.permutation(layer, X, axis=axis, among=(0, 1), budget=1).error


def _draw_errors(*verdicts: symmetry.Symmetry) -> Any:
    names = ("P X", "X P", "positions", "causal mask")
    with figure(6.4, 2.5) as (drawing, axis):
        colours = [ROLES["good"] if v.holds else ROLES["bad"] for v in verdicts]
        axis.barh(
            names[::-1],
            [max(v.error, 1e-17) for v in verdicts[::-1]],
            color=colours[::-1],
            left=1e-17,
        )
        axis.axvline(verdicts[0].expected_rounding, color=ROLES["muted"], linestyle=":")
        axis.set(xscale="log", xlabel="largest error", xlim=(1e-17, 30))
    return drawing


def positions(seed: int) -> Station:
    offsets = np.arange(1, HORIZON + 1)
    # The first pair of a sinusoidal vector is (sin t, cos t): at offset D two positions are 2
    # |sin(D/2)| apart.
    apart = np.abs(2 * np.sin(offsets / 2))
    closest = int(offsets[apart.argmin()])
    best = max((f.numerator for f in _convergents(8) if f.numerator <= HORIZON), default=0)
    return Station(
        id="14",
        title="Sinusoidal positions never coincide",
        claim=r"Two positions share the first pair $(\sin t, \cos t)$ only if their offset is a multiple of $2\pi$. Offsets are "
        r"integers and $\pi$ is irrational, so no two positions coincide, however long the text.",
        comparisons=(
            Comparison("offset of the closest pair up to 10,000",
                       {"search": float(closest), "continued fraction of 2 pi": float(best)}, 0.0),
            Comparison("their distance in the first pair",
                       {"search": float(apart.min()), "ball arithmetic": _distance(best)}, 1e-11),
        ),
        facts={"no distance is zero": bool((apart > 0).all()),
               "ball arithmetic excludes zero": _excludes_zero(best)},
        finding=f"The closest pair up to offset 10,000 is {closest} apart ({closest} is nearly 113 turns) and still differs by "
        f"{apart.min():.1e} in the first pair alone.",
        draw=lambda: _draw_positions(offsets, apart),
        caption="Distance of two positions in the first pair against their offset: small, never zero.",
    )  # fmt: skip


def _convergents(count: int) -> list[Fraction]:
    """Convergents of 2 pi: the integers that come closest to whole turns are their numerators."""
    ctx.prec = 200
    x, quotients, found = 2 * arb.pi(), [], []
    for _ in range(count):
        whole = x.floor().unique_fmpz()
        if whole is None:
            raise ArithmeticError("200 bits are too few for this many convergents")
        quotients.append(int(whole))
        x = 1 / (x - whole)
        value = Fraction(quotients[-1])
        for q in reversed(quotients[:-1]):
            value = q + 1 / value
        found.append(value)
    return found


def _separation(offset: int) -> arb:
    ctx.prec = 200
    return abs(2 * (arb(offset) / 2).sin())


def _distance(offset: int) -> float:
    return float(_separation(offset).mid())


def _excludes_zero(offset: int) -> bool:
    return not _separation(offset).contains(0)


def _draw_positions(offsets: np.ndarray, apart: np.ndarray) -> Any:
    record = np.minimum.accumulate(apart)
    with figure(6.4, 2.7) as (drawing, axis):
        axis.loglog(
            offsets, apart, ".", color=ROLES["key"], markersize=1.5, alpha=0.35, rasterized=True
        )
        axis.loglog(offsets, record, color=ROLES["query"], label="closest so far")
        axis.set(xlabel="offset of the two positions", ylabel="distance")
        axis.legend(loc="lower left")
    return drawing
