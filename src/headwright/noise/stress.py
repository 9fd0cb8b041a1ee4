"""Everything that noise does to the output of given heads, in one record: what the `stress`
command, its figures and its JSON show. It only asks the engines; nothing is computed here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright import attention, inputs
from headwright.attention import Scores
from headwright.keys import GaussianKeys
from headwright.noise.distribution import WeightDistribution, weight_distribution
from headwright.noise.limit.moments import Winners, winners
from headwright.noise.moments import moments
from headwright.noise.problem import Request
from headwright.noise.record import Moments
from headwright.noise.tail_probability import exceedance
from headwright.noise.worst import logit_boxes, worst_case
from headwright.result import Estimate
from headwright.types import Float, Heads, Mix, Values

# Beyond this many keys the law of a weight, the limit and the counting are left out unless asked
# for: they cost a sample or an integral per key, where the moments do not.
MANY = 20_000
WIDE = 2_000_000  # and beyond this many entries of V the worst case, one search per coordinate
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class NoisyHeads:
    """What is put under stress: heads on random keys. Plain NumPy."""

    queries: Heads
    keys: GaussianKeys
    values: Values
    mix: Mix
    scale: float = 1.0
    bias: Float[np.ndarray, "n"] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """As keywords of `moments` and its kin."""
        return {"mix": self.mix, "scale": self.scale, "bias": self.bias}

    @property
    def request(self) -> Request:
        """As the noise engines take it."""
        scores = Scores(self.scale, self.bias)
        return Request(self.queries, self.keys, self.values, self.mix, scores)


@dataclass(frozen=True)
class WeightLaw:
    """One head's weight on one key: its value without noise, mean, and quantiles."""

    head: int
    key: int
    noiseless: float
    mean: float
    quantiles: dict[float, float]
    error: float
    method: str
    _law: WeightDistribution


@dataclass(frozen=True)
class Stress:
    """`noiseless` is the output without noise, `far` the probability to be further than `tau` from
    `target`, `worst_low` and `worst_high` the range of every coordinate when no logit leaves
    `sigmas` deviations."""

    moments: Moments
    noiseless: Float[np.ndarray, "v"]
    squared_error: float  # E ||c - target||^2
    target: Float[np.ndarray, "v"]
    tau: float
    far: Estimate | None
    limit: Winners | None
    weights: tuple[WeightLaw, ...]
    sigmas: float
    worst_low: Float[np.ndarray, "v"] | None
    worst_high: Float[np.ndarray, "v"] | None


def stress(
    heads: NoisyHeads,
    *,
    method: str = "exact",
    target: Any = None,
    tau: float | None = None,
    sigmas: float = 3.0,
    key: int | None = None,
    **options: Any,
) -> Stress:
    """Put heads under noise. `target` is the output without noise if not given, `tau` a tenth of
    the values' size; `key` is the key whose weight is followed, each head's strongest if not given.
    """
    Q = heads.queries
    V = heads.values
    found = moments(Q, heads.keys, V, method=method, **heads.options, **options)
    calm = attention.multihead(Q, heads.keys.means, V, **heads.options)
    if target is None:
        target = calm.output
    else:
        target = inputs.shape("target", np.asarray(target, dtype=float), V.shape[1])
    tau = _tenth(V) if tau is None else inputs.number("tau", tau, low=0.0)

    few = len(heads.keys) <= MANY
    far = exceedance(Q, heads.keys, V, target, tau, **heads.options) if few else None
    limit = None
    if few or method == "limit":
        limit = winners(Q, heads.keys, scale=heads.scale, bias=heads.bias)
    low, high = _range(heads, sigmas) if V.size <= WIDE else (None, None)
    bias_squared = ((found.mean - target) ** 2).sum()
    squared_error = bias_squared + np.trace(found.covariance)
    return Stress(
        moments=found,
        noiseless=calm.output,
        squared_error=float(squared_error),
        target=target,
        tau=tau,
        far=far,
        limit=limit,
        weights=_weights(heads, calm.weights, key) if few or key is not None else (),
        sigmas=sigmas,
        worst_low=low,
        worst_high=high,
    )


def _tenth(V: Values) -> float:
    """Of the values' size."""
    return 0.1 * float(np.abs(V).max())


def _weights(
    heads: NoisyHeads, calm: Float[np.ndarray, "h n"], key: int | None
) -> tuple[WeightLaw, ...]:
    """The law of each head's weight on `key`, or on the key that is strongest without noise."""
    found = []
    for h, row in enumerate(calm):
        followed = int(row.argmax()) if key is None else inputs.index("key", key, len(row))
        found.append(_weight(heads, h, followed, float(row[followed])))
    return tuple(found)


def _weight(heads: NoisyHeads, h: int, key: int, noiseless: float) -> WeightLaw:
    """The law of one head's weight on one key."""
    q = heads.queries[h]
    scores: dict[str, Any] = {"scale": heads.scale, "bias": heads.bias}
    law = weight_distribution(q, heads.keys, key, **scores)
    marks = law.quantile(np.array(QUANTILES))
    only = (np.arange(len(heads.keys)) == key).astype(float)
    mean = moments(q, heads.keys, only[:, None], **scores).mean
    return WeightLaw(
        head=h,
        key=key,
        noiseless=noiseless,
        mean=float(mean[0]),
        quantiles=dict(zip(QUANTILES, marks.value.tolist(), strict=True)),
        error=marks.error,
        method=law.method,
        _law=law,
    )


def _range(heads: NoisyHeads, sigmas: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on every coordinate of the output: head by head, each in its own box of logits."""
    sigmas = inputs.number("sigmas", sigmas, low=0.0)
    boxes = list(zip(*logit_boxes(heads.request.problem(), sigmas), strict=True))
    low = []
    high = []
    for v in heads.values.T:
        ends = [worst_case(lowest, highest, v) for lowest, highest in boxes]
        either = np.array([[float(end.low), float(end.high)] for end in ends])
        sides = np.asarray(heads.mix)[:, None] * either
        low.append(sides.min(axis=1).sum())
        high.append(sides.max(axis=1).sum())
    return np.array(low), np.array(high)
