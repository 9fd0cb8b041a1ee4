"""One set S against all other keys, on a working set. Each round a query that beats the working set
is tried on all n keys; the worst violators join, until the query wins everywhere or the working set
surrounds S.

    x_i = k_i - k_0 (i outside S),   e_a = k_a - k_0 (a in S),   wanted:  e_a . q = 0  and  x_i . q < 0  for all i.

Scores of many pursuits are one matrix product, so the keys are read once per round and not once per
pursuit. The first working set is drawn from the softmax whose mean is, to first order, k_0: rows
around S if S is inside, in front of it if not. Nothing here concludes from a failure: a pursuit
that gets stuck is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from itertools import islice

import numpy as np
from scipy.linalg import qr

from headwright.design.proofs.float_bounds import certain_margins, gamma, surrounds
from headwright.design.separation.cone import balance
from headwright.design.separation.rational import ExactRows, independent
from headwright.types import Float, Int

_MOST_ROUNDS = 60
# A row this much shorter after the projection off S lies in the affine hull of S as far as floats
# can tell.
_VANISHED = 1e-10
# A working set starts with 4 (d + _FEW) rows and grows by d + _FEW.
_FEW = 32
# Shares below this part of the largest come from the ridge, not from the geometry.
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Field:
    """All keys and what every pursuit needs of them: their lengths, Gumbel noise for drawing
    working sets, and the share of a key's length below which a distance is rounding."""

    K: Float[np.ndarray, "n d"]
    lengths: Float[np.ndarray, "n"]
    noise: Float[np.ndarray, "n"]
    resolution: float

    @classmethod
    def of(cls, K: Float[np.ndarray, "n d"], *, resolution: float, seed: int) -> Field:
        lengths = np.sqrt(np.einsum("nd,nd->n", K, K))
        return cls(K, lengths, np.random.default_rng(seed).gumbel(size=len(K)), resolution)


