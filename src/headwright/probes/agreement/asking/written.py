"""Options of a call as Python, for scripts that repeat it."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from headwright.probes.layer.layer import Options


def written(options: Options) -> str:
    """`Options(...)` with what differs from the plain call; empty for that."""
    words = []
    for one in fields(options):
        value = getattr(options, one.name)
        if value is None or (value is False and one.default is False):
            continue
        text = array_written(value) if isinstance(value, np.ndarray) else repr(value)
        words.append(f"{one.name}={text}")
    return f"Options({', '.join(words)})" if words else ""


def call_written(name: str, options: Options) -> str:
    """A run of the layer on the input called `name`."""
    text = written(options)
    return f"layer.run({name}, {text})" if text else f"layer.run({name})"


def array_written(array: np.ndarray) -> str:
    """By a formula where the array has a usual one, so that scripts stay short."""
    if array.dtype != bool:
        return _by_rows(array.astype(int), "")
    if array.all():
        return f"np.ones({array.shape}, bool)"
    *_, t, n = array.shape
    if array.ndim == 4 and array.shape[:2] == (1, 1):
        flags = array[0, 0]
        if t == n and (flags == np.tril(np.ones((n, n), bool))).all():
            return f"np.tril(np.ones(({n}, {n}), bool))[None, None]"
        if (flags == flags[:1]).all():
            return f"np.tile({_by_rows(flags[0].astype(int), ', bool')}, ({t}, 1))[None, None]"
    return _by_rows(array.astype(int), ", bool")


def _by_rows(array: np.ndarray, dtype: str) -> str:
    """Texts that are alike are written once."""
    if array.ndim >= 2 and len(array) > 1 and (array == array[:1]).all():
        times = (len(array), *[1] * (array.ndim - 1))
        return f"np.tile(np.array({array[:1].tolist()}{dtype}), {times})"
    return f"np.array({array.tolist()}{dtype})"
