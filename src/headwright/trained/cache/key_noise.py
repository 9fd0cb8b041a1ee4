"""The table of the key cache: errors of every head's output for every number of bits, and the
fewest bits that a key head can do with.

The cache has a row per key head, which several query heads may read: the worst of them decides.

Errors are relative to the size of the outputs, and have a standard error, because only a sample of
the rows is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from headwright.trained.cache.quantise import PER, SquaredErrors
from headwright.types import Float

# Output errors for which the bit budget is shown, and the standard errors within which a budget is
# not settled.
BUDGETS = (0.01, 0.05, 0.1)
UNSETTLED = 2.0


def relative_error(
    squares: Float[np.ndarray, "... r"], size: Float[np.ndarray, "... r"]
) -> tuple[np.ndarray, np.ndarray]:
    """The error e = sqrt(sum_r m_r / sum_r s_r) of squared errors m and squared sizes s over the
    rows, and its standard error; NaN for a single row, which says nothing about the others.

    R = e^2 is a ratio of two sums over r rows: to first order it is off by sum (m - R s) / sum s,
    whose variance is r / (r - 1) sum (m - R s)^2 / (sum s)^2, and e is off by 1 / (2 e) of that.
    """
    r = squares.shape[-1]
    whole = np.maximum(size.sum(axis=-1), np.finfo(float).tiny)
    ratio = squares.sum(axis=-1) / whole
    error = np.sqrt(ratio)
    if r == 1:
        return error, np.full(error.shape, np.nan)

    residuals = squares - ratio[..., None] * size
    off = np.sqrt(r / (r - 1) * np.sum(residuals**2, axis=-1)) / whole
    # No error in any row: off is 0 as well.
    slope = 2.0 * np.where(error > 0.0, error, 1.0)
    return error, off / slope


@dataclass(frozen=True)
class CacheSetting:
    """Relative errors of all heads with keys of so many bits and a step shared per token or per
    channel, each with its standard error over the sampled rows."""

    per: str
    bits: int
    predicted: Float[np.ndarray, "h"]
    measured: Float[np.ndarray, "h"]
    predicted_se: Float[np.ndarray, "h"]
    measured_se: Float[np.ndarray, "h"]

    def __repr__(self) -> str:
        predicted = f"predicted {np.median(self.predicted):.2%}"
        measured = f"measured {np.median(self.measured):.2%}"
        heads = f"medians of {len(self.predicted)} heads"
        return f"<CacheSetting {self.name}: {predicted}, {measured} ({heads})>"

    @property
    def name(self) -> str:
        return f"{self.bits} bits per {self.per}"

    @property
    def rank_correlation(self) -> float:
        """Spearman's, over all heads: does the prediction put the heads in the right order? NaN
        where there is no order, as when no key moves."""
        ranks = [rankdata(self.predicted), rankdata(self.measured)]
        ordered = len(self.predicted) > 2 and all(np.ptp(x) > 0 for x in ranks)
        return float(np.corrcoef(ranks)[0, 1]) if ordered else float("nan")

    def line(self) -> tuple[str, ...]:
        """Of a table for readers: bits, what shares a step, both errors with their standard errors,
        rank correlation."""
        predicted = _with_error(self.predicted, self.predicted_se)
        measured = _with_error(self.measured, self.measured_se)
        correlation = self.rank_correlation
        shown = f"{correlation:.3f}" if np.isfinite(correlation) else "-"
        return str(self.bits), self.per, predicted, measured, shown

    def plain(self) -> dict[str, Any]:
        return {
            "per": self.per,
            "bits": self.bits,
            "rank_correlation": _known(self.rank_correlation),
            "predicted_median": float(np.median(self.predicted)),
            "measured_median": float(np.median(self.measured)),
            "predicted_se_median": _known(np.median(self.predicted_se)),
            "measured_se_median": _known(np.median(self.measured_se)),
        }


def _with_error(values: np.ndarray, errors: np.ndarray) -> str:
    value = f"{np.median(values):.2%}"
    error = np.median(errors)
    return f"{value} ± {error:.2%}" if np.isfinite(error) else value


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True)
class KeyNoise:
    """Relative root-mean-square output errors of all heads (in the order of the cards) for every
    setting. `key_heads`: stack, layer and key head that each head reads; its own where None."""

    places: tuple[tuple[str, int, int], ...]
    settings: tuple[CacheSetting, ...]
    key_heads: tuple[tuple[str, int, int], ...] | None = None

    def __repr__(self) -> str:
        settings = ", ".join(setting.name for setting in self.settings)
        return f"<KeyNoise of {len(self.places)} heads: {settings}>"

    def budget(
        self, error: float, *, per: str = "channel", sigmas: float = 0.0
    ) -> list[int | None]:
        """Fewest bits per key head that keep the predicted error, raised by `sigmas` standard
        errors, at or below `error` in every head that reads it; None where none of them does."""
        starts = self._first_readers()
        budget: list[int | None] = [None] * len(starts)
        offered = [setting for setting in self.settings if setting.per == per]
        # Fewer bits overwrite more.
        for setting in sorted(offered, key=lambda one: one.bits, reverse=True):
            raised = setting.predicted
            if sigmas:
                # A single row has no standard error: anything is within reach.
                raised = raised + sigmas * np.nan_to_num(setting.predicted_se, nan=np.inf)
            worst = np.maximum.reduceat(raised, starts)
            for key_head in np.flatnonzero(worst <= error):
                budget[key_head] = setting.bits
        return budget

    def _first_readers(self) -> list[int]:
        """The first head that reads each key head: the heads of a group stand together."""
        read = self.key_heads or self.places
        return [i for i, place in enumerate(read) if i == 0 or place != read[i - 1]]

    def budgets(self, *, per: str = "channel") -> list[dict[str, Any]]:
        """For each of BUDGETS the bits per key head, between `bits_low` and `bits_high` at
        UNSETTLED standard errors to either side; `unsettled` counts where these two differ."""
        found = []
        for error in BUDGETS:
            low = self.budget(error, per=per, sigmas=-UNSETTLED)
            high = self.budget(error, per=per, sigmas=UNSETTLED)
            differing = [a != b for a, b in zip(low, high, strict=True)]
            found.append(
                {
                    "per": per,
                    "error": error,
                    "unsettled": sum(differing),
                    "bits": self.budget(error, per=per),
                    "bits_low": low,
                    "bits_high": high,
                }
            )
        return found

    def head(self, i: int) -> dict[str, float | None]:
        """All numbers of the i-th head, for tables."""
        routes = ("predicted", "measured", "predicted_se", "measured_se")
        return {
            f"{setting.per}{setting.bits}_{name}": _known(getattr(setting, name)[i])
            for name in routes
            for setting in self.settings
        }

    def plain(self) -> dict[str, Any]:
        heads = []
        for i, (stack, layer, head) in enumerate(self.places):
            place = {"stack": stack, "layer": layer, "head": head}
            heads.append(place | self.head(i))
        return {
            "settings": [setting.plain() for setting in self.settings],
            "budgets": [budget for per in PER for budget in self.budgets(per=per)],
            "heads": heads,
        }


def table(layers: dict[tuple[str, int], list[SquaredErrors]]) -> KeyNoise:
    """All layers and texts together: the rows of all texts are one sample."""
    places = []
    key_heads = []
    found = []
    for (stack, layer), texts in layers.items():
        size = np.concatenate([text.size for text in texts], axis=-1)
        predicted = np.concatenate([text.predicted for text in texts], axis=-1)
        measured = np.concatenate([text.measured for text in texts], axis=-1)
        predicted_error, predicted_se = relative_error(predicted, size)
        measured_error, measured_se = relative_error(measured, size)
        found.append([predicted_error, measured_error, predicted_se, measured_se])
        heads = range(len(size))
        places += [(stack, layer, head) for head in heads]
        key_heads += [(stack, layer, head // texts[0].group) for head in heads]

    # (route or its standard error, setting, head), in the order of the fields of `CacheSetting`
    columns = np.concatenate(found, axis=-1)
    texts = next(iter(layers.values()))
    settings = [
        CacheSetting(per, bits, *columns[:, s]) for s, (per, bits) in enumerate(texts[0].settings)
    ]
    return KeyNoise(tuple(places), tuple(settings), tuple(key_heads))


def budget_counts(budget: list[int | None]) -> str:
    """`2 bits: 120, 4 bits: 30, more: 2`"""
    known = [bits for bits in budget if bits is not None]
    counts = [f"{bits} bits: {known.count(bits)}" for bits in sorted(set(known))]
    if len(known) < len(budget):
        counts.append(f"more: {len(budget) - len(known)}")
    return ", ".join(counts)
