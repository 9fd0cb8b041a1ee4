"""One set S against all other keys, on a working set. Each round a query that beats the working set
is tried on all n keys; the worst violators join, until the query wins everywhere or the working set
surrounds S.

    x_i = k_i - k_0 (i outside S),   e_a = k_a - k_0 (a in S)
    wanted:  e_a . q = 0  and  x_i . q < 0  for all i.

Scores of many pursuits are one matrix product, so the keys are read once per round and not once per
pursuit. The first working set is drawn from the softmax whose mean is, to first order, k_0: rows
around S if S is inside, in front of it if not. Nothing here concludes from a failure: a pursuit
that gets stuck is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from scipy.linalg import qr

from headwright.design.proofs.float_bounds import certain_margins, gamma, surrounds
from headwright.design.separation.cone import balance
from headwright.design.separation.exact_rows import ExactRows, independent
from headwright.types import Array, Float, Int, Keys, Query

_MOST_ROUNDS = 60
# A row this much shorter after the projection off S lies in the affine hull of S as far as floats
# can tell.
_VANISHED = 1e-10
# A working set starts with 4 (d + _MORE_ROWS) rows and grows by d + _MORE_ROWS.
_MORE_ROWS = 32
# Shares below this part of the largest come from the ridge, not from the geometry.
_NEGLIGIBLE = 1e-6
# Pivots below this part of the largest share are dependent rows.
_DEPENDENT = 1e-9


@dataclass(frozen=True)
class KeyTable:
    """All keys and what every pursuit needs of them: their lengths, the distance from each that
    counts as rounding, and Gumbel noise for drawing working sets."""

    K: Keys
    lengths: Float[Array, "n"]
    rounding: Float[Array, "n"]
    draws: Float[Array, "n"]

    @classmethod
    def of(cls, K: Keys, *, rounding: Float[Array, "n"], seed: int) -> KeyTable:
        draws = np.random.default_rng(seed).gumbel(size=len(K))
        return cls(K, _lengths(K), rounding, draws)


@dataclass
class Pursuit:
    """The state of one set. `status` turns from "open" to "selectable" (see `query`, `margin`), to
    "unselectable" (see `rows`, `weights`: proven by `float_bounds.surrounds`) or to "undecided"
    (see `candidates`)."""

    table: KeyTable
    S: Sequence[int]
    query: Query
    status: str = "open"
    margin: float = float("nan")
    rows: Int[Array, "w"] = field(default_factory=lambda: np.zeros(0, int))
    weights: Float[Array, "w"] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self.base = self.table.K[self.S[0]]
        self.E = _independent(self.table, self.S)
        if len(self.E):
            basis, _ = np.linalg.qr(self.E.T)
            for _ in range(2):  # the second time removes what rounding left
                self.query = self.query - basis @ (basis.T @ self.query)
        self.scale = np.ones(len(self.base))
        # The orthogonal complement of the e's; None stands for the whole space, when S is one key.
        self._complement: np.ndarray | None = None
        self._units = np.zeros((0, len(self.base) - len(self.E)))
        self._sizes = np.zeros(0)
        self._shares = np.zeros(0)
        self._state: np.ndarray | None = None

    def observe(self, scores: Float[Array, "n"]) -> None:
        """One round: `scores = K @ query`. Ends with a verdict or with a better query."""
        margins = self._margins(scores)
        self.margin = float(margins.min())
        clear = margins - self._noise()
        if clear.min() > 0:
            self.status = "selectable"
            return
        new = self._violators(clear) if len(self.rows) else self._first(scores)
        if len(new) and self._extend(new):
            self._solve()
        else:
            self.status = "undecided"

    def _margins(self, scores: np.ndarray) -> np.ndarray:
        """Lower bounds on `(k_0 - k_i) . q`, for the exactly projected q; infinite on S."""
        K = self.table.K
        size = np.linalg.norm(self.query)
        tilt = _tilt(self.E, self.query)
        reach = self.table.lengths + self.table.lengths[self.S[0]]
        gap = scores[self.S[0]] - scores
        margins = gap - (2 * gamma(K.shape[1] + 4) * size + tilt) * reach
        margins[list(self.S)] = np.inf

        # The rough bound grows with the keys; where it fails, the bound on differences may still
        # hold.
        short = margins <= self._noise()
        close = np.flatnonzero(short & (gap > 0))
        lost = (short & (gap <= 0)).any()
        if len(close) and not lost:
            distances = np.linalg.norm(K[close] - self.base, axis=1)
            margins[close] = certain_margins(K[close], self.base, self.query) - tilt * distances
        return margins

    def _noise(self) -> Float[Array, "n"]:
        """Margins that are rounding and not geometry, over each key."""
        rounding = self.table.rounding
        return np.linalg.norm(self.query) * np.maximum(rounding, rounding[list(self.S)].max())

    def _first(self, scores: np.ndarray) -> np.ndarray:
        # Gumbel-top-k draws from softmax(tau z) without replacement; tau = (z_0 - mean z) / var z
        # makes its mean z_0.
        n, d = self.table.K.shape
        tau = (scores[self.S[0]] - scores.mean()) / max(scores.var(), np.finfo(float).tiny)
        priority = tau * scores + self.table.draws
        priority[list(self.S)] = -np.inf
        return _largest(priority, min(4 * (d + _MORE_ROWS), n - len(self.S)))

    def _violators(self, clear: np.ndarray) -> np.ndarray:
        clear[self.rows] = np.inf
        losing = np.flatnonzero(clear <= 0)
        worst = _largest(-clear[losing], len(self.base) + _MORE_ROWS)
        return losing[worst]

    def _extend(self, new: np.ndarray) -> bool:
        """Put rows into the working set; False when one of them cannot be told from the affine hull
        of S, which is then the only one kept."""
        X = self.table.K[new] - self.base
        if not len(self.rows):
            self._fix_frame(X)
        X *= self.scale
        before = _lengths(X)
        after = before
        if self._complement is not None:
            X = X @ self._complement
            after = _lengths(X)
        vanished = np.flatnonzero(after <= _VANISHED * before)
        if len(vanished):
            first = vanished[:1]
            self.rows = new[first]
            self._units = X[first]
            self._sizes = np.ones(1)
            self._shares = np.ones(1)
            return False

        X /= after[:, None]
        self._units = np.vstack([self._units, X]) if len(self.rows) else X
        self.rows = np.concatenate([self.rows, new])
        self._sizes = np.concatenate([self._sizes, after])
        return True

    def _fix_frame(self, X: np.ndarray) -> None:
        # Powers of two: exact, and no coordinate counts less for being small.
        rows = np.vstack([X, self.E]) if len(self.E) else X
        largest = np.maximum(rows.max(axis=0), -rows.min(axis=0))
        self.scale = np.ldexp(1.0, -np.frexp(np.where(largest > 0, largest, 1.0))[1])
        if len(self.E):
            basis, _ = np.linalg.qr((self.E * self.scale).T, mode="complete")
            self._complement = basis[:, len(self.E) :]

    def _solve(self) -> None:
        found = balance(self._units, self._state)
        self._shares = found.shares
        self._state = found.state
        if found.direction is not None:
            # The working set is beaten: a new query, back in the coordinates of the keys.
            y = found.direction if self._complement is None else self._complement @ found.direction
            self.query = y / np.linalg.norm(y) * self.scale
        elif found.surrounded and self._proven():
            self.status = "unselectable"
        else:
            self.status = "undecided"

    def _proven(self) -> bool:
        """Do the shares of the working set stand for an exact combination? Then keep it as `rows`,
        `weights`."""
        used = self._shares > 0
        self.rows = self.rows[used]
        self._units = self._units[used]
        self._sizes = self._sizes[used]
        self._shares = self._shares[used]
        X = (self.table.K[self.rows] - self.base) * self.scale
        lengths = _lengths(X)

        # Shares belong to unit vectors along P x_i; the proof speaks of unit vectors along x_i, the
        # weights of x_i.
        self.weights = self._shares / self._sizes
        lam = self.weights * lengths
        self.weights /= self.weights.sum()
        E = self.E * self.scale
        free = E / np.linalg.norm(E, axis=1)[:, None]
        return surrounds(X / lengths[:, None], lam / lam.sum(), free)

    def candidates(self) -> tuple[list[int], list[float]]:
        """Affinely independent rows that carried weight last, the heavy ones first: where exact
        work begins."""
        used = np.flatnonzero(self._shares > _NEGLIGIBLE * self._shares.max(initial=0.0))
        if len(used) == 0:
            return [], []
        units = self._units[used]
        share = self._shares[used]
        lifted = np.hstack([units, np.ones((len(units), 1))]) * share[:, None]
        kept = _leading_pivots(lifted, _DEPENDENT * share.max())
        rows = self.rows[used][kept]
        return [int(i) for i in rows], [float(x) for x in share[kept]]


def pursue(pursuits: Iterable[Pursuit], *, block: int = 1) -> Iterator[Pursuit]:
    """Run each to its end and hand it back, `block` at a time: one product with the keys serves a
    whole block."""
    waiting = iter(pursuits)
    active: list[Pursuit] = []
    rounds: dict[int, int] = {}
    while True:
        active += islice(waiting, block - len(active))
        if not active:
            return
        scores = np.stack([p.query for p in active]) @ active[0].table.K.T
        for row, p in zip(scores, active, strict=True):
            p.observe(row)
            rounds[id(p)] = rounds.get(id(p), 0) + 1
            if p.status == "open" and rounds[id(p)] >= _MOST_ROUNDS:
                p.status = "undecided"
            if p.status != "open":
                del rounds[id(p)]
                yield p
        active = [p for p in active if p.status == "open"]


def _lengths(X: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("nd,nd->n", X, X))


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    if count >= len(values):
        return np.arange(len(values))
    return np.argpartition(-values, count)[:count]


def _independent(table: KeyTable, S: Sequence[int]) -> np.ndarray:
    """`k_a - k_0` for a largest affinely independent part of S: up to rounding, or exactly if
    nothing counts as rounding."""
    E = table.K[list(S[1:])] - table.K[S[0]]
    if len(E) == 0:
        return E
    rounding = table.rounding[list(S)].max()
    if rounding == 0:
        exact = ExactRows(table.K[list(S)], 0)
        differences = [exact[a][0] for a in range(1, len(S))]
        return E[independent(differences)]
    return E[np.sort(_leading_pivots(E, rounding))]


def _leading_pivots(rows: np.ndarray, smallest: float) -> np.ndarray:
    """Positions of independent rows: those whose pivots are above `smallest`, largest first."""
    R, order = qr(rows.T, mode="r", pivoting=True)  # pyright: ignore[reportAssignmentType]
    rank = int((np.abs(np.diag(R)) > smallest).sum())
    return order[:rank]


def _tilt(E: np.ndarray, q: np.ndarray) -> float:
    """How far the computed q is from the nearest one with exactly equal scores on S: |E^+ E q|,
    bounded above."""
    if len(E) == 0:
        return 0.0
    lengths = np.linalg.norm(E, axis=1)
    U = E / lengths[:, None]
    d = E.shape[1]
    sigma = np.linalg.svd(U, compute_uv=False)[-1] * (1 - 1e-6) - gamma(4 * d) * len(E)
    if sigma <= 0:
        return float("inf")
    rounding = gamma(d + 4) * np.sqrt(len(E)) * np.linalg.norm(q)
    computed = np.linalg.norm(U @ q) + rounding
    return float(computed / sigma)
