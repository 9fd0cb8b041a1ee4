"""What depends on what, as a square of cells: output i in row i, token j in column j.

Filled: the output moves with the token. The line encloses what was expected; a cell on the wrong
side of it has a cross, in orange where the output sees too much and hollow where it misses a token.
"""

from __future__ import annotations

from html import escape
from itertools import product
from typing import Any

import numpy as np

from headwright.probes.page.ranges import runs
from headwright.report.style import ROLES

_LARGEST_CELL = 30
_SMALLEST_CELL = 7
_SIDE = 380  # of the square, in units of the page, where the cells would be larger or smaller
_LEFT = 46
_TOP = 40
_MOST_LABELS = 16


def dependency_svg(record: Any) -> str:
    """Inline SVG; empty where nothing is known."""
    depends = record.depends
    if depends is None or depends.size == 0:
        return ""
    rows, columns = depends.shape
    cell = int(np.clip(_SIDE // max(rows, columns), _SMALLEST_CELL, _LARGEST_CELL))
    width = _LEFT + columns * cell + 4
    height = _TOP + rows * cell + 4
    wanted = record.wanted
    drawn = [_cell(depends, wanted, i, j, cell) for i, j in product(range(rows), range(columns))]
    border = "" if wanted is None else _outline(wanted, cell)
    return (
        f'<svg role="img" aria-label="{escape(in_words(record), quote=True)}" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-size="11" fill="currentColor">{_axes(rows, columns, cell)}'
        f"{''.join(drawn)}{border}</svg>"
    )


def in_words(record: Any) -> str:
    """For those who hear the page."""
    rows = [np.flatnonzero(row).tolist() for row in record.depends]
    said = [f"output {i} depends on {runs(row) or 'no token'}" for i, row in enumerate(rows)]
    return "; ".join(said)


def legend(record: Any) -> str:
    """The signs that occur in this picture, and what they mean."""
    depends = record.depends
    wanted = record.wanted
    signs = [("key", "moves when the token changes"), ("none", "does not move")]
    if wanted is not None:
        signs.append(("line", f"expected: {record.asked.expect}"))
        if (depends & ~wanted).any():
            signs.append(("extra", "moves, and should not"))
        if (~depends & wanted).any():
            signs.append(("missing", "should move, and does not"))
    items = [f"<li>{_sign(kind)} {escape(words)}</li>" for kind, words in signs]
    return f'<ul class="legend">{"".join(items)}</ul>'


def _sign(kind: str) -> str:
    """One small cell."""
    inside = {
        "key": _square(1, 1, 14, ROLES["key"]),
        "none": _empty(1, 1, 14),
        "line": '<rect x="2" y="2" width="12" height="12" fill="none" stroke="currentColor" '
        'stroke-width="2"/>',
        "extra": _square(1, 1, 14, ROLES["bad"]) + _cross(1, 1, 14, "#fff"),
        "missing": _empty(1, 1, 14) + _cross(1, 1, 14, ROLES["bad"]),
    }
    return (
        f'<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">{inside[kind]}</svg>'
    )


def _cell(depends: np.ndarray, wanted: np.ndarray | None, i: int, j: int, cell: int) -> str:
    x = _LEFT + j * cell
    y = _TOP + i * cell
    seen = bool(depends[i, j])
    expected = seen if wanted is None else bool(wanted[i, j])
    if seen and expected:
        return _square(x, y, cell, ROLES["key"])
    if seen:
        return _square(x, y, cell, ROLES["bad"]) + _cross(x, y, cell, "#fff")
    if expected:
        return _empty(x, y, cell) + _cross(x, y, cell, ROLES["bad"])
    return _empty(x, y, cell)


def _square(x: float, y: float, cell: float, colour: str) -> str:
    gap = cell / 18
    side = cell - 2 * gap
    return (
        f'<rect x="{x + gap:.2f}" y="{y + gap:.2f}" width="{side:.2f}" height="{side:.2f}" '
        f'rx="{cell / 9:.2f}" fill="{colour}"/>'
    )


def _empty(x: float, y: float, cell: float) -> str:
    gap = cell / 18
    side = cell - 2 * gap
    return (
        f'<rect x="{x + gap:.2f}" y="{y + gap:.2f}" width="{side:.2f}" height="{side:.2f}" '
        f'rx="{cell / 9:.2f}" fill="currentColor" fill-opacity="0.07"/>'
    )


def _cross(x: float, y: float, cell: float, colour: str) -> str:
    low = cell * 0.3
    high = cell * 0.7
    return (
        f'<path d="M{x + low:.2f} {y + low:.2f}L{x + high:.2f} {y + high:.2f}'
        f'M{x + low:.2f} {y + high:.2f}L{x + high:.2f} {y + low:.2f}" stroke="{colour}" '
        f'stroke-width="{max(cell / 12, 1):.2f}" stroke-linecap="round" fill="none"/>'
    )


def _outline(wanted: np.ndarray, cell: int) -> str:
    """The line between what is expected and what is not: an edge wherever two cells differ."""
    padded = np.pad(wanted, 1, constant_values=False)
    across = padded[1:, 1:-1] != padded[:-1, 1:-1]  # edges below row i - 1
    down = padded[1:-1, 1:] != padded[1:-1, :-1]
    lines = [
        f"M{_LEFT + j * cell} {_TOP + i * cell}h{cell}" for i, j in np.argwhere(across).tolist()
    ]
    lines += [
        f"M{_LEFT + j * cell} {_TOP + i * cell}v{cell}" for i, j in np.argwhere(down).tolist()
    ]
    return (
        f'<path d="{"".join(lines)}" stroke="currentColor" stroke-width="1.8" '
        'stroke-linecap="square" fill="none"/>'
    )


def _axes(rows: int, columns: int, cell: int) -> str:
    """Numbers of tokens along both sides, every so many where they would touch."""
    step = max(1, -(-max(rows, columns) // _MOST_LABELS))
    middle = cell / 2
    top = [
        f'<text x="{_LEFT + j * cell + middle:.1f}" y="{_TOP - 7}" text-anchor="middle">{j}</text>'
        for j in range(0, columns, step)
    ]
    side = [
        f'<text x="{_LEFT - 7}" y="{_TOP + i * cell + middle + 4:.1f}" text-anchor="end">{i}</text>'
        for i in range(0, rows, step)
    ]
    center = _TOP + rows * cell / 2
    names = (
        f'<text x="{_LEFT}" y="14" font-weight="600">token</text>'
        f'<text transform="translate(14 {center:.1f}) rotate(-90)" text-anchor="middle" '
        'font-weight="600">output</text>'
    )
    return "".join([*top, *side, names])
