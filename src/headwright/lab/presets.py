"""The settings people start from (presets.toml), each as a whole state of the page."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

_LETTERS = 26
# How the keys of a preset may be given
_KEYS: dict[str, Callable[[Any], np.ndarray]] = {
    "orthonormal": np.eye,
    "clock": lambda n: _clock(n),
    "keys": lambda rows: np.array(rows, dtype=float),
}


@lru_cache(maxsize=1)
def presets() -> dict[str, dict[str, Any]]:
    """Every preset by name."""
    source = files("headwright.lab") / "presets.toml"
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    return {name: _state(name, entry) for name, entry in table.items()}


def _state(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    keys = next(make(entry[word]) for word, make in _KEYS.items() if word in entry)
    n = len(keys)
    names = [chr(ord("a") + i) if i < _LETTERS else f"k{i}" for i in range(n)]
    values = np.array(entry["values"], dtype=float) if "values" in entry else _circle(n)
    directions = np.array([_direction(head, keys, names) for head in entry["heads"]])
    h = len(directions)
    radial = entry.get("radial", {})
    return {
        "preset": name,
        "title": entry["title"],
        "names": names,
        "keys": keys.tolist(),
        "values": values.tolist(),
        "directions": np.round(directions, 12).tolist(),
        "mix": [1 / h] * h,
        "sharpness": float(entry.get("sharpness", 1.0)),
        "scale": float(entry.get("scale", 1.0)),
        "isotropic": float(entry.get("isotropic", 0.0)),
        "radial": [float(radial.get(key, 0.0)) for key in names],
        "seed": 1,
        "samples": 2000,
        "focus": 0,
        "compare": bool(entry.get("compare", False)),
        "station": 0,
    }


def _direction(head: dict[str, float], keys: np.ndarray, names: list[str]) -> Any:
    """A head as a sum of keys: {a = 1, b = 0.5}."""
    return sum(share * keys[names.index(key)] for key, share in head.items())


def _clock(n: int) -> np.ndarray:
    """Positions (cos t, sin t), with as many digits as an address should have."""
    t = np.arange(n)
    return np.round(np.column_stack([np.cos(t), np.sin(t)]), 6)


def _circle(n: int) -> np.ndarray:
    """Values evenly on a circle, the first two at its left and right so that a and b are easy to
    tell apart."""
    order = list(range(n))
    if n > 2:
        opposite = order.pop(n // 2)
        order.insert(1, opposite)

    angle = np.pi - 2 * np.pi * np.array(order) / n
    return np.round(np.column_stack([np.cos(angle), np.sin(angle)]), 4)
