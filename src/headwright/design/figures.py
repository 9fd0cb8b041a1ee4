"""Figures of a design: the weights before and after, the margins they come from, and what less leak
would cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from headwright import attention
from headwright.design.questions import Options, exact_design
from headwright.design.record import Design
from headwright.report import style

_MOST_KEYS = 24
_LEAKS = np.logspace(np.log10(0.4), -9, 13)
_MOST_WORK = 4_000_000  # key coordinates beyond which the curve is drawn with fewer points


def figures(design: Design, folder: Path) -> list[Path]:
    """Write every figure this design has, as SVG and PNG."""
    drawn = {"weights": weights_figure(design), "margins": margins_figure(design)}
    if design.status == "reached" and design.robust is None and design.norm > 0:
        drawn["norm-against-leak"] = norm_figure(design)
    return [path for name, drawing in drawn.items() for path in style.save(drawing, folder / name)]


def weights_figure(design: Design) -> Any:
    """Weights of q = 0 and of the designed queries, target keys first, then the strongest others."""
    shown, names = _shown(design)
    wanted = design.target.dense(len(design.weights))[shown]
    before = _logits(design, at_rest=True)
    places = np.arange(len(shown))
    with style.figure(6.4, 3.2) as (drawing, axes):
        axes.bar(
            places - 0.2,
            attention.weights(before)[shown],
            0.4,
            color=style.ROLES["muted"],
            label="q = 0",
        )
        axes.bar(
            places + 0.2, design.weights[shown], 0.4, color=style.ROLES["query"], label="designed"
        )
        inside = wanted > 0
        axes.scatter(
            places[inside],
            wanted[inside],
            marker="_",
            s=260,
            color=style.ROLES["good"],
            label="wanted",
            zorder=3,
        )
        axes.set(
            xlabel="key", ylabel="weight", title=f"{design.target}: {design.status}", ylim=(0, 1.05)
        )
        axes.set_xticks(places, names)
        axes.legend()
    return drawing


def margins_figure(design: Design) -> Any:
    """Each head's logits, sorted, counted from its strongest key: how far behind the others stay."""
    z = _logits(design)
    with style.figure(6.4, 3.2) as (drawing, axes):
        for h, row in enumerate(z[: len(style.HEADS)]):
            order = np.argsort(-row)[:_MOST_KEYS]
            mine = np.isin(order, design.target.support)
            lag = row[order] - row.max()
            rank = np.arange(1, len(order) + 1)
            colour = style.HEADS[h]
            axes.plot(
                rank, lag, color=colour, lw=1.0, label=f"head {h + 1}" if len(z) > 1 else "logits"
            )
            axes.scatter(rank[~mine], lag[~mine], s=18, color=colour)
            axes.scatter(
                rank[mine], lag[mine], s=60, marker="D", color=style.ROLES["good"], zorder=3
            )
        axes.scatter([], [], s=60, marker="D", color=style.ROLES["good"], label="target keys")
        axes.set(
            xlabel="key, by rank",
            ylabel="logit behind the strongest",
            title=f"margins: the target leads by {design.sharpness * abs(design.scale):.3g}",
        )
        axes.legend()
    return drawing


def norm_figure(design: Design) -> Any:
    """The length of the cheapest queries for every leak, this design marked."""
    assert design._wanted is not None
    few = design._wanted.keys.size > _MOST_WORK
    leaks, lengths = [], []
    for leak in _LEAKS[:: 3 if few else 1]:
        at = exact_design(
            replace(design._wanted, leak=float(leak)),
            design.heads_asked,
            Options(bias=None, storage="float64"),
        )
        if at.status == "reached":
            leaks.append(leak)
            lengths.append(at.norm)
    with style.figure(6.4, 3.2) as (drawing, axes):
        axes.plot(
            leaks, lengths, color=style.ROLES["key"], marker="o", ms=3.5, label="cheapest query"
        )
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


def _shown(design: Design) -> tuple[np.ndarray, list[str]]:
    inside = list(design.target.support)[:_MOST_KEYS]
    others = [int(i) for i in np.argsort(-design.weights) if i not in set(design.target.support)]
    shown = np.array([*inside, *others[: max(0, _MOST_KEYS - len(inside))]])
    return shown, [str(i) for i in shown]


def _logits(design: Design, *, at_rest: bool = False) -> np.ndarray:
    assert design._wanted is not None
    queries = np.zeros(design.queries.shape[1]) if at_rest else design.queries
    return attention.logits(
        queries, design._wanted.keys, scale=design.scale, bias=design._wanted.bias
    )
