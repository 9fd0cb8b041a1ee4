"""The small pictures of the report: a map of all heads per measure, and one head's binned weights.

A map is SVG, one cell per head. A head's weights are one tiny PNG whose opacity is the weight, so
that a report of hundreds of heads stays light and shows on white and on black. Rejected: SVG cells
for the weights, a quarter of a million nodes on a small model.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape

import numpy as np

from headwright.report.style import ROLES
from headwright.trained.cards import Card
from headwright.types import Float

_CELL = 11


def head_map(cards: Sequence[Card], measure: str, title: str) -> str:
    """Layers down, heads across; the fuller the cell, the larger the number. Cells link to the
    cards."""
    values = np.asarray([card.measures[measure] for card in cards])
    known = values[np.isfinite(values)]
    if not known.size:
        return ""
    low, high = _range(known)
    lines = dict.fromkeys((card.stack, card.layer) for card in cards)
    line_of = {place: i for i, place in enumerate(lines)}

    cells = []
    for card, value in zip(cards, values, strict=True):
        if np.isfinite(value):
            level = (value - low) / (high - low)
            cells.append(_cell(card, line_of[card.stack, card.layer], measure, level))

    heads = max(card.head for card in cards) + 1
    width = heads * _CELL
    height = len(lines) * _CELL
    label = f"{escape(title, quote=True)}: from {low:.3g} to {high:.3g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{label}" '
        f'fill="{ROLES["key"]}">{"".join(cells)}</svg>'
    )


def _range(known: np.ndarray) -> tuple[float, float]:
    low = float(known.min())
    high = float(known.max())
    # Shares are shown from 0 to 1, so that maps of two models can be compared.
    if low >= 0.0 and high <= 1.0:
        return 0.0, 1.0
    if low == high:
        return low, low + 1.0
    return low, high


def _cell(card: Card, line: int, measure: str, level: float) -> str:
    x = card.head * _CELL
    y = line * _CELL
    side = _CELL - 1
    opacity = 0.06 + 0.94 * level  # the smallest number still shows
    text = escape(f"{card.name}: {card.measures[measure]:.3g}")
    return (
        f'<a href="#{anchor(card)}"><rect x="{x}" y="{y}" width="{side}" height="{side}" '
        f'fill-opacity="{opacity:.2f}"><title>{text}</title></rect></a>'
    )


def anchor(card: Card) -> str:
    return f"{card.stack}-{card.layer}-{card.head}"


def weights_image(picture: Float[np.ndarray, "a b"], name: str) -> str:
    """`<img>` of the binned weights: queries down, keys across. The square root lets small weights
    show."""
    opacity = np.round(255 * np.sqrt(np.clip(picture, 0.0, 1.0)))
    png = _png(opacity.astype(np.uint8), ROLES["key"])
    data = base64.b64encode(png).decode()
    return (
        f'<img class="weights" src="data:image/png;base64,{data}" width="128" height="128" '
        f'alt="weights of head {escape(name, quote=True)}, binned: queries down, keys across">'
    )


def _png(opacity: np.ndarray, colour: str) -> bytes:
    """One colour at given opacities, as a PNG of palette indices: 256 shades of the same ink."""
    ink = bytes.fromhex(colour.removeprefix("#"))
    height, width = opacity.shape
    # Each line begins with the number of its filter: none.
    lines = b"".join(b"\0" + row.tobytes() for row in opacity)
    # Eight bits per pixel, which are indices of a palette.
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n"
    png += _chunk(b"IHDR", header)
    png += _chunk(b"PLTE", ink * 256)
    png += _chunk(b"tRNS", bytes(range(256)))
    png += _chunk(b"IDAT", zlib.compress(lines, 9))
    png += _chunk(b"IEND", b"")
    return png


def _chunk(kind: bytes, data: bytes) -> bytes:
    """As the format frames it: length, kind, data, checksum."""
    length = struct.pack(">I", len(data))
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return length + kind + data + checksum
