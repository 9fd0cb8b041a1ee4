"""The page's data, each document under its address: presets, stations, colours, head cards.

One table serves both the server and `--export`: what the server answers is what the export writes.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

from headwright.report import style
from headwright.report.formula import formula

HERE: Traversable = files("headwright.lab")
STATIC = HERE / "static"
HEADS = 6


def documents(*, engine: bool) -> dict[str, Callable[[], bytes]]:
    """Address -> maker of its bytes. `engine` says whether Python answers behind the page."""
    made: dict[str, Callable[[], bytes]] = {
        "data/site.json": lambda: _json(
            {"engine": engine, "presets": presets(), "stations": stations()}
        ),
        "data/cards.json": lambda: (HERE / "cards.json").read_bytes(),
        "css/roles.css": lambda: roles().encode(),
    }
    for station in stations():
        made[station["fragment"]] = lambda number=station["number"]: fragment(number).encode()
    return made


def _json(thing: Any) -> bytes:
    text = json.dumps(thing, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A third of the document is "0.0" in identity matrices; to a browser 0 is the same number.
    return re.sub(r"(?<=[\[,:])(-?\d+)\.0(?=[,\]}])", r"\1", text).encode()


def roles() -> str:
    """The house palette as CSS: `--key` and friends, `--head-1` and on; one source for prose and
    pictures."""
    colours = {**style.ROLES, **{f"head-{i + 1}": c for i, c in enumerate(style.HEADS[:HEADS])}}
    lines = [f"  --{name}: {colour};" for name, colour in colours.items()]
    return "\n".join([":root {", *lines, "}", ""])


@lru_cache(maxsize=1)
def presets() -> dict[str, dict[str, Any]]:
    """Every preset as a whole state of the page."""
    table = tomllib.loads((HERE / "presets.toml").read_text(encoding="utf-8"))
    return {name: _state(name, entry) for name, entry in table.items()}


_KEYS: dict[str, Callable[[Any], np.ndarray]] = {
    "orthonormal": np.eye,
    "clock": lambda n: np.column_stack([np.cos(np.arange(n)), np.sin(np.arange(n))]),
    "keys": lambda rows: np.array(rows, dtype=float),
}


def _state(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    keys = next(make(entry[word]) for word, make in _KEYS.items() if word in entry)
    n = len(keys)
    values = np.array(entry["values"], dtype=float) if "values" in entry else _circle(n)
    names = [chr(97 + i) if i < 26 else f"k{i}" for i in range(n)]
    heads = [
        sum(share * keys[names.index(key)] for key, share in head.items())
        for head in entry["heads"]
    ]
    return {
        "preset": name,
        "title": entry["title"],
        "names": names,
        "keys": keys.tolist(),
        "values": values.tolist(),
        "directions": np.round(np.array(heads), 12).tolist(),
        "mix": [1 / len(heads)] * len(heads),
        "sharpness": float(entry.get("sharpness", 1.0)),
        "scale": float(entry.get("scale", 1.0)),
        "isotropic": float(entry.get("isotropic", 0.0)),
        "radial": [float(entry.get("radial", {}).get(key, 0.0)) for key in names],
        "seed": 1,
        "samples": 2000,
        "focus": 0,
        "compare": bool(entry.get("compare", False)),
        "station": 0,
    }


def _circle(n: int) -> np.ndarray:
    """Values evenly on a circle, the first two at its left and right so that a and b are easy to
    tell apart."""
    order = [0, n // 2, *(i for i in range(1, n) if i != n // 2)] if n > 2 else list(range(n))
    angle = np.pi - 2 * np.pi * np.array(order) / n
    return np.round(np.column_stack([np.cos(angle), np.sin(angle)]), 4)


@lru_cache(maxsize=1)
def stations() -> list[dict[str, Any]]:
    """The numbered cards in order, without their texts."""
    found = sorted(
        (f for f in (HERE / "stations").iterdir() if f.name.endswith(".md")), key=lambda f: f.name
    )
    return [
        {**_parts(file)[0], "number": number, "fragment": f"stations/{number:02d}.html"}
        for number, file in enumerate(found, start=1)
    ]


def _parts(file: Traversable) -> tuple[dict[str, Any], str]:
    """A station file is TOML between `+++` lines, then Markdown."""
    _, front, text = file.read_text(encoding="utf-8").split("+++\n", 2)
    return tomllib.loads(front), text


@lru_cache(maxsize=64)
def fragment(number: int) -> str:
    """A station's text as HTML: our own Markdown, formulas typeset, role words in their role's
    colour."""
    found = sorted(
        (f for f in (HERE / "stations").iterdir() if f.name.endswith(".md")), key=lambda f: f.name
    )
    return _renderer().render(_parts(found[number - 1])[1])


@lru_cache(maxsize=1)
def _renderer() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.attrs import attrs_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.use(dollarmath_plugin, renderer=_typeset)
    reader.use(attrs_plugin, spans=True, allowed=["class"])
    return reader


def _typeset(latex: str, options: dict[str, Any]) -> str:
    """Inline styles are forbidden on this page: how far a formula hangs below the line travels as
    data."""
    drawing = formula(latex, size=19.0 if options.get("display_mode") else 16.0)
    return re.sub(r'style="vertical-align:-?([\d.]+)px"', r'data-drop="\1"', drawing, count=1)
