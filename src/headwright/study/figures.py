"""Figures for any function: every number against every parameter that varies, in small panels.

Dots are points of the grid, the line goes through their medians; with one varying parameter both
are the same.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from headwright.report.style import SERIES, figure
from headwright.study.table import Table

MOST_NUMBERS = 8  # figures
MOST_PARAMETERS = 6  # panels of one figure
_ACROSS = 3
_MOST_DOTS = 1500
_MOST_WORDS = 12  # labels that fit below a panel
_PANEL_HEIGHT = 2.3  # inches
_MOST_TICKS = 6
# Of the width of a panel: labels closer than this run into each other
_LEAST_GAP = 0.12
_WIDTHS = {1: 4.2, 2: 6.0, 3: 7.4}
# Beyond these ratios of the largest to the smallest, a linear axis shows the large values alone
_WIDE_PARAMETER = 10.0
_WIDE_NUMBER = 300.0

Panel = tuple[list[Any], list[float]]


def drawable(table: Table) -> list[str]:
    """The numbers that have a finite value somewhere, in the order of the table."""
    return [name for name, column in table.numbers.items() if any(map(_finite, column))]


def figures(table: Table, varying: Sequence[str], numbers: Sequence[str]) -> dict[str, Any]:
    """By a name that is safe in a folder; one per number, as many as a page can show."""
    drawn: dict[str, Any] = {}
    panels = varying[:MOST_PARAMETERS]
    for number in numbers[:MOST_NUMBERS] if panels else []:
        drawn[_file_name(number, drawn)] = _against_all(table, panels, number)
    return drawn


def _file_name(number: str, taken: dict[str, Any]) -> str:
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", number)[:40].strip("-") or "number"
    return stem if stem not in taken else f"{stem}-{len(taken) + 1}"


def _against_all(table: Table, parameters: Sequence[str], number: str) -> Any:
    across = min(len(parameters), _ACROSS)
    down = math.ceil(len(parameters) / _ACROSS)
    size = (_WIDTHS[across], 0.4 + _PANEL_HEIGHT * down)
    with figure(*size, rows=down, columns=across) as (drawing, _):
        finite = [float(x) for x in table.numbers[number] if x is not None and _finite(x)]
        panels = drawing.axes[: len(parameters)]
        for axes, parameter in zip(panels, parameters, strict=True):
            _panel(axes, _pairs(table.parameters[parameter], table.numbers[number]))
            axes.set_xlabel(_short(parameter))
            axes.grid(axis="y")
            if axes is not panels[0]:
                axes.sharey(panels[0])
            axes.tick_params(labelleft=axes in panels[::across])
        if _spans(finite, _WIDE_NUMBER):
            panels[0].set_yscale("log")
        # Left of every row of panels: what they all show
        for first in panels[::across]:
            first.set_ylabel(_short(number))
        for unused in drawing.axes[len(parameters) :]:
            unused.set_visible(False)
    return drawing


def _panel(axes: Any, pairs: Panel) -> None:
    where, heights = pairs
    words = [] if _are_numbers(where) else list(dict.fromkeys(map(str, where)))
    places = [words.index(str(x)) for x in where] if words else where
    by_place: dict[float, list[float]] = defaultdict(list)
    for place, height in zip(places, heights, strict=True):
        by_place[place].append(height)
    middle = {place: median(found) for place, found in sorted(by_place.items())}

    medians = SERIES[0]
    dots = SERIES[1]
    step = max(1, math.ceil(len(places) / _MOST_DOTS))
    axes.plot(places[::step], heights[::step], ".", color=dots, alpha=0.4, markersize=4)
    line = "o" if words else "-o"
    marker = 4 if len(middle) <= 40 else 0
    axes.plot(list(middle), list(middle.values()), line, color=medians, markersize=marker)
    if words:
        shown = words[:_MOST_WORDS]
        slanted = sum(map(len, shown)) > 16
        labels = [_short(word) for word in shown]
        axes.set_xticks(range(len(shown)), labels, rotation=30 if slanted else 0)
        axes.set_xlim(-0.5, len(words) - 0.5)
    else:
        _number_axis(axes, list(middle))


def _number_axis(axes: Any, values: list[float]) -> None:
    """Logarithmic where it must be; marked at the grid's own values where their labels fit."""
    logarithmic = _spans(values, _WIDE_PARAMETER)
    if logarithmic:
        axes.set_xscale("log")
    places = [math.log(value) if logarithmic else value for value in values]
    whole = places[-1] - places[0]
    gaps = [later - before for before, later in pairwise(places)]
    if len(values) <= _MOST_TICKS and all(gap >= _LEAST_GAP * whole for gap in gaps):
        axes.set_xticks(values, [f"{value:.4g}" for value in values])
        axes.set_xticks([], minor=True)


def _pairs(places: list[Any], heights: list[Any]) -> Panel:
    """Where both are there."""
    both = zip(places, heights, strict=True)
    found = [(x, float(y)) for x, y in both if x is not None and _finite(y)]
    return [x for x, _ in found], [y for _, y in found]


def _finite(value: Any) -> bool:
    """A number that can be drawn; a whole one may be too large for a float."""
    try:
        return value is not None and math.isfinite(value)
    except OverflowError:
        return False


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) for x in values)


def _spans(values: Sequence[Any], ratio: float) -> bool:
    return bool(values) and min(values) > 0 and max(values) / min(values) >= ratio


def _short(text: str) -> str:
    """A dollar sign would begin a formula."""
    cut = text if len(text) <= 24 else text[:23] + "…"
    return cut.replace("$", r"\$")
