"""Figures of a design: the weights before and after, the margins they come from, and what less leak
would cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from headwright.design.options import Options
from headwright.design.record import Design
from headwright.design.several.noiseless import noiseless_design
from headwright.design.weights_figure import MOST_KEYS, SIZE, logits_of, weights_figure
from headwright.report import style

_LEAKS = np.logspace(np.log10(0.4), -9, 13)
# Key coordinates beyond which the curve is drawn with every third leak only.
_MOST_WORK = 4_000_000
_COARSE = 3


def figures(design: Design, folder: Path) -> list[Path]:
    """Write every figure this design has, as SVG and PNG."""
    drawn = {"weights": weights_figure(design), "margins": margins_figure(design)}
    if design.status == "reached" and design.robust is None and design.norm > 0:
        drawn["norm-against-leak"] = norm_figure(design)
    return [path for name, drawing in drawn.items() for path in style.save(drawing, folder / name)]


def margins_figure(design: Design) -> Any:
    """Each head's logits, sorted, counted from its strongest key: how far behind the others
    stay."""
    z = logits_of(design, design.queries)
    green = style.ROLES["good"]
    with style.figure(*SIZE) as (drawing, axes):
        for h, row in enumerate(z[: len(style.HEADS)]):
            order = np.argsort(-row)[:MOST_KEYS]
            mine = np.isin(order, design.target.support)
            lag = row[order] - row.max()
            rank = np.arange(1, len(order) + 1)
            colour = style.HEADS[h]
            name = f"head {h + 1}" if len(z) > 1 else "logits"
            axes.plot(rank, lag, color=colour, lw=1.0, label=name)
            axes.scatter(rank[~mine], lag[~mine], s=18, color=colour)
            axes.scatter(rank[mine], lag[mine], s=60, marker="D", color=green, zorder=3)
        axes.scatter([], [], s=60, marker="D", color=green, label="target keys")
        lead = design.sharpness * abs(design.scale)
        axes.set(
            xlabel="key, by rank",
            ylabel="logit behind the strongest",
            title=f"margins: the target leads by {lead:.3g}",
        )
        axes.legend()
    return drawing


def norm_figure(design: Design) -> Any:
    """The length of the cheapest queries for every leak, this design marked."""
    leaks, lengths = _price_of_leak(design)
    key_colour = style.ROLES["key"]
    with style.figure(*SIZE) as (drawing, axes):
        axes.plot(leaks, lengths, color=key_colour, marker="o", ms=3.5, label="cheapest query")
        axes.scatter(
            [design.leak_asked],
            [design.norm],
            s=70,
            color=style.ROLES["query"],
            zorder=3,
            label="this design",
        )
        axes.set(xscale="log", xlabel="leak", ylabel="query length", title="what less leak costs")
        axes.invert_xaxis()
        axes.set_ylim(bottom=0)
        axes.legend()
    return drawing


def _price_of_leak(design: Design) -> tuple[list[float], list[float]]:
    """Leaks at which the target can be reached, and the length of the cheapest queries there."""
    want = design._wanted
    assert want is not None
    step = _COARSE if want.keys.size > _MOST_WORK else 1
    options = Options(bias=None, storage="float64")
    leaks = []
    lengths = []
    for leak in _LEAKS[::step].tolist():
        there = noiseless_design(replace(want, leak=leak), design.heads_asked, options)
        if there.status == "reached":
            leaks.append(leak)
            lengths.append(there.norm)
    return leaks, lengths
