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
from headwright.types import Float, Int

# Shares of the coordinates tried in turn; below 64 coordinates a prefix saves nothing.
_PREFIXES = (1 / 6, 1 / 4, 1 / 2)
_NARROW = 64
_RIDGE = 1e-3  # of the mean variance, in the whitening
# A round of reflections must settle this share of what it was given.
_PAYS, _MOST_ROUNDS = 0.03, 16
_UNIT32 = 2.0**-24


@dataclass(frozen=True)
class Frame:
    """Principal axes of the keys: `mean`, `axes` (columns, largest variance first), `variances`."""

    mean: Float[np.ndarray, "d"]
    axes: Float[np.ndarray, "d d"]
    variances: Float[np.ndarray, "d"]

    @classmethod
    def of(cls, mean: Float[np.ndarray, "d"], C: Float[np.ndarray, "d d"]) -> Frame:
        variances, axes = np.linalg.eigh(C)
        return cls(mean, np.ascontiguousarray(axes[:, ::-1]), np.maximum(variances[::-1], 0.0))

    @property
    def shrink(self) -> Float[np.ndarray, "d"]:
        """`(variance + ridge)^-1/2`, which whitens principal coordinates."""
        ridge = _RIDGE * self.variances.mean() + np.finfo(float).tiny
        return 1.0 / np.sqrt(self.variances + ridge)

    def whitened_query(self, k: Float[np.ndarray, "d"]) -> Float[np.ndarray, "d"]:
        return self.axes @ (((k - self.mean) @ self.axes) * self.shrink**2)

    def query(self, y: Float[np.ndarray, "d"]) -> Float[np.ndarray, "d"]:
        """The query on keys whose scores on whitened principal coordinates are those of y."""
        return self.axes @ (y * self.shrink)


class Screen:
    """Principal coordinates of all keys in float32, longest key first, and the screens on them."""

    def __init__(self, K: Float[np.ndarray, "n d"], frame: Frame) -> None:
        n, d = K.shape
        lengths = np.concatenate(
            [np.linalg.norm(K[part] - frame.mean, axis=1) for part in blocks(n)]
        )
        self.frame, self.order = frame, np.argsort(-lengths, kind="stable")
        self.lengths = lengths[self.order]
        # float32 holds numbers of size one best: scale the longest key to length one.
        self.unit = max(float(self.lengths[0]), np.finfo(float).tiny)
        self.W = np.empty((n, d), np.float32)
        for part in blocks(n):
            self.W[part] = ((K[self.order[part]] - frame.mean) / self.unit) @ frame.axes
        # Queries per product, so that two blocks of scores stay below half the memory of the keys.
        self.queries = int(np.clip(n * d // 8192, 64, 512))
        # One product errs by gamma_d in float32, the coordinates by one unit each, the rotation by
        # a float64 gamma.
        self.error = 1.01 * ((d + 6) * _UNIT32 + 8 * gamma(d + 10))

    def self_test(self) -> Int[np.ndarray, "left"]:
        """Keys that the self test leaves open, as positions in `order`."""
        n, d = self.W.shape
        left = np.arange(n)
        widths = [round(share * d) for share in _PREFIXES] if d >= _NARROW else []
        for width in [*widths, d]:
            tail = self.W[:, width:]
            # rounded up, so that the product is an upper bound
            tails = np.sqrt(np.einsum("nd,nd->n", tail, tail, dtype=float)) * (1 + 1e-6)
            P = (
                self.W
                if width == d
                else np.hstack([self.W[:, :width], tails.astype(np.float32)[:, None]])
            )
            left = left[~self._longest_along_itself(P, left)]
        return left

    def _longest_along_itself(self, P: np.ndarray, left: np.ndarray) -> np.ndarray:
        lengths, wins = self.lengths / self.unit, np.zeros(len(left), bool)
        for first in range(0, len(left), self.queries):
            # Positions in left, until they lose
            alive = np.arange(first, min(first + self.queries, len(left)))
            own = lengths[left[alive]] ** 2 * (1 - self.error)
            # keys shorter than every own / |w_j| cannot reach; lengths fall with the position
            shortest = (own / np.maximum(lengths[left[alive]], 1e-300)).min()
            for part in blocks(int(np.searchsorted(-lengths, -shortest, side="right"))):
                j = left[alive]
                scores = P[part] @ P[j].T
                here = (j >= part.start) & (j < part.stop)
                scores[j[here] - part.start, here] = -np.inf
                ahead = scores.max(axis=0) + self.error * lengths[part.start] * lengths[j] < own
                alive, own = alive[ahead], own[ahead]
                if len(alive) == 0:
                    break
            wins[alive] = True
        return wins

    def reflections(self, left: Int[np.ndarray, "left"]) -> dict[int, Float[np.ndarray, "d"]]:
        """Winning queries (for `Frame.query`) of some of the keys in `left`, by position. Whitens
        `W` in place."""
        self.W *= np.float32(self.frame.shrink * self.unit)
        tallest = np.array([_lengths(self.W[part]).max() for part in blocks(len(self.W))])
        won: dict[int, np.ndarray] = {}
        Y = self.W[left]
        for _ in range(_MOST_ROUNDS):
            if len(left) == 0:
                break
            ahead, worst = self._against_all(Y, left, tallest)
            wins = ahead > 0
            won |= {int(j): y.astype(float) for j, y in zip(left[wins], Y[wins], strict=True)}
            left, Y, X = left[~wins], Y[~wins], (self.W[worst] - self.W[left])[~wins]
            if wins.sum() < _PAYS * len(wins):
                break
            # mirror at the hyperplane x . y = 0 of the worst key
            turn = 2 * np.einsum("ld,ld->l", X, Y) / np.maximum(np.einsum("ld,ld->l", X, X), 1e-30)
            Y = Y - turn[:, None] * X
        return won

    def _against_all(
        self, Y: np.ndarray, left: np.ndarray, tallest: np.ndarray
    ) -> tuple[Float[np.ndarray, "left"], Int[np.ndarray, "left"]]:
        """How far each query puts its key ahead of all others, at least; and the key that comes
        closest."""
        ahead, worst = np.full(len(left), np.inf), np.zeros(len(left), int)
        for first in range(0, len(left), self.queries):
            j, y = left[first : first + self.queries], Y[first : first + self.queries]
            own = np.einsum("ld,ld->l", self.W[j], y, dtype=float)
            sizes, best = _lengths(y), np.full(len(j), -np.inf)
            slack, row = self.error * sizes, np.arange(len(j))
            for number, part in enumerate(blocks(len(self.W))):
                scores = y @ self.W[part].T
                here = (j >= part.start) & (j < part.stop)
                scores[here, j[here] - part.start] = -np.inf
                top = scores.argmax(axis=1)
                bound = scores[row, top] + slack * tallest[number]
                better = bound > best
                best[better], worst[first + row[better]] = bound[better], part.start + top[better]
            ahead[first : first + len(j)] = own - best - slack * _lengths(self.W[j])
        return ahead, worst


def _lengths(W: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n"]:
    return np.sqrt(np.einsum("nd,nd->n", W, W, dtype=float))
