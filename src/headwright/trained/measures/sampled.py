"""Measures too slow for every row, on a few rows of each head, with their standard error.

Rows are drawn with an explicit generator and looked at one by one in double precision on the host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright.attention import weights
from headwright.design.separation.separate import selectable
from headwright.noise import worst_case
from headwright.result import to_numpy
from headwright.trained.heads import Heads
from headwright.trained.rows.tokens import Tokens
from headwright.types import Bool, Float, Int

# Half the side of the logit box of `worst_case`.
BOX = 0.1


@dataclass(frozen=True)
class Row:
    """One query of one head against the keys it sees, in double precision: `z = scale K q + bias`
    before any cap."""

    q: Float[np.ndarray, "d"]
    K: Float[np.ndarray, "n d"]
    V: Float[np.ndarray, "n v"]
    bias: Float[np.ndarray, "n"]
    scale: float
    softcap: float | None
    seen: Int[np.ndarray, "n"]  # the keys' places among those of the sample
    sink: float | None = None  # a further logit, which has no key and no value
    bias_reads_keys: bool = False

    def logits(self, K: Any = None) -> Float[np.ndarray, "n"]:
        keys = self.K if K is None else K
        return self.capped(self.scale * (keys @ self.q))

    def capped(self, z: Float[np.ndarray, "*draws n"]) -> Float[np.ndarray, "*draws n"]:
        """What the head makes of scaled products: the soft cap, where there is one, and then the
        bias."""
        if self.softcap is not None:
            z = self.softcap * np.tanh(z / self.softcap)
        return z + self.bias

    def slopes(self, z: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
        """How far a logit z moves per move of its scaled product: 1 without a soft cap, and
        1 - tanh^2 behind one."""
        if self.softcap is None:
            return np.ones_like(z)
        return 1.0 - ((z - self.bias) / self.softcap) ** 2

    def weights(self, z: Float[np.ndarray, "*draws n"]) -> Float[np.ndarray, "*draws n"]:
        """Of the keys with these logits: what the sink leaves them, where there is one."""
        if self.sink is None:
            return weights(z)
        sink = np.full_like(z[..., :1], self.sink)
        whole = np.concatenate([z, sink], axis=-1)
        return weights(whole)[..., :-1]

    def with_sink_as_key(self) -> Row:
        """The same row with its sink among the keys: a key of zeros, whose logit is its bias."""
        if self.sink is None:
            return self
        return replace(
            self,
            K=np.pad(self.K, ((0, 1), (0, 0))),
            V=np.pad(self.V, ((0, 1), (0, 0))),
            bias=np.append(self.bias, self.sink),
            seen=np.append(self.seen, -1),  # it has no place among the keys
            sink=None,
        )

    def output(self, K: Any = None) -> Float[np.ndarray, "v"]:
        return self.weights(self.logits(K)) @ self.V


@dataclass(frozen=True)
class Sample:
    """Rows of one layer and text: the same queries for all heads. `places` are those of the real
    keys, not of padding, and `K` and `V` are theirs."""

    heads: Heads
    rows: Int[np.ndarray, "r"]
    places: Int[np.ndarray, "n"]
    K: Float[np.ndarray, "hk n d"]
    V: Float[np.ndarray, "hk n v"]

    @staticmethod
    def draw(heads: Heads, tokens: Tokens, rng: np.random.Generator, *, size: int) -> Sample:
        real = np.flatnonzero(tokens.real_queries)
        # The first rows of a causal text see next to nothing; the second half is what a long text
        # looks like.
        late = real[real.size // 2 :] if heads.causal else real
        # Left in the order of the draw, so that the first few are a random sample too.
        rows = rng.choice(late, size=min(size, late.size), replace=False)
        return Sample.of_rows(heads, tokens, rows)

    @staticmethod
    def of_rows(heads: Heads, tokens: Tokens, rows: Int[np.ndarray, "r"]) -> Sample:
        places = np.flatnonzero(tokens.real_keys)
        K = _double(heads.k)[:, places]
        V = _double(heads.v)[:, places]
        return Sample(heads, rows, places, K, V)

    def logits(self, head: int) -> Float[np.ndarray, "r n"]:
        """The logits of these rows, -inf where a key is hidden."""
        z = np.full((self.rows.size, self.K.shape[1]), -np.inf)
        for i, number in enumerate(self.rows):
            row = self.row(head, int(number))
            z[i, row.seen] = row.logits()
        return z

    def row(self, head: int, i: int) -> Row:
        heads = self.heads
        seen = np.flatnonzero(self._visible(head, i))
        bias = np.zeros(seen.size)
        if heads.bias is not None:
            whole = _double(_of(heads.bias, head)[i])
            bias = whole[self.places[seen]]
        g = heads.key_head(head)
        return Row(
            q=_double(heads.q[head, i]),
            K=self.K[g][seen],
            V=self.V[g][seen],
            bias=bias,
            scale=heads.scale,
            softcap=heads.softcap,
            seen=seen,
            sink=None if heads.sinks is None else float(heads.sinks[head]),
            bias_reads_keys=heads.bias_reads_keys,
        )

    def _visible(self, head: int, i: int) -> Bool[np.ndarray, "n"]:
        visible = np.ones(self.places.size, dtype=bool)
        if self.heads.causal:
            visible = self.places <= i
        if self.heads.mask is not None:
            mask = to_numpy(_of(self.heads.mask, head)[i])
            visible = visible & mask[self.places]
        return visible


def _of(x: Any, head: int) -> Any:
    """A head's part of a mask or bias that may be shared by all heads."""
    return x[head if x.shape[0] > 1 else 0]


