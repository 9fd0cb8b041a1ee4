"""What depends on what, as a figure of matplotlib: for papers and slides, and for `.plot()`."""

from __future__ import annotations

from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.report import style


def dependency_figure(record: Any) -> Any:
    """The same picture as on the page."""
    depends = record.depends
    if depends is None:
        raise InputError(
            wanted="an X-ray that has found what depends on what",
            got=f"one of {', '.join(one.name for one in record.properties)}",
            attempt="xray(layer) without only=, or with only='pattern'",
        )
    rows, columns = depends.shape
    wanted = depends if record.wanted is None else record.wanted
    with style.figure(1.2 + 0.34 * min(columns, 24), 1.0 + 0.34 * min(rows, 24)) as (
        drawing,
        axes,
    ):
        axes.imshow(_colours(depends, wanted), interpolation="nearest")
        if record.wanted is not None:
            _outline(axes, wanted)
        for i, j in np.argwhere(depends != wanted):
            axes.plot(j, i, marker="x", color="white" if depends[i, j] else style.ROLES["bad"])
        axes.set_xlabel("token")
        axes.set_ylabel("output")
        axes.set_xticks(range(0, columns, max(1, columns // 12)))
        axes.set_yticks(range(0, rows, max(1, rows // 12)))
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_title(f"{record.layer}: {record.pattern or 'what depends on what'}")
    return drawing


def _colours(depends: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Red, green, blue and opacity of every cell."""
    made = np.zeros((*depends.shape, 4))
    made[...] = _rgb(style.ROLES["muted"], 0.12)
    made[depends & wanted] = _rgb(style.ROLES["key"], 1.0)
    made[depends & ~wanted] = _rgb(style.ROLES["bad"], 1.0)
    return made


def _rgb(colour: str, opacity: float) -> tuple[float, ...]:
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    return (*channels, opacity)


def _outline(axes: Any, wanted: np.ndarray) -> None:
    """A line wherever an expected cell meets one that is not."""
    padded = np.pad(wanted, 1, constant_values=False)
    across = np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1])
    down = np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1])
    ink = axes.xaxis.label.get_color()
    for i, j in across:
        axes.plot([j - 0.5, j + 0.5], [i - 0.5, i - 0.5], color=ink, linewidth=1.2)
    for i, j in down:
        axes.plot([j - 0.5, j - 0.5], [i - 0.5, i + 0.5], color=ink, linewidth=1.2)
