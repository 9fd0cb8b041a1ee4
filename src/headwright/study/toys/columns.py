"""Numbers as they stand in the table, and intervals of 95%: for a mean over seeds (Student), and
for a share of heads (Wilson)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from headwright.types import Array

_LEVEL = 0.95


def column(value: Any) -> float | None:
    """Six digits of a number; nothing for what is not there."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.6g}")


def mean_over_seeds(
    name: str, values: Sequence[float], *, low: float = -math.inf, high: float = math.inf
) -> dict[str, float | None]:
    """The mean of one number per seed and the ends of its interval inside [low, high]. Seeds
    without the number are left out; fewer than two have no interval."""
    known = np.array([value for value in values if math.isfinite(value)])
    mean = float(known.mean()) if known.size else None
    ends: list[float | None] = [None, None]
    if mean is not None and known.size > 1:
        error = float(known.std(ddof=1)) / math.sqrt(known.size)
        reach = float(stats.t.ppf((1 + _LEVEL) / 2, known.size - 1)) * error
        ends = [max(mean - reach, low), min(mean + reach, high)]
    return {name: mean, f"{name}_low": ends[0], f"{name}_high": ends[1]}


def pooled(name: str, values: Array) -> dict[str, float | None]:
    """The outer tenths of the pairs of all seeds."""
    if not len(values):
        return {f"{name}_10": None, f"{name}_90": None}
    tenth, last_tenth = np.quantile(values, [0.1, 0.9])
    return {f"{name}_10": float(tenth), f"{name}_90": float(last_tenth)}


def wilson(count: int, total: int) -> tuple[float, float]:
    """The interval of a share count / total."""
    if total == 0:
        return 0.0, 1.0
    z = float(stats.norm.ppf((1 + _LEVEL) / 2))
    share = count / total
    # (share + z^2/2n +- z sqrt(share (1 - share)/n + z^2/4n^2)) / (1 + z^2/n)
    shrink = 1 + z**2 / total
    middle = (share + z**2 / (2 * total)) / shrink
    spread = share * (1 - share) / total + z**2 / (4 * total**2)
    reach = z * math.sqrt(spread) / shrink
    # At the ends the formula gives the end itself, up to rounding.
    low = 0.0 if count == 0 else middle - reach
    high = 1.0 if count == total else middle + reach
    return low, high
