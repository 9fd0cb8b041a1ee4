"""The numbers that the page's scripts draw from, once for all: maps, table and cards of thousands
of heads would be a hundred times as long."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headwright.report.style import ROLES
from headwright.trained.cards import Card, columns, title
from headwright.trained.findings.remarkable import Remarkable
from headwright.trained.page.tokens import pack, passage_plain, thinned
from headwright.trained.passage.looks import Passage
from headwright.types import Float

# Bytes of the page that the pictures may take; beyond it they are drawn with half the cells a side.
_PICTURES = 2**21
_SHADES = 15


def payload(
    cards: Sequence[Card], passages: Mapping[str, Passage], found: Remarkable
) -> dict[str, Any]:
    names = [name for name in columns(cards) if _measured(cards, name)]
    looked = thinned(cards, passages)
    number_of = {card.place: i for i, card in enumerate(cards)}
    remarkable = {number_of[one.card.place]: one.why for one in found.heads}
    others = [i for i in range(len(cards)) if i not in remarkable]
    return {
        "ink": ROLES["key"],
        "measures": [_about(name) for name in names],
        "shown": _first_shown(found, names),
        "heads": [[card.stack, card.layer, card.head, card.sentence] for card in cards],
        "why": remarkable,
        "order": [*remarkable, *others],
        "numbers": {name: _digits(card.measures[name] for card in cards) for name in names},
        "errors": _errors(cards, names),
        "pictures": _pictures(cards),
        "passages": {stack: passage_plain(one) for stack, one in looked.passages.items()},
        "looks": pack(looked.looks),
    }


def _measured(cards: Sequence[Card], name: str) -> bool:
    return any(np.isfinite(card.measures[name]) for card in cards)


def _about(name: str) -> dict[str, str]:
    called, meaning = title(name)
    return {"name": name, "title": called, "meaning": meaning}


def _first_shown(found: Remarkable, names: Sequence[str]) -> str:
    """The map shown first is that of the first sentence."""
    measure = found.findings[0].numbers.get("measure", "")
    return measure if measure in names else names[0]


def _digits(values: Any) -> list[float | None]:
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values]


def _errors(cards: Sequence[Card], names: Sequence[str]) -> dict[str, list[float | None]]:
    known = [name for name in names if any(name in card.errors for card in cards)]
    return {name: _digits(card.errors.get(name, np.nan) for card in cards) for name in known}


def _pictures(cards: Sequence[Card]) -> list[list[Any] | None]:
    pictures = [card.picture for card in cards]
    cells = sum(picture.size for picture in pictures if picture is not None)
    coarse = cells * 2 / 3 > _PICTURES  # half a byte a cell, and 4 letters for 3 bytes
    return [None if one is None else _packed(_halved(one) if coarse else one) for one in pictures]


def _halved(picture: Float[np.ndarray, "a b"]) -> Float[np.ndarray, "c d"]:
    """Neighbouring queries averaged, neighbouring keys added up."""
    rows = np.arange(0, picture.shape[0], 2)
    counts = np.diff([*rows, picture.shape[0]])[:, None]
    fewer = np.add.reduceat(picture, rows, axis=0) / counts
    return np.add.reduceat(fewer, np.arange(0, picture.shape[1], 2), axis=1)


def _packed(picture: Float[np.ndarray, "a b"]) -> list[Any]:
    """Height, width and 16 shades, two to a byte. The square root lets small weights show."""
    shades = np.round(_SHADES * np.sqrt(np.clip(picture, 0.0, 1.0))).astype(np.uint8).ravel()
    if shades.size % 2:
        shades = np.append(shades, np.uint8(0))
    pairs = shades[::2] << 4 | shades[1::2]
    return [*picture.shape, base64.b64encode(pairs.tobytes()).decode()]
