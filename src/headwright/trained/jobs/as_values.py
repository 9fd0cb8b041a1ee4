"""What was gathered of a layer as plain values and back, bit for bit.

Whatever the parts of `Gathered` are made of, they are dataclasses of arrays, numbers, texts, lists,
tuples and dictionaries. Only classes that its annotations name are ever made from what is read.
"""

from __future__ import annotations

import dataclasses
import typing
from base64 import b64decode, b64encode
from functools import lru_cache
from typing import Any

import numpy as np

from headwright.result import to_numpy
from headwright.trained.gathering import Gathered

_PLAIN = (str, bool, int, float, type(None))


def written(thing: Any) -> Any:
    """Lists with a tag in front, which tells what they were. A dictionary is a list of pairs, for a
    store sorts names, and the order of measures is seen in every table."""
    if type(thing) in _PLAIN:
        return thing
    if isinstance(thing, list):
        return ["list", *map(written, thing)]
    if isinstance(thing, tuple):
        return ["tuple", *map(written, thing)]
    if isinstance(thing, dict):
        return ["dict", *([name, written(value)] for name, value in thing.items())]
    if dataclasses.is_dataclass(thing):
        return ["class", type(thing).__name__, written(vars(thing))]
    array = to_numpy(thing)
    data = b64encode(array.tobytes()).decode("ascii")
    return ["array", array.dtype.str, list(array.shape), data]


def read(plain: Any) -> Any:
    if not isinstance(plain, list):
        return plain
    tag, *rest = plain
    if tag == "array":
        kind, shape, data = rest
        # A copy: what comes from bytes cannot be written to.
        return np.frombuffer(b64decode(data), dtype=kind).reshape(shape).copy()
    if tag == "dict":
        return {name: read(value) for name, value in rest}
    if tag == "class":
        name, values = rest
        return _classes()[name](**read(values))
    return tuple(map(read, rest)) if tag == "tuple" else list(map(read, rest))


@lru_cache(maxsize=1)
def _classes() -> dict[str, type]:
    """By name: `Gathered` and what it is made of."""
    found: dict[str, type] = {}
    waiting: list[Any] = [Gathered]
    while waiting:
        kind = waiting.pop()
        waiting += typing.get_args(kind)
        if dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind not in found.values():
            found[kind.__name__] = kind
            waiting += typing.get_type_hints(kind).values()
    return found
