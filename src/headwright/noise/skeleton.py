"""The few functions of (m, s) from which psi, r and w at every node follow: a greedy cross approximation.

Everything is divided by the reference r_0 = sum_k r(u_k) e^{Psi(u_k)/2}, about the weight a key can have: what is
left is of size one and nearly constant for keys of little weight, so that polynomials of low degree carry it from
the grid to the keys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.types import Float, Int

_MISSED = 2e-12  # what the skeleton may miss, relative to the largest entry
_LARGEST = 120  # functions
_SAMPLED = 1500  # columns the search looks at


@dataclass(frozen=True)
class Skeleton:
    """`functions` (q, columns) on the grid, divided by the reference; `expand` (3, nodes, q) gives psi, r and w
    back; `missed` is the largest residual as far as it can be seen in the moments."""

    functions: Float[np.ndarray, "q g"]
    log_reference: Float[np.ndarray, "g"]
    expand: Float[np.ndarray, "3 u q"]
    missed: float


def reference(
    table: Float[np.ndarray, "3 u g"], total: Float[np.ndarray, "u"]
) -> tuple[Float[np.ndarray, "3 u g"], Float[np.ndarray, "g"]]:
    """The table divided by r_0, and ln r_0."""
    log_reference = np.log(np.maximum(np.exp(total / 2) @ table[1], 1e-300))
    return table * np.exp(-log_reference), log_reference


def make_skeleton(
    table: Float[np.ndarray, "3 u g"], total: Float[np.ndarray, "u"], columns: Int[np.ndarray, "c"]
) -> Skeleton:
    """The skeleton of the columns named; the others are not looked at."""
    scaled, log_reference = reference(table, total)
    # psi and w enter as e^Psi psi, r also as e^Psi r^2: that is how much of an error is seen.
    seen = np.exp(np.stack([total, total / 2, total]))
    rows = (scaled * seen[:, :, None]).reshape(-1, table.shape[2])
    mine = rows[:, columns]
    thin = mine[:, :: max(1, columns.size // _SAMPLED)].copy()
    size, chosen = np.abs(thin).max(), []
    while len(chosen) < _LARGEST:
        at = np.unravel_index(np.argmax(np.abs(thin)), thin.shape)
        if abs(thin[at]) <= _MISSED * size:
            break
        chosen.append(int(at[0]))
        thin -= np.outer(thin[:, at[1]] / thin[at], thin[at[0]])
    scale = 1.0 / np.abs(mine[chosen]).max(axis=1, keepdims=True)
    expand = np.linalg.lstsq((scale * mine[chosen]).T, mine.T, rcond=1e-15)[0].T
    missed = float(np.abs(expand @ (scale * mine[chosen]) - mine).max())
    expand = expand.reshape(3, table.shape[1], -1) / np.maximum(seen, 1e-30)[:, :, None]
    return Skeleton(scale * rows[chosen], log_reference, expand, missed)
