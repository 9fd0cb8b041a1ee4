"""The parts of a model, a line for neighbours of which the same was found: layers in one
implementation of attention, and the model as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

from headwright.probes.finding import BROKEN, UNCLEAR
from headwright.probes.page.ranges import runs


class Line(NamedTuple):
    """What was found of some parts that are alike."""

    name: str
    pattern: str
    broken: str
    unclear: str


def lines(parts: Sequence[Any]) -> list[Line]:
    """In the order of the model."""
    made = []
    for (stack, implementation, whole, *found), alike in groupby(parts, _kind):
        numbers = [part.layer for part in alike]
        name = f"the whole {stack}" if whole else f"{_prefix(stack)}{_layers(numbers)}"
        made.append(Line(f"{name}, {implementation}", *found))
    return made


def _kind(part: Any) -> tuple[Any, ...]:
    record = part.record
    broken = ", ".join(record.with_status(BROKEN))
    unclear = ", ".join(record.with_status(UNCLEAR))
    whole = part.layer is None
    return (part.stack, part.implementation, whole, record.pattern, broken, unclear)


def _prefix(stack: str) -> str:
    return "" if stack == "model" else f"{stack} "


def _layers(numbers: list[int]) -> str:
    return f"layer{'s' * (len(numbers) > 1)} {runs(numbers)}"


def parts_section(parts: Sequence[Any]) -> str:
    """As a section of the page; empty for a layer that is no model."""
    if not parts:
        return ""
    rows = "".join(_row(line) for line in lines(parts))
    head = "<tr><th>part</th><th>pattern</th><th>broken</th><th>unclear</th></tr>"
    said = "Layers of which the same was found share a line; layer 0 is the first."
    return (
        f'<section><h2>Layers</h2><div class="wide"><table>{head}{rows}</table></div>'
        f'<p class="soft">{said}</p></section>'
    )


def _row(line: Line) -> str:
    marks = {"no": line.broken, "maybe": line.unclear}
    cells = [
        f'<td class="{kind if words else "soft"}">{escape(words) or "–"}</td>'
        for kind, words in marks.items()
    ]
    return f"<tr><td>{escape(line.name)}</td><td>{escape(line.pattern)}</td>{''.join(cells)}</tr>"
