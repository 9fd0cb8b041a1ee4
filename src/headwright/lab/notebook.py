"""The lab inside a notebook: a frame around the very page that `headwright lab` serves, from a
server in this process.

Rejected: anywidget. A cell takes one module and the page is many that import each other, so it
would need a bundler or its imports rewritten as text. The price: the notebook must run on the
machine of the browser.
"""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.lab.serve import serving

MOST_KEYS, MOST_COORDINATES, MOST_HEADS = 64, 64, 6  # what the page's own limits are (js/state.js)


@lru_cache(maxsize=1)
def _address() -> str:
    """One server for all cells, ended with the process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(serving(framed=True))


class Frame:
    """What a notebook shows as the last line of a cell; `address` opens in any tab of the same
    machine."""

    def __init__(self, K: Any = None, V: Any = None, q: Any = None, *, height: int = 900) -> None:
        self.address = _address() + ("" if K is None else state(K, V, q))
        self.height = int(inputs.number("height", height, low=100, high=10_000))

    def _repr_html_(self) -> str:
        source = escape(self.address, quote=True)
        return f'<iframe src="{source}" width="100%" height="{self.height}" title="headwright lab"></iframe>'

    def __repr__(self) -> str:
        return f"headwright lab at {self.address}"


def state(K: Any, V: Any = None, q: Any = None) -> str:
    """Keys, values and queries in the language of the page's address. Without V the first two
    coordinates of the keys are the values, without q the first key is the query."""
    given = {"K": K} | {name: x for name, x in (("V", V), ("q", q)) if x is not None}
    _, made = inputs.arrays(**given)
    K, V, q = (dict(zip(given, made, strict=True)).get(name) for name in ("K", "V", "q"))
    n, d = inputs.shape("K", K, "n", "d").shape
    if not (n <= MOST_KEYS and 2 <= d <= MOST_COORDINATES):
        raise InputError(
            wanted=f"at most {MOST_KEYS} keys of 2 to {MOST_COORDINATES} coordinates",
            got=f"{n} of {d}",
            attempt="show a part of them",
        )
    V = K[:, :2] if V is None else inputs.shape("V", V, n, "v")
    Q = np.atleast_2d(K[0] if q is None else q)
    inputs.shape("q", Q, "h", d)
    if len(Q) > MOST_HEADS:
        raise InputError(
            wanted=f"at most {MOST_HEADS} heads", got=f"{len(Q)}", attempt="show some of them"
        )
    # The page writes a query as direction times sharpness; arrows about as long as the keys are
    # easy to hold.
    typical = float(np.linalg.norm(K, axis=1).mean()) or 1.0
    beta = float(np.linalg.norm(Q, axis=1).max()) / typical or 1.0
    fields = {"k": _rows(K), "v": _rows(V), "q": _rows(Q / beta), "beta": repr(beta)}
    return "#preset=plane&" + "&".join(f"{name}={text}" for name, text in fields.items())


def _rows(matrix: Any) -> str:
    return ";".join(",".join(repr(float(x)) for x in row) for row in matrix)
