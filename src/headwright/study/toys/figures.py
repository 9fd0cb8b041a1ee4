"""The figures of the study: pairs solved, lengths, errors under a random length, and who looks
away."""

from __future__ import annotations

import math
from typing import Any

from headwright.report.style import HEADS, ROLES, SERIES, figure
from headwright.study.section import Rows
from headwright.study.toys.columns import wilson
from headwright.study.toys.settings import (
    WORDS,
    chosen,
    main_rate,
    most_keys,
    most_steps,
    shown,
    values,
)
from headwright.study.toys.task import QUERIES

# Squared errors of the exercise: the textbook's two heads, and one that looks away
TEXTBOOK = 0.0246
AWAY = 3.2e-5
_WIDE = 7.2
_MARKS = "osD^v"


def figures(rows: Rows) -> dict[str, Any]:
    drawn = {}
    fixed = shown(rows)
    random = most_steps(main_rate(chosen(rows, lengths="random")))
    if fixed:
        drawn["solved"] = _solved(fixed)
        drawn["length"] = _length(fixed)
    if random:
        drawn["error"] = _error(most_keys(random))
        drawn["away"] = _away(random)
    return drawn


def _solved(rows: Rows) -> Any:
    """Share of pairs solved after each budget, and what the same keys allow."""
    with figure(_WIDE, 3.0, columns=2) as (drawing, axes):
        for axis, queries in zip(axes, QUERIES, strict=True):
            of_kind = chosen(rows, queries=queries)
            for index, steps in enumerate(values(of_kind, "steps")):
                some = chosen(of_kind, steps=steps)
                _with_bars(axis, some, "solved", index, f"{steps:,} steps")
            allowed = most_steps(of_kind)
            line = axis.plot(_column(allowed, "d"), _column(allowed, "possible"), "--")
            line[0].set(color=ROLES["muted"], label="possible with the last keys")
            axis.set(title=WORDS[queries], xlabel="dimensions d", ylim=(-0.03, 1.05))
        axes[0].set_ylabel("share of pairs solved")
        _legend(axes[1], "lower right")
    return drawing


def _length(rows: Rows) -> Any:
    """Trained over shortest length after each budget."""
    with figure(_WIDE, 3.0, columns=2) as (drawing, axes):
        for axis, queries in zip(axes, QUERIES, strict=True):
            of_kind = chosen(rows, queries=queries)
            for index, steps in enumerate(values(of_kind, "steps")):
                some = chosen(of_kind, steps=steps)
                _with_bars(axis, some, "ratio", index, f"{steps:,} steps")
            axis.axhline(1.0, color=ROLES["muted"], linestyle="--", linewidth=1)
            axis.set(title=WORDS[queries], xlabel="dimensions d", yscale="log", ylim=(0.9, 20))
            axis.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
            axis.minorticks_off()
        axes[0].set_ylabel("trained / shortest length")
        _legend(axes[0], "upper left")
    return drawing


def _error(rows: Rows) -> Any:
    """Exact squared error under a random length, by dimension."""
    rows = chosen(rows, loss=rows[0]["loss"])
    with figure(_WIDE, 3.2, columns=2) as (drawing, axes):
        for axis, queries in zip(axes, QUERIES, strict=True):
            for index, heads in enumerate(values(rows, "heads")):
                some = chosen(rows, queries=queries, heads=heads)
                word = "one head" if heads == 1 else f"{heads} heads"
                _with_bars(axis, some, "squared_error", index, word)
            axis.axhline(TEXTBOOK, color=ROLES["bad"], linestyle=":", linewidth=1.2)
            axis.axhline(AWAY, color=ROLES["good"], linestyle=":", linewidth=1.2)
            axis.set(title=WORDS[queries], xlabel="dimensions d", yscale="log", ylim=(1e-6, 1))
        axes[0].set_ylabel("squared error, median pair")
        axes[1].text(0.02, TEXTBOOK, "textbook", transform=axes[1].get_yaxis_transform(),
                     va="bottom", fontsize=8)  # fmt: skip
        axes[1].text(0.02, AWAY, "looking away", transform=axes[1].get_yaxis_transform(),
                     va="bottom", fontsize=8)  # fmt: skip
        _legend(axes[0], "lower left")
    return drawing


def _away(rows: Rows) -> Any:
    """Share of heads that look away on most pairs, with Wilson's interval."""
    with figure(_WIDE, 3.0, columns=2) as (drawing, axes):
        for axis, queries in zip(axes, QUERIES, strict=True):
            for index, heads in enumerate(values(rows, "heads")):
                some = chosen(rows, queries=queries, heads=heads)
                dimensions = values(some, "d")
                counted = [_finders(chosen(some, d=d)) for d in dimensions]
                shares = [count / total for count, total in counted]
                ends = [wilson(count, total) for count, total in counted]
                below = [max(s - low, 0) for s, (low, _) in zip(shares, ends, strict=True)]
                above = [max(high - s, 0) for s, (_, high) in zip(shares, ends, strict=True)]
                shifted = [d + 0.12 * index for d in dimensions]
                bars = axis.errorbar(shifted, shares, [below, above], capsize=2, color=HEADS[index])
                bars.set_label("one head" if heads == 1 else f"{heads} heads")
                bars[0].set_marker(_MARKS[index])
            axis.set(title=WORDS[queries], xlabel="dimensions d", ylim=(-0.03, 1.05))
        axes[0].set_ylabel("share of trained heads")
        _legend(axes[0], "lower right")
    return drawing


def _legend(axis: Any, where: str) -> None:
    """Where no pair was solved there is no line to name."""
    if axis.get_legend_handles_labels()[0]:
        axis.legend(loc=where)


def _finders(rows: Rows) -> tuple[int, int]:
    count = sum(int(row["finders"]) for row in rows)
    return count, sum(int(row["trained"]) for row in rows)


def _with_bars(axis: Any, rows: Rows, name: str, index: int, label: str) -> None:
    """A number by dimension, with its interval over the seeds."""
    known = [row for row in rows if row[name] is not None]
    if not known:
        return
    middle = _column(known, name)
    low = [_end(row, f"{name}_low", row[name]) for row in known]
    high = [_end(row, f"{name}_high", row[name]) for row in known]
    below = [m - end for m, end in zip(middle, low, strict=True)]
    above = [end - m for m, end in zip(middle, high, strict=True)]
    shifted = [row["d"] + 0.1 * (index - 1) for row in known]
    colour = SERIES[index % len(SERIES)]
    bars = axis.errorbar(shifted, middle, [below, above], capsize=2, color=colour, label=label)
    bars[0].set_marker(_MARKS[index % len(_MARKS)])
    bars[0].set_markersize(4)


def _end(row: dict[str, Any], name: str, otherwise: float) -> float:
    value = row[name]
    return otherwise if value is None or not math.isfinite(value) else value


def _column(rows: Rows, name: str) -> list[Any]:
    return [row[name] for row in rows]
