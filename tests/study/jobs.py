"""Functions that the tests of studies call, in processes of their own."""

import math
import os


def product(x: int, y: float = 2.0) -> dict[str, float]:
    """What two numbers make together."""
    return {"product": x * y, "large": x > 1}


def uneven(x: int) -> dict[str, float]:
    """Other names in other rows."""
    if x % 2:
        return {"odd": math.nan, "zeros": -0.0}
    return {"even": 0.1 * x}


def raising(x: int) -> dict[str, float]:
    if x == 2:
        raise ValueError("no\ntwos")
    return {"half": x / 2}


def mended(x: int, file: str) -> dict[str, float]:
    """Fails until somebody makes the file."""
    if x == 2 and not os.path.exists(file):
        raise FileNotFoundError(file)
    return {"half": x / 2}


def not_numbers(x: int):
    return [{"a": 1}, {"a": "one"}, {"a": [1]}, None, {"x": 1}, {"error": 1}, {}, {"a": 1j}, 3][x]


def anything(**parameters: float) -> dict[str, float]:
    return {"count": len(parameters)}


def by_position(x: int, /) -> dict[str, float]:
    return {"x": x}


NO_FUNCTION = 3