@dataclass
class Pursuit:
    """The state of one set. `status` turns from "open" to "selectable" (see `query`, `margin`), to
    "unselectable" (see `rows`, `weights`: proven by `rounding.surrounds`) or to "undecided" (see
    `candidates`)."""

    field: Field
    S: Sequence[int]
    query: Float[np.ndarray, "d"]
    status: str = "open"
    margin: float = float("nan")
    rows: Int[np.ndarray, "w"] = attribute(default_factory=lambda: np.zeros(0, int))
    weights: Float[np.ndarray, "w"] = attribute(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self.base = self.field.K[self.S[0]]
        self.E = _independent(self.field, self.S)
        if len(self.E):
            basis = np.linalg.qr(self.E.T)[0]
            for _ in range(2):  # the second time removes what rounding left
                self.query = self.query - basis @ (basis.T @ self.query)
        self.scale = np.ones(len(self.base))
        # The orthogonal complement of the e's; None stands for the whole space, when S is one key.
        self._complement: np.ndarray | None = None
        self._units = np.zeros((0, len(self.base) - len(self.E)))
        self._sizes = self._shares = np.zeros(0)
        self._state: np.ndarray | None = None

    def observe(self, scores: Float[np.ndarray, "n"]) -> None:
        """One round: `scores = K @ query`. Ends with a verdict or with a better query."""
        margins = self._margins(scores)
        self.margin = float(margins.min())
        if self.margin > 0:
            self.status = "selectable"
            return
        new = self._violators(margins) if len(self.rows) else self._first(scores)
        if len(new) and self._extend(new):
            self._solve()
        else:
            self.status = "undecided"

    def _margins(self, scores: np.ndarray) -> np.ndarray:
        """Lower bounds on `(k_0 - k_i) . q`, for the exactly projected q; infinite on S."""
        K, size = self.field.K, np.linalg.norm(self.query)
        tilt = _tilt(self.E, self.query)
        reach = self.field.lengths + self.field.lengths[self.S[0]]
        gap = scores[self.S[0]] - scores
        margins = gap - (2 * gamma(K.shape[1] + 4) * size + tilt) * reach
        margins[list(self.S)] = np.inf
        # The rough bound grows with the keys; where it fails, the bound on differences may still
        # hold.
        close = np.flatnonzero((margins <= 0) & (gap > 0))
        if len(close) and not ((margins <= 0) & (gap <= 0)).any():
            X = K[close] - self.base
            margins[close] = certain_margins(
                K[close], self.base, self.query
            ) - tilt * np.linalg.norm(X, axis=1)
        return margins

    def _first(self, scores: np.ndarray) -> np.ndarray:
        # Gumbel-top-k draws from softmax(tau z) without replacement; tau = (z_0 - mean z) / var z
        # makes its mean z_0.
        n, d = self.field.K.shape
        tau = (scores[self.S[0]] - scores.mean()) / max(scores.var(), np.finfo(float).tiny)
        priority = tau * scores + self.field.noise
        priority[list(self.S)] = -np.inf
        return _largest(priority, min(4 * (d + _FEW), n - len(self.S)))

    def _violators(self, margins: np.ndarray) -> np.ndarray:
        margins[self.rows] = np.inf
        losing = np.flatnonzero(margins <= 0)
        return losing[_largest(-margins[losing], len(self.base) + _FEW)]

    def _extend(self, new: np.ndarray) -> bool:
        """Put rows into the working set; False when one of them cannot be told from the affine hull
        of S."""
        X = self.field.K[new] - self.base
        if not len(self.rows):
            self._fix_frame(X)
        X *= self.scale
        before = np.linalg.norm(X, axis=1)
        X = X if self._complement is None else X @ self._complement
        after = np.linalg.norm(X, axis=1)
        vanished = np.flatnonzero(after <= _VANISHED * before)
        if len(vanished):
            new, X, after = new[vanished[:1]], X[vanished[:1]], np.ones(1)
            self.rows, self._units, self._sizes, self._shares = new, X, after, after
            return False
        self.rows = np.concatenate([self.rows, new])
        self._units = np.vstack([self._units, X / after[:, None]])
        self._sizes = np.concatenate([self._sizes, after])
        return True

    def _fix_frame(self, X: np.ndarray) -> None:
        # Powers of two: exact, and no coordinate counts less for being small.
        largest = np.abs(np.vstack([X, self.E])).max(axis=0)
        self.scale = np.ldexp(1.0, -np.frexp(np.where(largest > 0, largest, 1.0))[1])
        if len(self.E):
            self._complement = np.linalg.qr((self.E * self.scale).T, mode="complete")[0][
                :, len(self.E) :
            ]

    def _solve(self) -> None:
        found = balance(self._units, self._state)
        self._shares, self._state = found.shares, found.state
        if found.direction is not None:
            # The working set is beaten: a new query, back in the coordinates of the keys.
            y = found.direction if self._complement is None else self._complement @ found.direction
            self.query = y / np.linalg.norm(y) * self.scale
        else:
            self.status = "unselectable" if found.surrounded and self._proven() else "undecided"

    def _proven(self) -> bool:
        """Do the shares of the working set stand for an exact combination? Then keep it as `rows`,
        `weights`."""
        used = self._shares > 0
        self.rows, self._units, self._sizes = self.rows[used], self._units[used], self._sizes[used]
        self._shares = self._shares[used]
        X = (self.field.K[self.rows] - self.base) * self.scale
        lengths = np.linalg.norm(X, axis=1)
        # shares belong to unit vectors along P x_i; the proof speaks of unit vectors along x_i, the
        # weights of x_i
        self.weights = self._shares / self._sizes
        lam = self.weights * lengths
        self.weights /= self.weights.sum()
        E = self.E * self.scale
        return surrounds(
            X / lengths[:, None], lam / lam.sum(), E / np.linalg.norm(E, axis=1)[:, None]
        )

    def candidates(self) -> tuple[list[int], list[float]]:
        """Affinely independent rows that carried weight last, the heavy ones first: where exact
        work begins."""
        used = np.flatnonzero(self._shares > _NEGLIGIBLE * self._shares.max(initial=0.0))
        if len(used) == 0:
            return [], []
        U, share = self._units[used], self._shares[used]
        lifted = np.hstack([U, np.ones((len(U), 1))]) * share[:, None]
        R, order = qr(lifted.T, mode="r", pivoting=True)  # pyright: ignore[reportAssignmentType]
        kept = order[: int((np.abs(np.diag(R)) > 1e-9 * share.max()).sum())]
        return [int(i) for i in self.rows[used][kept]], [float(x) for x in share[kept]]


def pursue(pursuits: Iterable[Pursuit], *, block: int = 1) -> Iterator[Pursuit]:
    """Run each to its end and hand it back, `block` at a time: one product with the keys serves a
    whole block."""
    waiting, active, rounds = iter(pursuits), [], {}
    while True:
        active += islice(waiting, block - len(active))
        if not active:
            return
        scores = np.stack([p.query for p in active]) @ active[0].field.K.T
        for row, p in zip(scores, active, strict=True):
            p.observe(row)
            rounds[id(p)] = rounds.get(id(p), 0) + 1
            if p.status == "open" and rounds[id(p)] >= _MOST_ROUNDS:
                p.status = "undecided"
            if p.status != "open":
                del rounds[id(p)]
                yield p
        active = [p for p in active if p.status == "open"]


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    return (
        np.arange(len(values)) if count >= len(values) else np.argpartition(-values, count)[:count]
    )


def _independent(field: Field, S: Sequence[int]) -> np.ndarray:
    """`k_a - k_0` for a largest affinely independent part of S: up to rounding, or exactly at
    resolution 0."""
    E = field.K[list(S[1:])] - field.K[S[0]]
    if len(E) == 0:
        return E
    if field.resolution == 0:
        exact = ExactRows(field.K[list(S)], 0)
        return E[independent([exact[a][0] for a in range(1, len(S))])]
    R, order = qr(E.T, mode="r", pivoting=True)  # pyright: ignore[reportAssignmentType]
    rounding = field.resolution * field.lengths[list(S)].max()
    return E[np.sort(order[: int((np.abs(np.diag(R)) > rounding).sum())])]


def _tilt(E: np.ndarray, q: np.ndarray) -> float:
    """How far the computed q is from the nearest one with exactly equal scores on S: |E^+ E q|,
    bounded above."""
    if len(E) == 0:
        return 0.0
    lengths = np.linalg.norm(E, axis=1)
    U = E / lengths[:, None]
    sigma = np.linalg.svd(U, compute_uv=False)[-1] * (1 - 1e-6) - gamma(4 * E.shape[1]) * len(E)
    if sigma <= 0:
        return float("inf")
    computed = np.linalg.norm(U @ q) + gamma(E.shape[1] + 4) * np.sqrt(len(E)) * np.linalg.norm(q)
    return float(computed / sigma)
