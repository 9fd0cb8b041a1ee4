"""Station 13: attention does not see order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from headwright import symmetry
from headwright.attention import attend
from headwright.report.style import ROLES, figure
from headwright.tour.station import ROUNDING, Comparison, Evidence

TOKENS = 6
WIDTH = 4
# What stands for zero on a logarithmic axis
NOTHING = 1e-17


def equivariance(seed: int) -> Evidence:
    """Permutations by the checker and by explicit matrices, where they commute and where not."""
    rng = np.random.default_rng(seed)
    W_q, W_k, W_v = rng.standard_normal((3, WIDTH, WIDTH)) / math.sqrt(WIDTH)
    X, positions = rng.standard_normal((2, TOKENS, WIDTH))
    causal = np.tril(np.ones((TOKENS, TOKENS), dtype=bool))

    def layer(x: np.ndarray, mask: Any = None) -> np.ndarray:
        scale = 1 / math.sqrt(WIDTH)
        return attend(x @ W_q, x @ W_k, x @ W_v, scale=scale, mask=mask).output

    def with_positions(x: np.ndarray) -> np.ndarray:
        return layer(x + positions)

    def with_mask(x: np.ndarray) -> np.ndarray:
        return layer(x, causal)

    left = symmetry.permutation(layer, X)
    right = symmetry.permutation(layer, X, axis=-1)
    placed = symmetry.permutation(with_positions, X)
    masked = symmetry.permutation(with_mask, X)

    P = np.eye(TOKENS)[rng.permutation(TOKENS)]
    explicit = _largest(layer(P @ X) - P @ layer(X))
    of_tokens = Comparison(
        "largest |f(P X) - P f(X)|",
        {"checker": left.error, "explicit matrix": explicit},
        ROUNDING,
    )
    F = _first_two_swapped(WIDTH)
    explicit = _largest(layer(X @ F) - layer(X) @ F)
    features = _swap_error(layer, X, axis=-1)
    of_features = Comparison(
        "|f(X P) - f(X) P|, features 0 and 1 swapped",
        {"checker": features, "explicit matrix": explicit},
        ROUNDING,
    )
    of_positions = _swap_by_routes("with positions, tokens 0 and 1 swapped", with_positions, X)
    of_mask = _swap_by_routes("with a causal mask, tokens 0 and 1 swapped", with_mask, X)
    swapped_with_positions = of_positions.routes["checker"]
    swapped_with_mask = of_mask.routes["checker"]
    counterexamples = [verdict.counterexample for verdict in (right, placed, masked)]
    facts = {
        "P on the left holds": left.holds,
        "P on the right fails": not right.holds,
        "positions break it": not placed.holds,
        "a causal mask breaks it": not masked.holds,
        "each failure has a one-swap counterexample": None not in counterexamples,
    }
    finding = (
        f"P on the left: error {left.error:.0e}, rounding. One swap breaks each of the "
        f"others: P on the right by {features:.2f}, positions by {swapped_with_positions:.2f}, "
        f"a causal mask by {swapped_with_mask:.2f}."
    )
    return Evidence(
        comparisons=(of_tokens, of_features, of_positions, of_mask),
        facts=facts,
        finding=finding,
        draw=lambda: _draw_errors(left, right, placed, masked),
        caption="Largest error of the claim over all permutations tried, not only the swap of the "
        "table; the dotted line is the rounding to be expected.",
    )


def _first_two_swapped(size: int) -> np.ndarray:
    """The permutation matrix that swaps 0 and 1."""
    return np.eye(size)[[1, 0, *range(2, size)]]


def _largest(difference: np.ndarray) -> float:
    return float(np.abs(difference).max())


def _swap_error(layer: symmetry.Layer, X: np.ndarray, axis: int = -2) -> float:
    """The checker's error when it may try one permutation only: its first swaps 0 and 1."""
    one_swap = symmetry.permutation(layer, X, axis=axis, among=(0, 1), budget=1)
    return one_swap.error


def _swap_by_routes(
    quantity: str, layer: Callable[[np.ndarray], np.ndarray], X: np.ndarray
) -> Comparison:
    P = _first_two_swapped(TOKENS)
    explicit = _largest(layer(P @ X) - P @ layer(X))
    routes = {"checker": _swap_error(layer, X), "explicit matrix": explicit}
    return Comparison(quantity, routes, ROUNDING)


def _draw_errors(*verdicts: symmetry.Symmetry) -> Any:
    """The largest error of each claim."""
    names = ("P X", "X P", "positions", "causal mask")
    errors = [max(verdict.error, NOTHING) for verdict in verdicts]
    colours = [ROLES["good"] if verdict.holds else ROLES["bad"] for verdict in verdicts]
    with figure(4.8, 2.5) as (drawing, axis):
        axis.barh(names, errors, color=colours, left=NOTHING)
        axis.invert_yaxis()
        axis.axvline(verdicts[0].expected_rounding, color=ROLES["muted"], linestyle=":")
        axis.set(xscale="log", xlabel="largest error", xlim=(NOTHING, 30))
    return drawing
