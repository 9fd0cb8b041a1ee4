"""The last word: is the origin in `conv{x_i} + span{e_a}`, in rational arithmetic? A float is a
rational, so keys as stored have one exact answer, also on the boundary (midpoints, lattice points)
where no float method may guess.

Wolfe's nearest-point method, started from the rows a float method found important: keep a corral of
affinely independent rows with positive weights, move to the point of their affine hull nearest the
origin, drop rows whose weight would turn negative, add a row that lies nearer. It ends: each corral
has one nearest point, and the distance falls. The end is either 0 (a proof) or a vector p with `x_i
. p > 0` for all i (a witness). Rejected: a rational simplex method, which needs two phases and an
anti-cycling rule for exactly these degenerate cases.

Prices are screened in float64 with error bounds; only what those leave open is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpz, fmpz_mat

from headwright.design.proofs.float_bounds import TINY, gamma
from headwright.design.proofs.proof import fraction_of
from headwright.design.separation.exact_rows import (
    ExactRows,
    flint_rational,
    floats,
    independent,
    outside,
)
from headwright.types import Keys

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


def nearest_point(
    K: Keys,
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
    others = outside(len(K), S)
    corral = _Corral([exact[S[a]][0] for a in free], exact)
    corral.start(candidates, weights)
    for _ in range(_MOST_CYCLES):
        point = corral.settle()
        if point is None:  # only the candidates can be dependent; begin again with one row
            first = int(np.flatnonzero(others)[0])
            corral.start([first], [1.0])
            continue
        if not any(point):
            return _origin(True, corral, S=S, free=free)
        if 0 < enough >= corral.distance():
            return _origin(False, corral, S=S, free=free)
        row = _nearer(corral, K, others)
        if row is None:
            return _origin(False, corral, S=S, free=free)
        corral.add(row)
    return Origin(inside=None, point=(), rows=(), weights=(), free=())


class _Corral:
    """Rows with positive weights (sum 1); with the free vectors E they are affinely independent."""

    def __init__(self, E: list[list[int]], exact: ExactRows) -> None:
        self.E = E
        self.exact = exact
        self.rows: list[int] = []
        self.lam: list[fmpq] = []
        self.mu: list[fmpq] = []
        self.point: list[fmpz] = []
        self.common = fmpz(1)

    def start(self, rows: Sequence[int], weights: Sequence[float]) -> None:
        total = sum(Fraction(w) for w in weights)
        self.rows = list(rows)
        self.lam = [flint_rational(Fraction(w) / total) for w in weights]

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
            self._move_towards(alpha)
        return None

    def _move_towards(self, alpha: list[fmpq]) -> None:
        """As far as all weights stay >= 0; rows whose weight vanishes are dropped."""
        pairs = list(zip(self.lam, alpha, strict=True))
        theta = min(x / (x - a) for x, a in pairs if a <= 0)
        moved = [x + theta * (a - x) for x, a in pairs]
        keep = [i for i, x in enumerate(moved) if x > 0]
        self.rows = [self.rows[i] for i in keep]
        self.lam = [moved[i] for i in keep]

    def largest(self) -> Fraction:
        """The largest coordinate of the point, in units of the scaled rows' last place."""
        return Fraction(int(max(abs(v) for v in self.point)), int(self.common))

    def distance(self) -> float:
        """Length of the combination in the units of the keys: `|p| / sum_i 2^s_i lam_i`."""
        weighed = zip(self.lam, self.rows, strict=True)
        total = sum((x * 2 ** self.exact[i][1] for x, i in weighed), fmpq(0))
        largest = self.largest() / fraction_of(total)
        in_keys = float(largest * Fraction(2) ** self.exact.exponent)
        return in_keys * float(np.linalg.norm(floats(self.point)))

    def _affine_minimiser(self) -> tuple[list[fmpq], list[fmpq]] | None:
        # min |sum lam x + sum mu e|^2, sum lam = 1:
        # [G c; c' 0] [lam mu nu] = [0 0 1],  c = (1.. , 0..)
        m = len(self.rows)
        M = self._matrix()
        size = M.nrows()
        G = M * M.transpose()
        ones = [1] * m + [0] * (size - m)
        gram = [[G[i, j] for j in range(size)] for i in range(size)]
        bordered = [[*row, one] for row, one in zip(gram, ones, strict=True)]
        right = [[0]] * size + [[1]]
        try:
            solution = fmpz_mat([*bordered, [*ones, 0]]).solve(fmpz_mat(right))
        except ZeroDivisionError:
            return None
        values = [solution[i, 0] for i in range(size)]
        return values[:m], values[m:]

    def _matrix(self) -> fmpz_mat:
        return fmpz_mat([self.exact[i][0] for i in self.rows] + self.E)

    def _point(self) -> list[fmpz]:
        coefficients = [*self.lam, *self.mu]
        self.common = fmpz(1)
        for c in coefficients:
            self.common = self.common.lcm(c.q)
        whole = [(c * self.common).p for c in coefficients]
        self.point = (fmpz_mat([whole]) * self._matrix()).entries()
        return self.point


def _nearer(corral: _Corral, K: Keys, others: np.ndarray) -> int | None:
    """A row well short of p (`x_i . p < |p|^2 / 2`), or None when all rows provably have `x_i . p >
    0`.

    Half way is far enough: the margin of p is then within a factor 2 of the best."""
    exact = corral.exact
    p = floats(corral.point)
    # The largest coordinate of p, in units of the scaled rows.
    size = corral.largest() / (1 << exact.bits)
    wanted = float(p @ p * size) / 2
    open_rows: list[int] = []
    worst = None
    lowest = np.inf
    for first in range(0, len(K), _BLOCK):
        X = K[first : first + _BLOCK] - exact.K[exact.base]
        X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=1, keepdims=True))[1])
        score = X @ p
        score[~others[first : first + _BLOCK]] = np.inf
        error = gamma(K.shape[1] + 8) * np.linalg.norm(X, axis=1) * np.linalg.norm(p) + TINY
        highest = score + error
        i = int(np.argmin(highest))
        if highest[i] < min(wanted, lowest):
            worst = first + i
            lowest = highest[i]
        open_rows += (first + np.flatnonzero(score <= error)).tolist()
    if worst is not None:
        return worst
    return _first_behind(corral, open_rows)


def _first_behind(corral: _Corral, rows: list[int]) -> int | None:
    """The first of the rows that p does not separate, exactly."""
    for i in rows:
        x, _ = corral.exact[i]
        if sum(a * b for a, b in zip(x, corral.point, strict=True)) <= 0:
            return i
    return None


def _origin(inside: bool, corral: _Corral, *, S: Sequence[int], free: list[int]) -> Origin:
    """Undo the row scalings and normalise to `sum w = 1`."""
    exact = corral.exact
    weighed = zip(corral.lam, corral.rows, strict=True)
    weights = [fraction_of(x) * 2 ** exact[i][1] for x, i in weighed]
    on_members = [Fraction(0)] * len(S)
    for a, x in zip(free, corral.mu, strict=True):
        on_members[a] = fraction_of(x) * 2 ** exact[S[a]][1]
    total = sum(weights)
    return Origin(
        inside=inside,
        point=tuple(int(v) for v in corral.point),
        rows=tuple(corral.rows),
        weights=tuple(x / total for x in weights),
        free=tuple(x / total for x in on_members),
    )
