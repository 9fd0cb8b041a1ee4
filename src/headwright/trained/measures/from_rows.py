"""What a head does, in numbers: each measure is one line over the rows' statistics, averaged over
the real rows.

With Z = sum e^(z - z_max) = 1 + leak, all come from what `rows.stream` kept, and none needs the
weights again. The sharpness of a row is the beta with which the closed form for orthonormal keys
gives the same leak, so that a trained head is measured with the ruler of the exercise.

A learned sink is one more place for the weight to go, so that every row stays a distribution:
entropy and leak count it, and it is a rival of the top key. Top key, margin and copy are about keys
that have values; the sink is none of these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat as compat

from headwright.trained.heads import Heads
from headwright.trained.rows.result import Rows
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array

# The leak at which a head is said to copy: one tenth of the weight elsewhere.
LEAK = 0.1


@dataclass(frozen=True)
class LayerRows:
    """One layer on one text, with the numbers that several measures share. Arrays are (h, t)."""

    heads: Heads
    tokens: Tokens
    rows: Rows

    @cached_property
    def xp(self) -> Any:
        return compat.array_namespace(self.rows.leak)

    @cached_property
    def total(self) -> Array:
        return 1.0 + self.rows.leak

    @cached_property
    def entropy(self) -> Array:
        # H = -sum p ln p = ln Z - sum p (z - z_max)
        return self.xp.log1p(self.rows.leak) - self.rows.shifted

    @cached_property
    def effective_keys(self) -> Array:
        return self.xp.exp(self.entropy)

    @cached_property
    def real(self) -> Array:
        """Rows of tokens, not of padding."""
        real = self.tokens.beside("real_queries", self.rows.leak)
        return self.xp.broadcast_to(real[None, :], self.rows.leak.shape)

    @cached_property
    def contested(self) -> Array:
        """Real rows that see two keys or more."""
        return self.real & (self.rows.seen >= 2)

    @cached_property
    def rivals(self) -> Array:
        """Keys beside the top one, and the sink; at least 1 so that its logarithm exists."""
        seen = self.rows.seen
        rivals = self.xp.astype(seen - 1, self.rows.leak.dtype)
        rivals = self.xp.where(seen >= 2, rivals, 1.0)
        if self.rows.sink is not None:
            rivals = rivals + 1.0
        return self.xp.broadcast_to(rivals, self.rows.leak.shape)

    @cached_property
    def heaviest(self) -> Array:
        """The largest weight of all, be it the top key's or the sink's."""
        largest = 1.0 / self.total
        sink = self.rows.sink
        return largest if sink is None else self.xp.maximum(largest, sink)


def _sharpness(layer: LayerRows) -> Array:
    # e^beta / (n - 1 + e^beta) = p_max  <=>  beta = ln((n - 1) p_max / (1 - p_max))
    #                                              = ln((n - 1) / leak)
    xp = layer.xp
    leak = layer.rows.leak
    floor = xp.finfo(leak.dtype).smallest_normal
    return xp.log(layer.rivals / xp.where(leak > floor, leak, floor))


def _needed(layer: LayerRows) -> Array:
    # The closed form again, for a leak of LEAK: beta >= ln((n - 1)(1 - eps) / eps)
    return layer.xp.log(layer.rivals * ((1.0 - LEAK) / LEAK))


@dataclass(frozen=True)
class Measure:
    """`value(layer)` is averaged over the rows named by `among`: "real" or "contested"."""

    name: str
    title: str
    meaning: str
    value: Callable[[LayerRows], Array]
    among: str = "real"


ROW_MEASURES = (
    Measure("entropy", "entropy", "of the weights, in nats", lambda x: x.entropy),
    Measure(
        "effective_keys",
        "effective keys",
        "e^entropy: as many equal weights",
        lambda x: x.effective_keys,
    ),
    Measure("largest", "largest weight", "weight of the top key", lambda x: 1.0 / x.total),
    Measure(
        "margin", "margin", "best logit minus the second", lambda x: x.rows.margin, "contested"
    ),
    Measure("first", "first token", "weight on the first token", lambda x: x.rows.first),
    Measure(
        "separators",
        "separators",
        "weight on punctuation and special tokens",
        lambda x: x.rows.separators,
    ),
    Measure(
        "average",
        "average score",
        "1 if the row averages its effective keys equally: 1 / (p_max e^entropy)",
        lambda x: 1.0 / (x.heaviest * x.effective_keys),
    ),
    Measure(
        "sharpness",
        "sharpness",
        "the beta that gives orthonormal keys the same leak",
        _sharpness,
        "contested",
    ),
    Measure(
        "sharpness_needed",
        "needed to copy",
        f"the beta that would leave a leak of {LEAK:g}",
        _needed,
        "contested",
    ),
)

SINK_SHARE = Measure(
    "sink_share",
    "learned sink",
    "weight that goes to no key, but to the head's learned sink",
    lambda x: x.rows.sink,
)


def row_measures(layer: LayerRows) -> tuple[Measure, ...]:
    """Those that this layer has."""
    return ROW_MEASURES if layer.rows.sink is None else (*ROW_MEASURES, SINK_SHARE)


def copy_rows(layer: LayerRows) -> tuple[Array, Array]:
    """Squared distance of each row's output from the top key's value, and of the mean value from
    it.

    With both summed over rows, the copy score is `1 - sqrt(ratio)`: 1 when the output is the top
    value, 0 when it is no nearer to it than the plain mean of all values is.
    """
    xp = layer.xp
    rows = layer.rows
    v = xp.astype(layer.heads.v, rows.leak.dtype, copy=False)
    from_mean = _from_mean(layer, v)
    copied = []
    baseline = []
    for h in range(rows.top.shape[0]):
        g = layer.heads.key_head(h)
        gap = rows.output[h] - xp.take(v[g], rows.top[h], axis=0)
        copied.append(xp.linalg.vector_norm(gap, axis=-1) ** 2)
        baseline.append(xp.take(from_mean[g], rows.top[h], axis=0))
    return xp.stack(copied), xp.stack(baseline)


def _from_mean(layer: LayerRows, v: Array) -> Array:
    """Squared distance of each value from the mean value of its key head: (h/g, n)."""
    xp = layer.xp
    real = xp.astype(layer.tokens.beside("real_keys", v), v.dtype)
    mean = (real @ v)[:, None, :] / xp.sum(real)
    return xp.sum((v - mean) ** 2, axis=-1)


# The measures that are not plain means over rows, and those taken on a sample of rows; for tables
# and reports.
OTHER = {
    "copy": (
        "copy score",
        "1 if the output is the top key's value, 0 if it is as far from it as the mean value",
    ),
    "previous": ("previous token", "weight on the token before"),
    "duplicate": ("duplicate token", "weight on earlier places of the same token"),
    "induction": ("induction", "weight on the places right after earlier places of the same token"),
    "horizon": ("horizon n*", f"keys among which the median margin keeps the leak at {LEAK:g}"),
    "retrieval": (
        "retrieval",
        "share of the tokens of a needle said again whose place in the needle is the top key",
    ),
    "induction_random": (
        "induction, random",
        "weight on what followed the same token, on random tokens repeated",
    ),
    "copying": (
        "OV copying",
        "sum Re(λ) / sum |λ| of the eigenvalues of W_V W_O: 1 copies, -1 writes the opposite",
    ),
    "composition_q": (
        "Q composition",
        "strongest |W_OV W_QK| / (|W_OV| |W_QK|) with an earlier head, less its value at random",
    ),
    "composition_k": ("K composition", "the same, into what the head's keys read"),
    "composition_v": ("V composition", "the same, into what the head's values read"),
    "rotary_slow": (
        "slow rotary pairs",
        "share of the logits' energy in channels that turn less than once over the text",
    ),
    "redundancy": ("redundancy", "cosine with the most similar head of the layer"),
    "noise_gain": (
        "noise gain",
        "relative output error per relative error of the keys, small noise",
    ),
    "worst_case": (
        "worst case",
        "largest relative shift of the output when every logit moves by up to 0.1",
    ),
    "reachable": ("reachable keys", "share of the keys that some query can select"),
}
TITLES = {m.name: (m.title, m.meaning) for m in (*ROW_MEASURES, SINK_SHARE)} | OTHER
