"""The lab: attention under your fingers, in the browser. `headwright lab` opens it; needs the extra
`lab`."""

from __future__ import annotations

from typing import Any

__all__ = ["widget"]


def widget(K: Any = None, V: Any = None, q: Any = None, *, height: int = 900) -> Any:
    """The plane in a notebook cell, with your keys, values and query or queries: see
    `headwright.lab.notebook`."""
    from headwright.lab.notebook import Frame

    return Frame(K, V, q, height=height)
