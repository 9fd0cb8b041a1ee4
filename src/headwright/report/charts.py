"""The two charts that results of every kind share: named bars, and a table of numbers in shades."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headwright.report import style
from headwright.types import Float

MOST_BARS = 24
_MOST_TICKS = 12
_MOST_LETTERS = 55  # of all names side by side; more of them stand upright
_SIZE = (6.4, 3.0)


def bars(
    names: Sequence[str],
    heights: Float[np.ndarray, "k"],
    *,
    title: str,
    across: str,
    up: str,
    role: str = "key",
    spread: Float[np.ndarray, "k"] | None = None,
) -> Any:
    """One bar per name, with a whisker of `spread` to both sides where it is given."""
    places = np.arange(len(names))
    with style.figure(*_SIZE) as (drawing, axes):
        axes.bar(places, heights, 0.7, color=style.ROLES[role])
        if spread is not None:
            ink = axes.xaxis.label.get_color()
            whiskers = {"fmt": "none", "ecolor": ink, "capsize": 3, "elinewidth": 1.0}
            axes.errorbar(places, heights, yerr=spread, **whiskers)
        axes.set(title=title, xlabel=across, ylabel=up)
        crowded = sum(len(name) for name in names) > _MOST_LETTERS
        axes.set_xticks(places, list(names), rotation=90 if crowded else 0)
        if bool(np.all(heights == np.round(heights))):
            axes.yaxis.get_major_locator().set_params(integer=True)
        if not len(names):
            axes.text(0.5, 0.5, "nothing to show", ha="center", transform=axes.transAxes)
            axes.set_yticks([])
    return drawing


def largest(sizes: Float[np.ndarray, "k"]) -> list[int]:
    """The places of the largest sizes that a figure has room for, in their order."""
    order = np.argsort(-sizes, kind="stable")
    return sorted(int(i) for i in order[:MOST_BARS])


def shades(
    table: Float[np.ndarray, "r c"],
    *,
    title: str,
    across: str,
    down: str,
    rows: Sequence[str] | None = None,
    limits: tuple[float, float] | None = None,
) -> Any:
    """A cell per number, with a scale beside them; what is no number stays empty."""
    r, c = table.shape
    low, high = limits if limits is not None else _range(table)
    width = 2.2 + 0.3 * min(max(c, 4), MOST_BARS)
    height = 1.2 + 0.3 * min(max(r, 3), MOST_BARS)
    with style.figure(width, height) as (drawing, axes):
        seen = np.ma.masked_invalid(table)
        colours = axes.imshow(seen, cmap="viridis", vmin=low, vmax=high, aspect="auto")
        drawing.colorbar(colours, ax=axes)
        axes.set(title=title, xlabel=across, ylabel=down)
        axes.set_xticks(_ticks(c))
        labels = None if rows is None else [rows[i] for i in _ticks(r)]
        axes.set_yticks(_ticks(r), labels)
        axes.tick_params(length=0)
    return drawing


def _range(table: Float[np.ndarray, "r c"]) -> tuple[float, float]:
    """Smallest and largest number; any range where there is none."""
    numbers = table[np.isfinite(table)]
    return (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 1.0)


def _ticks(count: int) -> range:
    return range(0, count, max(1, -(-count // _MOST_TICKS)))
