"""Three pictures: the price against d with its floor and ceiling, random keys on one scale, and
cyclic keys on theirs. All are drawn from the groups, which a small file can hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headwright.report.style import ROLES, SERIES, figure
from headwright.study.price import bounds
from headwright.study.price.groups import Group, groups
from headwright.study.price.law import LEAK, medians, threshold_law
from headwright.study.price.predicted import predicted_norm, threshold
from headwright.study.section import Rows

_COLOURS = dict(zip(("random", "optimised", "cyclic"), SERIES, strict=True))
_MARKERS = ("o", "s", "^", "D")
_PANELS = 4
_CURVE = 24  # points of a drawn curve


def figures(rows: Rows) -> dict[str, Any]:
    return drawn(groups(rows))


def drawn(found: list[Group]) -> dict[str, Any]:
    """By name; those whose keys are among the groups."""
    pictures = {"price": _price(found)}
    families = {group.family for group in found}
    if "random" in families:
        pictures["random"] = _random(found)
    if "cyclic" in families:
        pictures["cyclic"] = _cyclic(found)
    return pictures


def shown_keys(found: list[Group]) -> int:
    """The N of the first picture: 512 where it is there, as in the table."""
    sizes = sorted({group.N for group in found})
    return 512 if 512 in sizes else sizes[-1]


def _sizes(found: list[Group]) -> list[int]:
    return sorted({group.q for group in found})[:_PANELS]


# ------------------------------------------------------------------------------- price against d


def _price(found: list[Group]) -> Any:
    N = shown_keys(found)
    sizes = _sizes(found)
    across = min(len(sizes), 2)
    down = math.ceil(len(sizes) / 2)
    with figure(7.4, 0.5 + 2.7 * down, rows=down, columns=across) as (drawing, _):
        for axes, q in zip(drawing.axes, sizes, strict=False):
            of_panel = [g for g in found if g.N == N and g.q == q]
            _price_panel(axes, of_panel, N, q)
        for unused in drawing.axes[len(sizes) :]:
            unused.set_visible(False)
        named = drawing.axes[0].get_legend_handles_labels()
        drawing.legend(*named, loc="outside upper center", ncols=3, fontsize=8)
    return drawing


def _price_panel(axes: Any, found: list[Group], N: int, q: int) -> None:
    for family, colour in _COLOURS.items():
        mine = sorted((g for g in found if g.family == family), key=lambda g: g.d)
        _medians_and_quartiles(axes, mine, family, colour)
        limited = [g for g in mine if math.isfinite(g.ceiling)]
        ceilings = [g.ceiling for g in limited]
        axes.plot([g.d for g in limited], ceilings, ":", color=colour, lw=1.0)
    dimensions = np.unique([g.d for g in found])
    if len(dimensions):
        _floors(axes, N, q, dimensions)
        ticks = [int(d) for d in dimensions if d & (d - 1) == 0]
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks or dimensions, [str(d) for d in ticks or dimensions])
    axes.set(yscale="log", xlabel="dimension d", ylabel="query length", title=f"q = {q} of N = {N}")
    axes.grid(axis="y")


def _medians_and_quartiles(axes: Any, mine: list[Group], family: str, colour: str) -> None:
    there = [g for g in mine if math.isfinite(g.median)]
    where = [g.d for g in there]
    # An infinite upper quartile is drawn as far as sets were found.
    high = [g.high if math.isfinite(g.high) else g.largest for g in there]
    axes.plot(where, [g.median for g in there], "-o", color=colour, markersize=3.5, label=family)
    axes.vlines(where, [g.low for g in there], high, color=colour, lw=0.9, alpha=0.7)


def _floors(axes: Any, N: int, q: int, dimensions: Any) -> None:
    d = np.geomspace(dimensions.min(), dimensions.max(), _CURVE)
    muted = ROLES["muted"]
    floor = [max(bounds.floor(N, q, LEAK), bounds.packing_floor(N, q, x, LEAK)) for x in d.tolist()]
    axes.plot(d, floor, "--", color=muted, label="floor, any keys")
    expected = [(one, predicted_norm(N, q, int(one), LEAK)) for one in dimensions]
    finite = [pair for pair in expected if math.isfinite(pair[1])]
    where = [pair[0] for pair in finite]
    lengths = [pair[1] for pair in finite]
    axes.plot(where, lengths, "x", color=ROLES["output"], ms=6, label="random, predicted")
    axes.plot([], [], ":", color=muted, label="ceiling (its family's colour)")


# ------------------------------------------------------------------------------ the two scales


def _random(found: list[Group]) -> Any:
    mine = [g for g in found if g.family == "random" and g.q > 1]
    with figure(7.4, 3.1, columns=2) as (drawing, (left, right)):
        for q, marker, colour in zip(_sizes(mine), _MARKERS, SERIES, strict=False):
            some = [g for g in mine if g.q == q]
            scaled = [g.d / threshold(g.N, q) for g in some]
            shares = [g.selectable / g.sets for g in some]
            left.plot(scaled, shares, marker, color=colour, ms=4, label=f"q = {q}")
            there = [g for g in some if math.isfinite(g.median) and g.d < g.N]
            scaled = [g.d / threshold(g.N, q) for g in there]
            right.plot(scaled, [g.median / g.floor for g in there], marker, color=colour, ms=4)
            _fitted_curve(right, some, q, colour)
        left.axvline(1.0, color=ROLES["muted"], lw=1.0)
        left.set(xscale="log", xlabel="d / d*", ylabel="share of sets selectable")
        right.set(xscale="log", yscale="log", xlabel="d / d*", ylabel="median length / floor")
        for axis in (left.xaxis, right.xaxis, right.yaxis):
            _plain_marks(axis)
        left.set_title("random keys: who can be selected")
        right.set_title("and at what price")
        if left.get_legend_handles_labels()[0]:
            left.legend()
        if right.get_legend_handles_labels()[0]:
            right.legend()
    return drawing


def _fitted_curve(axes: Any, some: list[Group], q: int, colour: str) -> None:
    fit = threshold_law(medians(some), "random", q)
    if fit is None:
        return
    # Evenly in what is raised to the power: close together where the curve is steep
    ratio = 1 / (1 - np.geomspace(1 - 1 / 1.05, 1 - 1 / 16, _CURVE))
    power = fit.exponents[0]
    name = rf"$(1-d^*/d)^{{-{power:.2f}}}$"
    axes.plot(ratio, (1 - 1 / ratio) ** -power, color=colour, lw=1.0, label=name)


def _plain_marks(axis: Any) -> None:
    """1, 2, 5, 10 on a logarithmic axis, as numbers: powers of ten are few over two decades."""
    low, high = axis.get_view_interval()
    narrow = high < 5 * low
    digits = (1, 1.2, 1.5, 2, 3, 4, 6, 8) if narrow else (1, 2, 5)
    marks = [one * ten for ten in (0.01, 0.1, 1, 10, 100) for one in digits]
    inside = [mark for mark in marks if low <= mark <= high]
    axis.set_ticks(inside, labels=[f"{mark:g}" for mark in inside])
    axis.set_ticks([], minor=True)


def _cyclic(found: list[Group]) -> Any:
    mine = [g for g in found if g.family == "cyclic" and g.d >= 2 * g.q and g.N > g.d]
    colours = (*SERIES, ROLES["output"])
    with figure(6.4, 3.6) as (drawing, axes):
        for q, marker, colour in zip(_sizes(mine), _MARKERS, colours, strict=False):
            some = [g for g in mine if g.q == q and math.isfinite(g.median)]
            where = [g.N / g.d for g in some]
            lengths = [g.median for g in some]
            axes.plot(where, lengths, marker, color=colour, ms=4, label=f"q = {q}")
        _cyclic_floors(axes, [g for g in mine if g.q == 1])
        axes.set(xscale="log", yscale="log", xlabel="N / d", ylabel="median query length")
        axes.set_title("cyclic keys: the square of N/d, once d can tell the set apart")
        axes.legend()
        axes.grid(axis="y")
        _plain_marks(axes.xaxis)
    return drawing


def _cyclic_floors(axes: Any, alone: list[Group]) -> None:
    """One for every N and d: with few dimensions it lies below its limit, 0.453 lead (N/d)^2."""
    where = [g.N / g.d for g in alone]
    lengths = [bounds.cyclic_floor(g.N, 1, g.d, LEAK) for g in alone]
    axes.plot(where, lengths, "_", color=ROLES["muted"], ms=9, label="proved floor, q = 1")
