"""Most keys win with a query that costs nothing to find. Two screens of plain matrix products
settle them, in float32 and accepted only above its error bound; what they leave is for `pursuit`.

Self test: the query k_j - mean wins if `w_i . w_j < w_j . w_j` for all i, with w the centred keys.
Cauchy-Schwarz saves most of the n^2 d work, twice: a shorter key cannot beat a longer one, so only
longer keys are compared; and in principal coordinates a prefix of p numbers decides when `w_i[:p] .
w_j[:p] + |w_i[p:]| |w_j[p:]| < |w_j|^2`. The tail lengths are one more coordinate of the product.

Reflections: start from the whitened query `(C + s I)^-1 (k_j - mean)`; while some key beats k_j,
mirror the query at the hyperplane of the worst one (the relaxation method for inequalities), all
keys at once, while it pays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.design.proofs.float_bounds import gamma
from headwright.design.separation.hull import blocks
from headwright.types import Array, Bool, Float, Int, Keys, Query

# Shares of the coordinates tried in turn; below 64 coordinates a prefix saves nothing.
_PREFIXES = (1 / 6, 1 / 4, 1 / 2)
_NARROW = 64
_RIDGE = 1e-3  # of the mean variance, in the whitening
# A round of reflections must settle this share of what it was given.
_PAYS = 0.03
_MOST_ROUNDS = 16
_UNIT32 = 2.0**-24

Positions = Int[Array, "left"]


@dataclass(frozen=True)
class PrincipalAxes:
    """Of the keys: `mean`, `directions` (columns, largest variance first), `variances`."""

    mean: Query
    directions: Float[Array, "d d"]
    variances: Float[Array, "d"]

    @classmethod
    def of(cls, mean: Query, C: Float[Array, "d d"]) -> PrincipalAxes:
        variances, axes = np.linalg.eigh(C)
        largest_first = np.ascontiguousarray(axes[:, ::-1])
        return cls(mean, largest_first, np.maximum(variances[::-1], 0.0))

    @property
    def shrink(self) -> Float[Array, "d"]:
        """`(variance + ridge)^-1/2`, which whitens principal coordinates."""
        ridge = _RIDGE * self.variances.mean() + np.finfo(float).tiny
        return 1.0 / np.sqrt(self.variances + ridge)

    def whitened_query(self, k: Query) -> Query:
        coordinates = (k - self.mean) @ self.directions
        return self.directions @ (coordinates * self.shrink**2)

    def query(self, y: Query) -> Query:
        """The query on keys whose scores on whitened principal coordinates are those of y."""
        return self.directions @ (y * self.shrink)


class Screen:
    """Principal coordinates of all keys in float32, longest key first, and the screens on them."""

    def __init__(self, K: Keys, axes: PrincipalAxes, *, noise: float) -> None:
        """A query has to win by more than `noise` times its length."""
        n, d = K.shape
        lengths = [np.linalg.norm(K[part] - axes.mean, axis=1) for part in blocks(n)]
        lengths = np.concatenate(lengths)
        self.axes = axes
        self.order = np.argsort(-lengths, kind="stable")
        self.lengths = lengths[self.order]
        # float32 holds numbers of size one best: scale the longest key to length one.
        self.unit = max(float(self.lengths[0]), np.finfo(float).tiny)
        self.noise = noise
        self.W = np.empty((n, d), np.float32)
        for part in blocks(n):
            centred = K[self.order[part]] - axes.mean
            self.W[part] = (centred / self.unit) @ axes.directions
        # Queries per product, so that two blocks of scores stay below half the memory of the keys.
        self.queries = int(np.clip(n * d // 8192, 64, 512))
        # One product errs by gamma_d in float32, the coordinates by one unit each, the rotation by
        # a float64 gamma.
        self.error = 1.01 * ((d + 6) * _UNIT32 + 8 * gamma(d + 10))

    def self_test(self, keys: Bool[Array, "n"]) -> Positions:
        """Which of these keys the self test leaves open, as positions in `order`."""
        d = self.W.shape[1]
        left = np.flatnonzero(keys[self.order])
        widths = [round(share * d) for share in _PREFIXES] if d >= _NARROW else []
        for width in [*widths, d]:
            P = self.W if width == d else self._prefix(width)
            wins = self._longest_along_itself(P, left)
            left = left[~wins]
        return left

    def _prefix(self, width: int) -> Float[Array, "n p"]:
        """The first coordinates and the length of the rest, rounded up: products are upper
        bounds."""
        tails = _lengths(self.W[:, width:]) * (1 + 1e-6)
        return np.hstack([self.W[:, :width], tails.astype(np.float32)[:, None]])

    def _longest_along_itself(self, P: np.ndarray, left: np.ndarray) -> np.ndarray:
        lengths = self.lengths / self.unit
        wins = np.zeros(len(left), bool)
        for first in range(0, len(left), self.queries):
            # Positions in left, until they lose
            alive = np.arange(first, min(first + self.queries, len(left)))
            own_lengths = lengths[left[alive]]
            own = own_lengths * (own_lengths * (1 - self.error) - self.noise / self.unit)
            # keys shorter than every own / |w_j| cannot reach; lengths fall with the position
            shortest = (own / np.maximum(own_lengths, 1e-300)).min()
            longer = int(np.searchsorted(-lengths, -shortest, side="right"))
            for part in blocks(longer):
                j = left[alive]
                scores = P[part] @ P[j].T
                here = (j >= part.start) & (j < part.stop)
                scores[j[here] - part.start, here] = -np.inf
                slack = self.error * lengths[part.start] * lengths[j]
                ahead = scores.max(axis=0) + slack < own
                alive = alive[ahead]
                own = own[ahead]
                if len(alive) == 0:
                    break
            wins[alive] = True
        return wins

    def reflections(self, left: Positions) -> dict[int, Query]:
        """Winning queries (for `PrincipalAxes.query`) of some of the keys in `left`, by position.
        Whitens `W` in place."""
        self.W *= np.float32(self.axes.shrink * self.unit)
        tallest = np.array([_lengths(self.W[part]).max() for part in blocks(len(self.W))])
        won: dict[int, np.ndarray] = {}
        Y = self.W[left]
        for _ in range(_MOST_ROUNDS):
            if len(left) == 0:
                break
            ahead, worst = self._against_all(Y, left, tallest)
            wins = ahead > 0
            won |= {int(j): y.astype(float) for j, y in zip(left[wins], Y[wins], strict=True)}
            if wins.sum() < _PAYS * len(wins):
                break
            X = (self.W[worst] - self.W[left])[~wins]
            left = left[~wins]
            Y = _mirrored(Y[~wins], X)
        return won

    def _against_all(
        self, Y: np.ndarray, left: np.ndarray, tallest: np.ndarray
    ) -> tuple[Float[Array, "left"], Positions]:
        """How far each query puts its key ahead of all others, at least; and the key that comes
        closest."""
        ahead = np.full(len(left), np.inf)
        worst = np.zeros(len(left), int)
        for first in range(0, len(left), self.queries):
            part = slice(first, min(first + self.queries, len(left)))
            ahead[part], worst[part] = self._block_against_all(Y[part], left[part], tallest)
        return ahead, worst

    def _block_against_all(
        self, Y: np.ndarray, left: np.ndarray, tallest: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        own = np.einsum("ld,ld->l", self.W[left], Y, dtype=float)
        slack = self.error * _lengths(Y)
        query = np.arange(len(left))
        highest = np.full(len(left), -np.inf)
        worst = np.zeros(len(left), int)
        for number, part in enumerate(blocks(len(self.W))):
            scores = Y @ self.W[part].T
            here = (left >= part.start) & (left < part.stop)
            scores[here, left[here] - part.start] = -np.inf
            top = scores.argmax(axis=1)
            bound = scores[query, top] + slack * tallest[number]
            higher = bound > highest
            highest[higher] = bound[higher]
            worst[higher] = part.start + top[higher]
        needed = slack * _lengths(self.W[left]) + self.noise * _lengths(Y * self.axes.shrink)
        return own - highest - needed, worst


def _mirrored(Y: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Each query at the hyperplane x . y = 0 of its worst key."""
    squares = np.maximum(np.einsum("ld,ld->l", X, X), 1e-30)
    turn = 2 * np.einsum("ld,ld->l", X, Y) / squares
    return Y - turn[:, None] * X


def _lengths(W: Keys) -> Float[Array, "n"]:
    return np.sqrt(np.einsum("nd,nd->n", W, W, dtype=float))
