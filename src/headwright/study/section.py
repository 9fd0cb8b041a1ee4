"""One part of a study's page: what it says, the figure it shows, the small table under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# The finished rows of a study, in the grid's order: parameters and numbers by name.
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Section:
    """Plain text: nothing here is HTML, and `$...$` is a formula."""

    title: str
    text: str = ""  # paragraphs, with an empty line between two
    quote: str = ""  # the one sentence that somebody would quote
    figure: str = ""  # a name that `figures(rows)` has
    caption: str = ""
    table: Sequence[Mapping[str, Any]] = ()  # a few rows with the same names; numbers or words
