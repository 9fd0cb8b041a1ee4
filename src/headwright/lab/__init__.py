"""The lab: attention under your fingers, in the browser. `headwright lab` opens it; needs the extra
`lab`.

Reading order: what the page is made of, `presets`, `stations`, `content`; who serves it, `address`,
`serve`, `connections`, `guard`, `app`, `limits`; who computes for it, `engines/`. `export` writes a
copy that needs no server, `notebook` shows it in a cell, `sample_audit` makes the head cards it
ships with.
The page itself is in `static/`: `js/main.js` starts the plane.
"""

from __future__ import annotations

from typing import Any

__all__ = ["widget"]


def widget(K: Any = None, V: Any = None, q: Any = None, *, height: int = 900) -> Any:
    """The plane in a notebook cell, with your keys, values and query or queries: see
    `headwright.lab.notebook`."""
    from headwright.lab.notebook import Frame

    return Frame(K, V, q, height=height)
