"""Random keys in practice: a key cache stored in few bits. How far does each head's output move?

Two routes to one number. Predicted: rounding adds independent noise of variance D^2/12 to every key
coordinate, and `prediction` gives the expected squared error without running anything. Measured:
the keys are really rounded and the output computed again. Errors are relative to the size of the
outputs, and have a standard error, because only a sample of the rows is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from headwright.keys import GaussianKeys, rounded
from headwright.trained.cache.prediction import predict
from headwright.trained.measures.sampled import Row, Sample
from headwright.types import Float

PER = ("token", "channel")
# Rows per head and text that the table looks at: the exact engine is the dearest part of an audit.
KEY_ROWS = 2
# Output errors for which the bit budget is shown, and the standard errors within which a budget is
# not settled.
BUDGETS = (0.01, 0.05, 0.1)
UNSETTLED = 2.0


@dataclass(frozen=True)
class Errors:
    """Squared errors of one layer's heads on one text's sampled rows, and the squared size of the
    outputs. First axis: setting (per, bits); last: row."""

    settings: tuple[tuple[str, int], ...]
    predicted: Float[np.ndarray, "s h r"]
    measured: Float[np.ndarray, "s h r"]
    size: Float[np.ndarray, "h r"]


def measured(sample: Sample, rows: list[list[Row]], key_bits: tuple[int, ...]) -> Errors:
    """Both routes for every setting. Keys are rounded as a cache would: all keys of a key head
    together."""
    settings = tuple((per, int(bits)) for per in PER for bits in key_bits)
    size = np.asarray([[np.sum(row.output() ** 2) for row in one] for one in rows])
    predicted, truly = (
        np.zeros((len(settings), *size.shape)),
        np.zeros((len(settings), *size.shape)),
    )
    for s, (per, bits) in enumerate(settings):
        stored = [rounded(K, bits=bits, per=per) for K in sample.K]
        laws = [GaussianKeys.quantised(K, bits=bits, per=per) for K in sample.K]
        for head, one in enumerate(rows):
            g = sample.heads.key_head(head)
            truly[s, head] = [_moved(row, stored[g][row.seen]) for row in one]
            predicted[s, head] = [predict(row, laws[g]) for row in one]
    return Errors(settings, predicted, truly, size)


def _moved(row: Row, K: np.ndarray) -> float:
    return float(np.sum((row.output(K) - row.output()) ** 2))


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
    off = np.sqrt(r / (r - 1) * np.sum((squares - ratio[..., None] * size) ** 2, axis=-1)) / whole
    # No error in any row: off is 0 as well
    return error, off / (2.0 * np.where(error > 0.0, error, 1.0))


@dataclass(frozen=True)
class Setting:
    """Relative errors of all heads at one setting, each with its standard error over the sampled
    rows."""

    per: str
    bits: int
    predicted: Float[np.ndarray, "h"]
    measured: Float[np.ndarray, "h"]
    predicted_se: Float[np.ndarray, "h"]
    measured_se: Float[np.ndarray, "h"]

    def __repr__(self) -> str:
        medians = (
            f"predicted {np.median(self.predicted):.2%}, measured {np.median(self.measured):.2%}"
        )
        return f"<Setting {self.bits} bits per {self.per}: {medians} (medians of {len(self.predicted)} heads)>"

    @property
    def rank_correlation(self) -> float:
        """Spearman's, over all heads: does the prediction put the heads in the right order? NaN
        where there is no order, as when no key moves."""
        ranks = [rankdata(x) for x in (self.predicted, self.measured)]
        ordered = len(self.predicted) > 2 and all(np.ptp(x) > 0 for x in ranks)
        return float(np.corrcoef(ranks)[0, 1]) if ordered else float("nan")


@dataclass(frozen=True)
class KeyNoise:
    """Relative root-mean-square output errors of all heads (in the order of the cards) for every
    setting."""

    places: tuple[tuple[str, int, int], ...]
    settings: tuple[Setting, ...]

    def __repr__(self) -> str:
        settings = ", ".join(f"{s.bits} bits per {s.per}" for s in self.settings)
        return f"<KeyNoise of {len(self.places)} heads: {settings}>"

    def budget(
        self, error: float, *, per: str = "channel", sigmas: float = 0.0
    ) -> list[int | None]:
        """Fewest bits per head that keep the predicted error, raised by `sigmas` standard errors,
        at or below `error`; None where none of them does."""
        offered = sorted((s for s in self.settings if s.per == per), key=lambda s: s.bits)
        # A single row has no standard error: anything is within reach.
        spread = [
            sigmas * np.nan_to_num(s.predicted_se, nan=np.inf) if sigmas else 0.0 for s in offered
        ]
        fits = [s.predicted + off <= error for s, off in zip(offered, spread, strict=True)]
        return [
            next((s.bits for s, fit in zip(offered, fits, strict=True) if fit[h]), None)
            for h in range(len(self.places))
        ]

    def budgets(self, *, per: str = "channel") -> list[dict[str, Any]]:
        """For each of BUDGETS the bits per head, between `bits_low` and `bits_high` at UNSETTLED
        standard errors to either side; `unsettled` counts the heads where these two differ."""
        found = []
        for error in BUDGETS:
            bits, low, high = (
                self.budget(error, per=per, sigmas=s) for s in (0.0, -UNSETTLED, UNSETTLED)
            )
            unsettled = sum(a != b for a, b in zip(low, high, strict=True))
            found.append(
                {
                    "per": per,
                    "error": error,
                    "unsettled": unsettled,
                    "bits": bits,
                    "bits_low": low,
                    "bits_high": high,
                }
            )
        return found

    def head(self, i: int) -> dict[str, float | None]:
        """All numbers of the i-th head, for tables."""
        routes = ("predicted", "measured", "predicted_se", "measured_se")
        return {
            f"{s.per}{s.bits}_{name}": _known(getattr(s, name)[i])
            for name in routes
            for s in self.settings
        }

    def plain(self) -> dict[str, Any]:
        return {
            "settings": [
                {
                    "per": s.per, "bits": s.bits, "rank_correlation": _known(s.rank_correlation),
                    "predicted_median": float(np.median(s.predicted)), "measured_median": float(np.median(s.measured)),
                    "predicted_se_median": _known(np.median(s.predicted_se)),
                    "measured_se_median": _known(np.median(s.measured_se)),
                }
                for s in self.settings
            ],
            "budgets": [budget for per in PER for budget in self.budgets(per=per)],
            "heads": [
                {"stack": stack, "layer": layer, "head": head} | self.head(i)
                for i, (stack, layer, head) in enumerate(self.places)
            ],
        }  # fmt: skip


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def table(layers: dict[tuple[str, int], list[Errors]]) -> KeyNoise:
    """All layers and texts together: the rows of all texts are one sample."""
    settings = next(iter(layers.values()))[0].settings
    places, found = [], []
    for (stack, layer), texts in layers.items():
        size = np.concatenate([t.size for t in texts], axis=-1)
        routes = [
            np.concatenate([getattr(t, name) for t in texts], axis=-1)
            for name in ("predicted", "measured")
        ]
        errors, spreads = zip(*(relative_error(squares, size) for squares in routes), strict=True)
        found.append([*errors, *spreads])
        places += [(stack, layer, h) for h in range(len(size))]
    # (predicted, measured and their standard errors, setting, head)
    columns = np.concatenate(found, axis=-1)
    return KeyNoise(
        tuple(places),
        tuple(Setting(per, bits, *columns[:, s]) for s, (per, bits) in enumerate(settings)),
    )
