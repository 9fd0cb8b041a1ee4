"""Figures for any function: every number against every parameter that varies, in small panels.

Dots are points of the grid, the line goes through their medians; with one varying parameter both
are the same.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import Any

from headwright.report.style import ROLES, figure
from headwright.study.section import Rows

MOST_NUMBERS = 8  # figures
MOST_PARAMETERS = 6  # panels of one figure
_ACROSS = 3
_MOST_DOTS = 1500
_MOST_WORDS = 12  # labels that fit below a panel
_PANEL_HEIGHT = 2.3  # inches
_WIDTHS = {1: 4.2, 2: 6.0, 3: 7.4}
# Beyond these ratios of the largest to the smallest, a linear axis shows the large values alone
_WIDE_PARAMETER = 50.0
_WIDE_NUMBER = 300.0

Panel = tuple[list[Any], list[float]]


def drawable(rows: Rows, parameters: Sequence[str]) -> list[str]:
    """The numbers that have a finite value somewhere, in the order of the table."""
    names = [name for name in rows[0] if name not in parameters] if rows else []
    return [name for name in names if any(_finite(row[name]) for row in rows)]


def figures(rows: Rows, varying: Sequence[str], numbers: Sequence[str]) -> dict[str, Any]:
    """By a name that is safe in a folder; one per number, as many as a page can show."""
    drawn: dict[str, Any] = {}
    panels = varying[:MOST_PARAMETERS]
    for number in numbers[:MOST_NUMBERS] if panels else []:
        drawn[_file_name(number, drawn)] = _against_all(rows, panels, number)
    return drawn


def _file_name(number: str, taken: dict[str, Any]) -> str:
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", number)[:40].strip("-") or "number"
    return stem if stem not in taken else f"{stem}-{len(taken) + 1}"


def _against_all(rows: Rows, parameters: Sequence[str], number: str) -> Any:
    across = min(len(parameters), _ACROSS)
    down = math.ceil(len(parameters) / _ACROSS)
    size = (_WIDTHS[across], 0.4 + _PANEL_HEIGHT * down)
    with figure(*size, rows=down, columns=across) as (drawing, _):
        logarithmic = _spans(_column(rows, number), _WIDE_NUMBER)
        for axes, parameter in zip(drawing.axes, parameters, strict=False):
            _panel(axes, _pairs(rows, parameter, number))
            axes.set_xlabel(_short(parameter))
            axes.grid(axis="y")
            if logarithmic:
                axes.set_yscale("log")
        for unused in drawing.axes[len(parameters) :]:
            unused.set_visible(False)
        # Left of every row of panels: what they all show
        for first in drawing.axes[::across]:
            first.set_ylabel(_short(number))
    return drawing


def _panel(axes: Any, pairs: Panel) -> None:
    where, heights = pairs
    words = [] if _are_numbers(where) else list(dict.fromkeys(map(str, where)))
    places = [words.index(str(x)) for x in where] if words else where
    by_place: dict[float, list[float]] = defaultdict(list)
    for place, height in zip(places, heights, strict=True):
        by_place[place].append(height)
    middle = {place: median(found) for place, found in sorted(by_place.items())}

    step = max(1, math.ceil(len(places) / _MOST_DOTS))
    axes.plot(places[::step], heights[::step], ".", color=ROLES["key"], alpha=0.35, markersize=4)
    line = "o" if words else "-o"
    marker = 4 if len(middle) <= 40 else 0
    axes.plot(list(middle), list(middle.values()), line, color=ROLES["query"], markersize=marker)
    if words:
        shown = words[:_MOST_WORDS]
        slanted = sum(map(len, shown)) > 16
        labels = [_short(word) for word in shown]
        axes.set_xticks(range(len(shown)), labels, rotation=30 if slanted else 0)
        axes.set_xlim(-0.5, len(words) - 0.5)
    elif _spans(where, _WIDE_PARAMETER):
        axes.set_xscale("log")


def _pairs(rows: Rows, parameter: str, number: str) -> Panel:
    """Where both are there."""
    found = [row for row in rows if row[parameter] is not None and _finite(row[number])]
    return [row[parameter] for row in found], [float(row[number]) for row in found]


def _column(rows: Rows, number: str) -> list[float]:
    return [float(row[number]) for row in rows if _finite(row[number])]


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
