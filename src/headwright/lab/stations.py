"""The numbered cards beside the plane: the exercise's text, and what the lab adds to it.

Title and text are those of `headwright.exercise.stations`; goal, starting state, conditions and
things to try are in stations.toml, under the same slug.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from headwright.exercise.stations import StationText, station_texts
from headwright.report.formula import formula

# Formulas in a line of text, and on a line of their own, in pixels
_INLINE_SIZE = 16.0
_DISPLAY_SIZE = 19.0


@lru_cache(maxsize=1)
def _own() -> dict[str, dict[str, Any]]:
    """What the lab adds, by slug."""
    source = files("headwright.lab") / "stations.toml"
    return tomllib.loads(source.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def lab_stations() -> list[dict[str, Any]]:
    """The cards in order, without their texts."""
    return [_card(text) for text in station_texts()]


def _card(text: StationText) -> dict[str, Any]:
    own = _own()[text.slug]
    return {
        "title": text.title,
        "goal": own["goal"],
        "state": own["state"],
        "conditions": own["conditions"],
        "number": text.number,
        "fragment": f"stations/{text.number:02d}.html",
    }


@lru_cache(maxsize=64)
def fragment(number: int) -> str:
    """A card's text as HTML: our own Markdown, formulas typeset, role words in their role's
    colour."""
    text = station_texts()[number - 1]
    return _renderer().render(_markdown(text))


def _markdown(text: StationText) -> str:
    remedies = [f"* {remedy}" for remedy in text.remedies]
    parts = [
        text.idea,
        f"$$\n{text.formula}\n$$",
        text.notice,
        "\n".join(remedies),
        _own()[text.slug].get("try", ""),
    ]
    return "\n\n".join(part.strip() for part in parts)


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
    size = _DISPLAY_SIZE if options.get("display_mode") else _INLINE_SIZE
    drawing = formula(latex, size=size)
    return re.sub(r'style="vertical-align:-?([\d.]+)px"', r'data-drop="\1"', drawing, count=1)