def _double(x: Any) -> np.ndarray:
    """On the host in double precision; half-precision formats that NumPy does not know pass through
    single."""
    return to_numpy(x.float() if hasattr(x, "float") else x).astype(float)


def noise_gain(row: Row) -> float:
    """Relative output error per relative key error, for small independent noise on every key
    coordinate.

    c moves by sum_i a_i (v_i - c) dz_i, so that E|dc|^2 = sum_i a_i^2 |v_i - c|^2 Var z_i, and
    noise of size t |k| / sqrt(d) per coordinate gives Var z = (t scale |q| |k|)^2 / d. NaN where
    the noise would move the bias too.
    """
    if row.bias_reads_keys:
        return np.nan
    z = row.logits()
    a = row.weights(z)
    c = a @ row.V
    spread = np.sum((row.V - c) ** 2, axis=1)
    moved = np.sqrt(np.sum((a * row.slopes(z)) ** 2 * spread))
    key = np.sqrt(np.mean(np.sum(row.K**2, axis=1)) / row.K.shape[1])
    size = max(np.linalg.norm(c), np.finfo(float).tiny)
    return float(row.scale * np.linalg.norm(row.q) * key * moved / size)


def worst_shift(row: Row) -> float:
    """The furthest the output goes along its own direction while every logit stays within BOX,
    relative to it."""
    z = row.logits()
    c = row.output()
    size = float(np.linalg.norm(c))
    if size == 0.0:
        return 0.0
    along = row.V @ c / size
    low = z - BOX
    high = z + BOX
    if row.sink is not None:  # a learned number, which stays as it is
        low = np.append(low, row.sink)
        high = np.append(high, row.sink)
        along = np.append(along, 0.0)
    bounds = worst_case(low, high, along)
    up = float(bounds.high) - size
    down = size - float(bounds.low)
    return max(up, down) / size


ROW_SAMPLED = {"noise_gain": noise_gain, "worst_case": worst_shift}


def reachable(K: Float[np.ndarray, "n d"], tested: Int[np.ndarray, "r"]) -> Float[np.ndarray, "r"]:
    """1 for each tested key that some query can select among all keys, 0 for those that none can;
    an undecided key (numerically on the boundary) is left out as NaN."""
    share = {"selectable": 1.0, "unselectable": 0.0}
    found = [selectable(K, (int(j),), exact=False) for j in tested]
    return np.asarray([share.get(one.status, np.nan) for one in found])


def mean_and_error(values: Float[np.ndarray, "... r"]) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the last axis and its standard error, leaving out NaN; NaN where nothing is
    left."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    divisor = np.maximum(count, 1)

    total = np.where(known, values, 0.0).sum(axis=-1)
    mean = np.where(count, total / divisor, np.nan)

    off = np.where(known, values - mean[..., None], 0.0)
    variance = (off**2).sum(axis=-1) / np.maximum(count - 1, 1)
    error = np.where(count > 1, np.sqrt(variance / divisor), np.nan)
    return mean, error
