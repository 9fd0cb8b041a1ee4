"""Shares in words and as bars. The full width of a bar is the whole class, always."""

from __future__ import annotations

from collections import Counter

from headwright.homework.showing.exports import STATUSES


def percent(part: int, whole: int) -> str:
    """Rounded, but never to nothing or to everything. Its spaces do not break."""
    rounded = round(100 * part / whole)
    said = f"{rounded}%"
    if rounded == 0 and part:
        said = "< 1%"
    if rounded == 100 and part < whole:
        said = "> 99%"
    return said.replace(" ", "\N{NO-BREAK SPACE}")


def counted_share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({percent(part, whole)})"


def bar(part: int, whole: int) -> str:
    width = 100 * part / whole if whole else 0.0
    return f'<div class="bar"><i style="width:{width:.4g}%"></i></div>'


def status_bar(counts: Counter[str], whole: int) -> str:
    """A piece for every status; hand-ins that were not asked leave the bar's end empty."""
    pieces = []
    for status in STATUSES:
        if counts[status]:
            said = f"{counts[status]} {status}"
            width = f"width:{100 * counts[status] / whole:.4g}%"
            pieces.append(f'<i class="s-{status}" style="{width}" title="{said}"></i>')
    return f'<div class="bar">{"".join(pieces)}</div>'
