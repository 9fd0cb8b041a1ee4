"""Everything that noise does to the output of given heads, in one record: what the `stress`
command, its figures and its JSON show. It only asks the engines; nothing is computed here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright import attention, inputs
from headwright.keys import GaussianKeys
from headwright.noise.distribution import WeightDistribution, weight_distribution
from headwright.noise.limit.moments import Winners, winners
from headwright.noise.moments import Moments, moments
from headwright.noise.problem import problems
from headwright.noise.tail_probability import exceedance
from headwright.noise.worst import worst_case
from headwright.result import Estimate
from headwright.types import Float, Heads, Mix, Values

# Beyond this many keys the law of a weight, the limit and the counting are left out unless asked
# for: they cost a sample or an integral per key, where the moments do not.
MANY = 20_000
WIDE = 2_000_000  # and beyond this many entries of V the worst case, one search per coordinate
_FURTHEST = 1e300
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Setting:
    """What is put under stress: heads on random keys. Plain NumPy."""

    queries: Heads
    keys: GaussianKeys
    values: Values
    mix: Mix
    scale: float = 1.0
    bias: Float[np.ndarray, "n"] | None = None

    @property
    def options(self) -> dict[str, Any]:
        return {"mix": self.mix, "scale": self.scale, "bias": self.bias}


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
    setting: Setting, *, method: str = "exact", target: Any = None, tau: float | None = None, sigmas: float = 3.0,
    key: int | None = None, **options: Any,
) -> Stress:  # fmt: skip
    """Put heads under noise. `target` is the output without noise if not given, `tau` a tenth of
    the values' size; `key` is the key whose weight is followed, each head's strongest if not given.
    """
    Q, V = setting.queries, setting.values
    found = moments(Q, setting.keys, V, method=method, **setting.options, **options)
    calm = attention.multihead(Q, setting.keys.means, V, **setting.options)
    target = (
        calm.output
        if target is None
        else inputs.shape("target", np.asarray(target, dtype=float), V.shape[1])
    )
    tau = 0.1 * float(np.abs(V).max()) if tau is None else inputs.number("tau", tau, low=0.0)
    few = len(setting.keys) <= MANY
    far = exceedance(Q, setting.keys, V, target, tau, **setting.options) if few else None
    limit = (
        winners(Q, setting.keys, scale=setting.scale, bias=setting.bias)
        if few or method == "limit"
        else None
    )
    low, high = _range(setting, sigmas) if V.size <= WIDE else (None, None)
    return Stress(
        moments=found,
        noiseless=calm.output,
        squared_error=float(((found.mean - target) ** 2).sum() + np.trace(found.covariance)),
        target=target,
        tau=tau,
        far=far,
        limit=limit,
        weights=_weights(setting, calm.weights, key) if few or key is not None else (),
        sigmas=sigmas,
        worst_low=low,
        worst_high=high,
    )


def _weights(
    setting: Setting, calm: Float[np.ndarray, "h n"], key: int | None
) -> tuple[WeightLaw, ...]:
    """The law of each head's weight on `key`, or on the key that is strongest without noise."""
    n = calm.shape[1]
    followed = [int(row.argmax()) if key is None else inputs.index("key", key, n) for row in calm]
    found = []
    for h, (q, a) in enumerate(zip(setting.queries, followed, strict=True)):
        law = weight_distribution(q, setting.keys, a, scale=setting.scale, bias=setting.bias)
        marks = law.quantile(np.array(QUANTILES))
        only = (np.arange(n) == a).astype(float)[:, None]
        mean = moments(q, setting.keys, only, scale=setting.scale, bias=setting.bias)
        quantiles = dict(zip(QUANTILES, marks.value.tolist(), strict=True))
        noiseless, average = float(calm[h, a]), float(mean.mean[0])
        found.append(WeightLaw(h, a, noiseless, average, quantiles, marks.error, law.method, law))
    return tuple(found)


def _range(setting: Setting, sigmas: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on every coordinate of the output: head by head, each in its own box of logits. What
    all logits of a head have in common is taken off first, and a box is wider by what rounding may
    have moved its logit."""
    sigmas = inputs.number("sigmas", sigmas, low=0.0)
    extras = {"bias": setting.bias, "mask": None, "value_noise": None}
    (problem,) = problems(
        setting.queries,
        setting.keys,
        setting.values,
        mix=setting.mix,
        scale=setting.scale,
        extras=extras,
    )
    law = problem.law
    rounding = np.stack([law.cross_error(h, h) for h in range(problem.heads)])
    reach = sigmas * np.sqrt(law.variances + rounding) + law.means_error
    # A key further below the others than a double can say is as far below as a double can.
    means = np.maximum(law.means, -_FURTHEST)
    V, low, high = setting.values, [], []
    for v in V.T:
        ends = [worst_case(m - r, m + r, v) for m, r in zip(means, reach, strict=True)]
        sides = np.array(
            [[w * float(e.low), w * float(e.high)] for w, e in zip(setting.mix, ends, strict=True)]
        )
        low.append(sides.min(axis=1).sum())
        high.append(sides.max(axis=1).sum())
    return np.array(low), np.array(high)
