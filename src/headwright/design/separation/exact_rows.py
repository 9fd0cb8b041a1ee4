"""Keys as they are stored, without rounding: a float is an integer times a power of two.

Rows may be multiplied by positive numbers without changing on which side of a hyperplane they lie;
each is brought to about the same length by a power of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpz, fmpz_mat

from headwright.design.proofs.float_bounds import certain_margins
from headwright.types import Keys, Query

_BLOCK = 4096  # rows at a time
_MANTISSA = 53  # bits of a float64


class ExactRows:
    """Differences `k_i - base` as integer vectors, made when first asked for."""

    def __init__(self, K: Keys, base: int) -> None:
        exponent = np.frexp(K[K != 0])[1] if K.any() else np.zeros(1, int)
        # Every entry is an integer times 2^exponent.
        self.exponent = int(exponent.min()) - _MANTISSA
        self.bits = int(exponent.max()) - self.exponent + 1
        self.K = K
        self.base = base
        self._origin = self.integers(K[base])
        self._made: dict[int, tuple[list[int], int]] = {}

    def integers(self, row: Query) -> list[int]:
        mantissa, exponent = np.frexp(row)
        whole = np.ldexp(mantissa, _MANTISSA).astype(np.int64).tolist()
        shift = (exponent.astype(int) - _MANTISSA - self.exponent).tolist()
        return [w << s if w else 0 for w, s in zip(whole, shift, strict=True)]

    def __getitem__(self, i: int) -> tuple[list[int], int]:
        """`(x, s)`: the integer vector `2^s (k_i - base)` in units of the last place; s brings it
        to full length."""
        if i not in self._made:
            row = self.integers(self.K[i])
            x = [a - b for a, b in zip(row, self._origin, strict=True)]
            largest = max(abs(v) for v in x)
            s = self.bits - max(largest.bit_length(), 1)
            self._made[i] = [v << s if s >= 0 else v for v in x], max(s, 0)
        return self._made[i]


def margin(K: Keys, S: Sequence[int], q: Query) -> float:
    """`min_{i outside S} (k_{S[0]} - k_i) . q`: a certain lower bound where floats give a positive
    one, else exact."""
    rows = np.flatnonzero(outside(len(K), S))
    parts = np.array_split(rows, 1 + len(rows) // _BLOCK)
    certain = np.concatenate([certain_margins(K[part], K[S[0]], q) for part in parts])
    lowest = float(certain.min())
    if lowest > 0:
        return lowest

    exact = ExactRows(K, S[0])
    whole = [Fraction(v) for v in q.tolist()]
    unit = Fraction(2) ** exact.exponent
    for i in rows[certain <= 0]:
        x, s = exact[int(i)]
        score = sum(a * b for a, b in zip(x, whole, strict=True))
        gap = -score * unit / 2**s
        certain[rows == i] = float(gap)
    return float(certain.min())


def outside(n: int, S: Sequence[int]) -> np.ndarray:
    """Which of n keys are not in S."""
    mask = np.ones(n, bool)
    mask[list(S)] = False
    return mask


def independent(rows: list[list[int]]) -> list[int]:
    """Positions of a largest linearly independent subset of integer vectors (pivots of the row
    reduction)."""
    if not rows:
        return []
    reduced, _, rank = fmpz_mat(rows).transpose().rref()
    return [next(c for c in range(len(rows)) if reduced[r, c] != 0) for r in range(rank)]


def floats(point: Sequence[int] | Sequence[fmpz]) -> np.ndarray:
    """The integer vector divided by its largest entry; every coordinate correct to one unit in the
    last place."""
    largest = max(abs(int(v)) for v in point)
    return np.array([float(Fraction(int(v), largest)) for v in point])


def flint_rational(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)
