"""The page's data, each document under its address: presets, stations, limits, colours, head cards.

One table serves both the server and `--export`: what the server answers is what the export writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from headwright.lab import limits
from headwright.lab.presets import presets
from headwright.lab.stations import fragment, lab_stations
from headwright.report import style

HERE: Traversable = files("headwright.lab")
STATIC = HERE / "static"


def documents(*, engine: bool) -> dict[str, Callable[[], bytes]]:
    """Address -> maker of its bytes. `engine` says whether Python answers behind the page."""
    made: dict[str, Callable[[], bytes]] = {
        "data/site.json": lambda: _json(_site(engine=engine)),
        "data/cards.json": lambda: (HERE / "cards.json").read_bytes(),
        "css/roles.css": lambda: roles().encode(),
    }
    for card in lab_stations():
        made[card["fragment"]] = lambda number=card["number"]: fragment(number).encode()
    return made


def _site(*, engine: bool) -> dict[str, Any]:
    return {
        "engine": engine,
        "limits": limits.PAGE,
        "presets": presets(),
        "stations": lab_stations(),
    }


def _json(thing: Any) -> bytes:
    text = json.dumps(thing, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A third of the document is "0.0" in identity matrices; to a browser 0 is the same number.
    return re.sub(r"(?<=[\[,:])(-?\d+)\.0(?=[,\]}])", r"\1", text).encode()


def roles() -> str:
    """The house palette as CSS: `--key` and friends, `--head-1` and on; one source for prose and
    pictures."""
    heads = style.HEADS[: limits.PAGE["heads"]]
    colours = dict(style.ROLES)
    for number, colour in enumerate(heads, start=1):
        colours[f"head-{number}"] = colour

    lines = [f"  --{name}: {colour};" for name, colour in colours.items()]
    return "\n".join([":root {", *lines, "}", ""])
