"""The Newton matrix A = I + mu Cov_lam(x), from the rows that carry it.

The gradient of f is exact; its curvature need not be. Rows with mu lam_i |x|^2 below a cut are
summed up as a multiple of the identity (their mean curvature), the heavy ones are kept. The cut is
refined when convergence is slow, until all rows are in. With few heavy rows their small Gram matrix
is factored instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from headwright.design.solve.coordinates import HeadProblem
from headwright.design.target import PerKey
from headwright.types import Array, Float, Query

# mu |x|^2 beyond which the Gram form (a difference of nearly equal vectors) loses too many digits.
_GRAM_LIMIT = 1e6
# With fewer heavy rows than this part of the dimension their Gram matrix is the cheaper one.
_GRAM_SHARE = 0.8
_SAMPLE = 512
# With this many times more rows than dimensions, the d x d matrix is projected instead of the rows.
_LATE = 4

Inverse = Callable[[Query], Query]


@dataclass(frozen=True)
class Curvature:
    """`size` is a typical |x|^2; only speed depends on it."""

    problem: HeadProblem
    size: float
    cut: float = 0.03

    @property
    def complete(self) -> bool:
        return self.cut <= 1e-12

    def finer(self, factor: float = 10.0) -> Curvature:
        return replace(self, cut=self.cut / factor)

    def factor(self, lam: PerKey, g: Query, mu: float) -> Inverse:
        """`v -> A^-1 v` for the distribution lam with mean row g."""
        heavy = np.flatnonzero(lam * (mu * self.size) > self.cut)
        light = max(0.0, 1.0 - float(lam[heavy].sum()))
        d = g.shape[0]
        one = 1.0 + mu * self.size * light / d
        if not heavy.size:
            return lambda v: v / one

        # A = one I + B'B,  rows of B: sqrt(mu lam_i) (x_i - g)
        late = heavy.size > _LATE * d
        roots = np.sqrt(mu * lam[heavy])[:, None]
        if late:
            rows = self.problem.k0 - self.problem.K[heavy]
            B = (rows - lam[heavy] @ rows) * roots
        else:
            B = (self.problem.rows(heavy) - g) * roots
        if heavy.size < _GRAM_SHARE * d and mu * self.size < _GRAM_LIMIT:
            return _inverse_by_gram(B, one)

        full = B.T @ B
        if late:
            full = self.problem.off(self.problem.off(full).T)
        full[np.diag_indices_from(full)] += one
        return _inverse(full, one)


def _inverse_by_gram(B: Float[Array, "r d"], one: float) -> Inverse:
    """Woodbury: (one I + B'B)^-1 v = (v - B' (one I + BB')^-1 B v) / one."""
    gram = B @ B.T
    gram[np.diag_indices_from(gram)] += one
    factors = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    return lambda v: (v - B.T @ cho_solve(factors, B @ v, check_finite=False)) / one


def _inverse(full: Float[Array, "d d"], one: float) -> Inverse:
    try:
        factors = cho_factor(full, lower=True, check_finite=False)
    except LinAlgError:
        # mu |x|^2 near 1 / eps: rounding has eaten the identity. Its eigenvalues are known to be
        # >= one.
        values, vectors = eigh(full, check_finite=False)
        return lambda v: vectors @ ((v @ vectors) / np.maximum(values, one))
    return lambda v: cho_solve(factors, v, check_finite=False)


def typical_square(problem: HeadProblem) -> float:
    """Mean |x_i|^2 over an even sample of the keys outside S (1 if they all coincide with k0)."""
    outside = np.flatnonzero(np.isfinite(problem.c))
    step = max(1, outside.size // _SAMPLE)
    rows = problem.rows(outside[::step])
    squares = np.einsum("ij,ij->i", rows, rows)
    return float(squares.mean()) or 1.0
