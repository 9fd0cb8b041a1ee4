"""The fourteen stations of the classic exercise: what the tour and the lab both teach.

One source, so that the two cannot teach different things. What only one of them has stays there,
under the station's slug: computed numbers and figures in the tour, goals and things to try in the
lab.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from headwright.errors import InputError


@dataclass(frozen=True)
class StationText:
    """One station. Texts are Markdown with formulas between dollars, `formula` is bare LaTeX;
    words may carry a role: `[key]{.key}`."""

    number: int
    slug: str
    title: str
    idea: str
    formula: str
    notice: str
    remedies: tuple[str, ...] = ()

    @property
    def claim(self) -> str:
        """The idea and its formula in one line, for readers without colours."""
        return f"{without_roles(self.idea)} ${self.formula}$"


@lru_cache(maxsize=1)
def station_texts() -> tuple[StationText, ...]:
    """All stations, in the order in which they are walked."""
    source = resources.files("headwright.exercise").joinpath("stations.toml")
    table = tomllib.loads(source.read_text("utf-8"))
    return tuple(
        StationText(number=number, **{**entry, "remedies": tuple(entry.get("remedies", ()))})
        for number, entry in enumerate(table["station"], start=1)
    )


def station_text(slug: str) -> StationText:
    """The station of this name."""
    for text in station_texts():
        if text.slug == slug:
            return text
    known = ", ".join(text.slug for text in station_texts())
    raise InputError(wanted="the slug of a station", got=repr(slug), attempt=f"one of {known}")


def without_roles(text: str) -> str:
    """The same words in one line, without the colours of their roles."""
    bare = re.sub(r"\[([^\]]+)\]\{\.\w+\}", r"\1", text)
    return " ".join(bare.split())
