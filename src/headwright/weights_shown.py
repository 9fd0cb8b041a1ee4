"""Attention weights as people look at them: one line, a cell of a notebook, a figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from headwright.report import charts, notebook
from headwright.result import to_numpy
from headwright.types import Weights


def sentence(weights: Weights, row: str, v: int) -> str:
    """`2 queries on 5 keys; output of 3 coordinates`, and for one query its heaviest key."""
    *leading, n = weights.shape
    keys = f"{n} key{'s' * (n != 1)}"
    coordinates = f"{v} coordinate{'s' * (v != 1)}"
    if not leading:
        host = to_numpy(weights)
        heaviest = int(np.argmax(host))
        most = f"most weight on key {heaviest} ({host[heaviest]:.4g})"
        return f"1 {row} on {keys}, {most}; output of {coordinates}"
    rows = _rows(weights, row)
    return f"{rows} on {keys}; output of {coordinates}"


def _rows(weights: Weights, row: str) -> str:
    """`3 heads`; with further axes `3 heads x 8`."""
    first, *others = weights.shape[:-1]
    plural = {"query": "queries", "head": "heads"}[row]
    further = "".join(f" x {length}" for length in others)
    return f"{first} {row if first == 1 else plural}{further}"


def cell(said: str, weights: Weights, row: str) -> str:
    """The heaviest keys of one query; of several, where each looks most."""
    host = to_numpy(weights)
    if host.ndim == 1:
        order = np.argsort(-host, kind="stable")[: notebook.MOST_ROWS]
        rows = [(f"key {i}", f"{host[i]:.4g}") for i in order]
        return notebook.cell(said, rows, header=("", "weight"), more=len(host) - len(rows))
    table = host.reshape(-1, host.shape[-1])
    rows = []
    for i, alpha in enumerate(table[: notebook.MOST_ROWS]):
        rows.append((f"{row} {i}", f"{alpha.max():.4g}", f"key {alpha.argmax()}"))
    header = ("", "most weight", "on")
    return notebook.cell(said, rows, header=header, more=len(table) - len(rows))


def figure(weights: Weights, row: str) -> Any:
    """Bars for one query, the heaviest keys if there are many; shades for several."""
    host = to_numpy(weights).astype(float)
    if host.ndim > 1:
        table = host.reshape(-1, host.shape[-1])
        return charts.shades(table, title="weights", across="key", down=row, limits=(0.0, 1.0))
    shown = charts.largest(host)
    left_out = len(host) - len(shown)
    title = f"weights ({left_out} smaller ones are left out)" if left_out else "weights"
    names = [str(i) for i in shown]
    return charts.bars(names, host[shown], title=title, across="key", up="weight")
