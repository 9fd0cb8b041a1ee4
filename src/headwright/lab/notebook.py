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
from headwright.lab import limits
from headwright.lab.serve import serving


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
        size = f'width="100%" height="{self.height}"'
        return f'<iframe src="{source}" {size} title="headwright lab"></iframe>'

    def __repr__(self) -> str:
        return f"headwright lab at {self.address}"


def state(K: Any, V: Any = None, q: Any = None) -> str:
    """Keys, values and queries in the language of the page's address. Without V the first two
    coordinates of the keys are the values, without q the first key is the query."""
    keys, values, queries = _arrays(K, V, q)
    n, d = inputs.shape("K", keys, "n", "d").shape
    _fits(n, d)

    values = keys[:, :2] if values is None else inputs.shape("V", values, n, "v")
    queries = np.atleast_2d(keys[0] if queries is None else queries)
    inputs.shape("q", queries, "h", d)
    heads = limits.PAGE["heads"]
    if len(queries) > heads:
        raise InputError(
            wanted=f"at most {heads} heads", got=f"{len(queries)}", attempt="show some of them"
        )

    # The page writes a query as direction times sharpness; arrows about as long as the keys are
    # easy to hold.
    typical = float(np.linalg.norm(keys, axis=1).mean()) or 1.0
    longest = float(np.linalg.norm(queries, axis=1).max())
    beta = longest / typical or 1.0
    fields = {
        "k": _rows(keys),
        "v": _rows(values),
        "q": _rows(queries / beta),
        "beta": _written(beta),
    }
    return "#preset=plane&" + "&".join(f"{name}={text}" for name, text in fields.items())


def _arrays(K: Any, V: Any, q: Any) -> tuple[Any, Any, Any]:
    """Arrays of one kind; what was not given stays None."""
    given = {name: x for name, x in (("K", K), ("V", V), ("q", q)) if x is not None}
    _, made = inputs.arrays(**given)
    arrays = dict(zip(given, made, strict=True))
    return arrays["K"], arrays.get("V"), arrays.get("q")


def _fits(n: int, d: int) -> None:
    most_keys = limits.PAGE["keys"]
    most_coordinates = limits.PAGE["dimension"]
    if not (n <= most_keys and 2 <= d <= most_coordinates):
        raise InputError(
            wanted=f"at most {most_keys} keys of 2 to {most_coordinates} coordinates",
            got=f"{n} of {d}",
            attempt="show a part of them",
        )


def _rows(matrix: Any) -> str:
    rows = [",".join(_written(x) for x in row) for row in matrix]
    return ";".join(rows)


def _written(x: float) -> str:
    """Nine digits are enough for any picture, and the address stays readable."""
    return f"{float(x):.9g}"
