"""The last word: is the origin in `conv{x_i} + span{e_a}`, in rational arithmetic? A float is a
rational, so keys as stored have one exact answer, also on the boundary (midpoints, lattice points)
where no float method may guess.

Wolfe's nearest-point method, started from the rows a float method found important: keep a corral of
affinely independent rows with positive weights, move to the point of their affine hull nearest the
origin, drop rows whose weight would turn negative, add a row that lies nearer. It ends: each corral
has one nearest point, and the distance falls. The end is either 0 (a proof) or a vector p with `x_i
. p > 0` for all i (a witness). Rejected: a rational simplex method, which needs two phases and an
anti-cycling rule for exactly these degenerate cases.

Rows may be multiplied by positive numbers without changing the answer; each is brought to about the
same length by a power of two. Prices are screened in float64 with error bounds; only what those
leave open is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpz, fmpz_mat

from headwright.design.proofs.float_bounds import TINY, certain_margins, gamma
from headwright.types import Float

_MOST_CYCLES = 2000
_BLOCK = 4096  # rows priced at a time


@dataclass(frozen=True)
class Origin:
    """`inside`: `sum w_i x_i + sum f_a e_a = 0` with the rationals `weights` on `rows` (positive,
    sum 1) and `free` (one per member of S). Not inside: they sum to a multiple of `point`, p as
    integers up to a positive factor, which separates; None when cycles ran out."""

    inside: bool | None
    point: tuple[int, ...]
    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]
    free: tuple[Fraction, ...]


class ExactRows:
    """Differences `k_i - base` as integer vectors, made when first asked for."""

    def __init__(self, K: Float[np.ndarray, "n d"], base: int) -> None:
        exponent = np.frexp(K[K != 0])[1] if K.any() else np.zeros(1, int)
        self.exponent = int(exponent.min()) - 53  # every entry is an integer times 2^exponent
        self.bits = int(exponent.max()) - self.exponent + 1
        self.K, self.base = K, base
        self._origin = self.integers(K[base])
        self._made: dict[int, tuple[list[int], int]] = {}

    def integers(self, row: Float[np.ndarray, "d"]) -> list[int]:
        mantissa, exponent = np.frexp(row)
        whole = np.ldexp(mantissa, 53).astype(np.int64).tolist()
        shift = (exponent.astype(int) - 53 - self.exponent).tolist()
        return [w << s if w else 0 for w, s in zip(whole, shift, strict=True)]

    def __getitem__(self, i: int) -> tuple[list[int], int]:
        """`(x, s)`: the integer vector `2^s (k_i - base)` in units of the last place; s brings it
        to full length."""
        if i not in self._made:
            x = [a - b for a, b in zip(self.integers(self.K[i]), self._origin, strict=True)]
            s = self.bits - max(max(abs(v) for v in x).bit_length(), 1)
            self._made[i] = [v << s if s >= 0 else v for v in x], max(s, 0)
        return self._made[i]


def nearest(
    K: Float[np.ndarray, "n d"],
    S: Sequence[int],
    *,
    candidates: Sequence[int],
    weights: Sequence[float],
    enough: float = 0.0,
) -> Origin:
    """Decide S exactly: x_i = k_i - K[S[0]] for i outside S, e_a = k_a - K[S[0]] for a in S.
    `candidates` (keys outside S, affinely independent if possible) and their weights are where to
    start. A combination of length `enough` or less ends the search."""
    exact = ExactRows(K, S[0])
    free = [1 + i for i in independent([exact[a][0] for a in S[1:]])]
    outside = np.ones(len(K), bool)
    outside[list(S)] = False
    corral = _Corral([exact[S[a]][0] for a in free], exact)
    corral.start(candidates, weights)
    for _ in range(_MOST_CYCLES):
        point = corral.settle()
        if point is None:  # only the candidates can be dependent; begin again with one row
            corral.start([int(np.flatnonzero(outside)[0])], [1.0])
            continue
        if not any(point):
            return _origin(True, corral, S=S, free=free)
        if 0 < enough >= corral.distance():
            return _origin(False, corral, S=S, free=free)
        size = Fraction(int(max(abs(v) for v in point)), int(corral.common) << exact.bits)
        row = _nearer(point, K, size=size, outside=outside, exact=exact)
        if row is None:
            return _origin(False, corral, S=S, free=free)
        corral.add(row)
    return Origin(inside=None, point=(), rows=(), weights=(), free=())


class _Corral:
    """Rows with positive weights (sum 1); with the free vectors E they are affinely independent."""

    def __init__(self, E: list[list[int]], exact: ExactRows) -> None:
        self.E, self.exact = E, exact
        self.rows: list[int] = []
        self.lam: list[fmpq] = []
        self.mu: list[fmpq] = []
        self.point: list[fmpz] = []
        self.common = fmpz(1)

    def start(self, rows: Sequence[int], weights: Sequence[float]) -> None:
        total = sum(Fraction(w) for w in weights)
        self.rows = list(rows)
        self.lam = [_rational(Fraction(w) / total) for w in weights]

    def add(self, row: int) -> None:
        self.rows.append(row)
        self.lam.append(fmpq(0))

    def settle(self) -> list[fmpz] | None:
        """Move to the nearest point of the affine hull, dropping rows on the way; that point as
        integers, or None if the rows are dependent."""
        while self.rows:
            goal = self._affine_minimiser()
            if goal is None:
                return None
            alpha, self.mu = goal
            if all(a > 0 for a in alpha):
                self.lam = alpha
                return self._point()
            theta = min(x / (x - a) for x, a in zip(self.lam, alpha, strict=True) if a <= 0)
            moved = [x + theta * (a - x) for x, a in zip(self.lam, alpha, strict=True)]
            keep = [i for i, x in enumerate(moved) if x > 0]
            self.rows, self.lam = [self.rows[i] for i in keep], [moved[i] for i in keep]
        return None

    def distance(self) -> float:
        """Length of the combination in the units of the keys: `|p| / sum_i 2^s_i lam_i`."""
        total = sum(
            (x * 2 ** self.exact[i][1] for x, i in zip(self.lam, self.rows, strict=True)), fmpq(0)
        )
        largest = Fraction(int(max(abs(v) for v in self.point)), int(self.common)) / _fraction(
            total
        )
        return float(largest * Fraction(2) ** self.exact.exponent) * float(
            np.linalg.norm(floats(self.point))
        )

    def _affine_minimiser(self) -> tuple[list[fmpq], list[fmpq]] | None:
        # min |sum lam x + sum mu e|^2, sum lam = 1:   [G c; c' 0] [lam mu nu] = [0 0 1],  c = (1.. , 0..)
        m, M = len(self.rows), self._matrix()
        G, size = M * M.transpose(), M.nrows()
        ones = [1] * m + [0] * (size - m)
        bordered = fmpz_mat(
            [[G[i, j] for j in range(size)] + [ones[i]] for i in range(size)] + [[*ones, 0]]
        )
        right = fmpz_mat([[0]] * size + [[1]])
        try:
            solution = bordered.solve(right)
        except ZeroDivisionError:
            return None
        return [solution[i, 0] for i in range(m)], [solution[i, 0] for i in range(m, size)]

    def _matrix(self) -> fmpz_mat:
        return fmpz_mat([self.exact[i][0] for i in self.rows] + self.E)

    def _point(self) -> list[fmpz]:
        coefficients = [*self.lam, *self.mu]
        self.common = fmpz(1)
        for c in coefficients:
            self.common = self.common.lcm(c.q)
        row = fmpz_mat([[(c * self.common).p for c in coefficients]]) * self._matrix()
        self.point = row.entries()
        return self.point


def _nearer(
    point: list[fmpz], K: np.ndarray, *, size: Fraction, outside: np.ndarray, exact: ExactRows
) -> int | None:
    """A row well short of p (`x_i . p < |p|^2 / 2`), or None when all rows provably have `x_i . p >
    0`.

    Half way is far enough: the margin of p is then within a factor 2 of the best. `size` is the
    largest coordinate of p in units of the scaled rows."""
    p = floats(point)
    wanted, open_rows = float(p @ p * size) / 2, []
    worst, lowest = None, np.inf
    for first in range(0, len(K), _BLOCK):
        X = K[first : first + _BLOCK] - exact.K[exact.base]
        X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=1, keepdims=True))[1])
        score = X @ p
        error = gamma(K.shape[1] + 8) * np.linalg.norm(X, axis=1) * np.linalg.norm(p) + TINY
        score[~outside[first : first + _BLOCK]] = np.inf
        i = int(np.argmin(score + error))
        if score[i] + error[i] < min(wanted, lowest):
            worst, lowest = first + i, score[i] + error[i]
        open_rows += (first + np.flatnonzero(score <= error)).tolist()
    if worst is not None:
        return worst
    for i in open_rows:
        if sum(a * b for a, b in zip(exact[i][0], point, strict=True)) <= 0:
            return i
    return None


def margin(K: Float[np.ndarray, "n d"], S: Sequence[int], q: Float[np.ndarray, "d"]) -> float:
    """`min_{i outside S} (k_{S[0]} - k_i) . q`: a certain lower bound where floats give a positive
    one, else exact."""
    outside = np.ones(len(K), bool)
    outside[list(S)] = False
    exact, rows = ExactRows(K, S[0]), np.flatnonzero(outside)
    certain = np.concatenate(
        [
            certain_margins(K[part], K[S[0]], q)
            for part in np.array_split(rows, 1 + len(rows) // _BLOCK)
        ]
    )
    lowest = float(certain.min())
    if lowest > 0:
        return lowest
    whole = [Fraction(v) for v in q.tolist()]
    unit = Fraction(2) ** exact.exponent
    for i in rows[certain <= 0]:
        x, s = exact[int(i)]
        gap = -sum(a * b for a, b in zip(x, whole, strict=True)) * unit / 2**s
        certain[rows == i] = float(gap)
    return float(certain.min())


def _origin(inside: bool, corral: _Corral, *, S: Sequence[int], free: list[int]) -> Origin:
    """Undo the row scalings and normalise to `sum w = 1`."""
    exact, f = corral.exact, [Fraction(0)] * len(S)
    w = [_fraction(x) * 2 ** exact[i][1] for x, i in zip(corral.lam, corral.rows, strict=True)]
    for a, x in zip(free, corral.mu, strict=True):
        f[a] = _fraction(x) * 2 ** exact[S[a]][1]
    total = sum(w)
    return Origin(
        inside=inside,
        point=tuple(int(v) for v in corral.point),
        rows=tuple(corral.rows),
        weights=tuple(x / total for x in w),
        free=tuple(x / total for x in f),
    )


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


def _rational(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))
