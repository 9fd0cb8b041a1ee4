"""Random keys in practice: a key cache stored in few bits. How far does each head's output move?

Two routes to one number. Predicted: rounding adds independent noise of variance D^2/12 to every key coordinate, and
the exact moments engine gives E|c~ - c|^2 = |E c~ - c|^2 + trace Cov without running anything. Measured: the keys
are really rounded and the output computed again. Errors are relative to the size of the outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from headwright.attention import weights
from headwright.keys import GaussianKeys, rounded
from headwright.noise import moments
from headwright.trained.sampled import Row, Sample
from headwright.types import Float

PER = ("token", "channel")
# Rows per head and text that the table looks at: the exact engine is the dearest part of an audit.
KEY_ROWS = 2
# Logit noise below which the leading order is the answer: what it leaves out is s^2, one part in a thousand.
_SMALL = 0.03
# Share of the leading order's variance whose keys are treated one by one.
_COVERED = 0.99


@dataclass(frozen=True)
class Errors:
    """Mean squared errors of one layer's heads on one text's sampled rows, and the mean squared size of the outputs.
    First axis: setting (per, bits)."""

    settings: tuple[tuple[str, int], ...]
    predicted: Float[np.ndarray, "s h"]
    measured: Float[np.ndarray, "s h"]
    size: Float[np.ndarray, "h"]


def measured(sample: Sample, rows: list[list[Row]], key_bits: tuple[int, ...]) -> Errors:
    """Both routes for every setting. Keys are rounded as a cache would: all keys of a key head together."""
    settings = tuple((per, int(bits)) for per in PER for bits in key_bits)
    h = len(rows)
    predicted, truly = np.zeros((len(settings), h)), np.zeros((len(settings), h))
    size = np.asarray([np.mean([np.sum(row.output() ** 2) for row in one]) for one in rows])
    for s, (per, bits) in enumerate(settings):
        stored = [rounded(K, bits=bits, per=per) for K in sample.K]
        laws = [GaussianKeys.quantised(K, bits=bits, per=per) for K in sample.K]
        for head, one in enumerate(rows):
            g = sample.heads.key_head(head)
            truly[s, head] = np.mean([_moved(row, stored[g][row.seen]) for row in one])
            predicted[s, head] = np.mean([predict(row, laws[g]) for row in one])
    return Errors(settings, predicted, truly, size)


def _moved(row: Row, K: np.ndarray) -> float:
    return float(np.sum((row.output(K) - row.output()) ** 2))


def predict(row: Row, law: GaussianKeys) -> float:
    """E|c~ - c|^2 for this row: to leading order where the noise is small, else from the exact moments engine."""
    variances = law.logits_law(row.q, scale=row.scale).variances[row.seen]
    z = row.logits()
    if row.softcap is not None:
        # Through the cap the logit is no longer Gaussian; its slope at the mean gives the spread to first order.
        variances = variances * (1.0 - ((z - row.bias) / row.softcap) ** 2) ** 2
    if variances.max() <= _SMALL**2:
        return float(leading_order(z, variances, row.V).sum())
    # E e^z = e^(m + s^2/2): noise lifts a key before it counts.
    parts = leading_order(z + variances / 2, variances, row.V)
    order = np.argsort(-parts)
    kept = order[: int(np.searchsorted(np.cumsum(parts[order]), _COVERED * parts.sum())) + 1]
    z, variances, V = _collapsed(z, variances, row.V, kept)
    # One query sees a key only through its logit, so the law of the logits goes over as one-dimensional keys.
    exact = moments(np.ones(1), GaussianKeys(z[:, None], isotropic=variances), V)
    return float(np.sum((exact.mean - weights(z) @ V) ** 2) + np.trace(exact.covariance))


def leading_order(z: np.ndarray, variances: np.ndarray, V: np.ndarray) -> Float[np.ndarray, "n"]:
    """Each key's part of E|c~ - c|^2 = sum_i a_i^2 s_i^2 |v_i - c|^2, up to relative s^2."""
    a = weights(z)
    return a**2 * variances * np.sum((V - a @ V) ** 2, axis=1)


def _collapsed(z: np.ndarray, variances: np.ndarray, V: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, ...]:
    """The kept keys, and one noiseless key that stands for all others: their noise averages out."""
    rest = np.delete(np.arange(z.size), kept)
    if not rest.size:
        return z, variances, V
    lifted = z[rest] + variances[rest] / 2
    together = lifted.max() + np.log(np.sum(np.exp(lifted - lifted.max())))
    mean = weights(lifted) @ V[rest]
    return np.append(z[kept], together), np.append(variances[kept], 0.0), np.vstack([V[kept], mean])


@dataclass(frozen=True)
class Setting:
    per: str
    bits: int
    predicted: Float[np.ndarray, "h"]
    measured: Float[np.ndarray, "h"]

    @property
    def rank_correlation(self) -> float:
        """Spearman's, over all heads: does the prediction put the heads in the right order?"""
        ranks = [rankdata(x) for x in (self.predicted, self.measured)]
        return float(np.corrcoef(ranks)[0, 1]) if len(self.predicted) > 2 else float("nan")


@dataclass(frozen=True)
class KeyNoise:
    """Relative root-mean-square output errors of all heads (in the order of the cards) for every setting."""

    places: tuple[tuple[str, int, int], ...]
    settings: tuple[Setting, ...]

    def budget(self, error: float, *, per: str = "channel") -> list[int | None]:
        """Fewest bits per head that keep the predicted error at or below `error`; None where none of them does."""
        offered = sorted((s for s in self.settings if s.per == per), key=lambda s: s.bits)
        return [next((s.bits for s in offered if s.predicted[h] <= error), None) for h in range(len(self.places))]

    def plain(self) -> dict[str, Any]:
        return {
            "settings": [
                {
                    "per": s.per, "bits": s.bits, "rank_correlation": s.rank_correlation,
                    "predicted_median": float(np.median(s.predicted)), "measured_median": float(np.median(s.measured)),
                }
                for s in self.settings
            ],
            "heads": [
                {"stack": stack, "layer": layer, "head": head}
                | {f"{s.per}{s.bits}_predicted": float(s.predicted[i]) for s in self.settings}
                | {f"{s.per}{s.bits}_measured": float(s.measured[i]) for s in self.settings}
                for i, (stack, layer, head) in enumerate(self.places)
            ],
        }  # fmt: skip


def table(layers: dict[tuple[str, int], list[Errors]]) -> KeyNoise:
    """All layers and texts together."""
    settings = next(iter(layers.values()))[0].settings
    places, predicted, truly = [], [], []
    for (stack, layer), texts in layers.items():
        size = np.sum([t.size for t in texts], axis=0)
        predicted.append(np.sqrt(np.sum([t.predicted for t in texts], axis=0) / size))
        truly.append(np.sqrt(np.sum([t.measured for t in texts], axis=0) / size))
        places += [(stack, layer, h) for h in range(len(size))]
    both = np.concatenate(predicted, axis=1), np.concatenate(truly, axis=1)
    return KeyNoise(
        tuple(places), tuple(Setting(per, bits, both[0][s], both[1][s]) for s, (per, bits) in enumerate(settings))
    )
