"""An audit read back from its JSON, to compare another with: its heads and their numbers, nothing
else.

A file is believed in what it can be checked for: heads with places, and numbers that are numbers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.trained.cards import Card
from headwright.trained.measures.chance import Chance

_PLACE = ("layer", "head")
_WRITE = "headwright audit MODEL --text FILE --json > audit.json"


@dataclass(frozen=True)
class SavedAudit:
    """What comparing needs of an audit; `fingerprint` tells whether two read the same texts."""

    model: str
    fingerprint: str
    cards: tuple[Card, ...]

    def __repr__(self) -> str:
        return f"<SavedAudit of {self.model}: {len(self.cards)} heads>"


def read_saved(path: Path) -> SavedAudit:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as reason:
        lines = str(reason).splitlines() or [type(reason).__name__]
        raise _refusal(f"{path.name}: {lines[0][:120]}") from None
    heads = data.get("heads") if isinstance(data, dict) else None
    if not isinstance(heads, list) or not heads:
        raise _refusal(f"{path.name}, which has no heads")
    cards = [_card(head, i, path.name) for i, head in enumerate(heads)]
    cards.sort(key=lambda card: card.place)
    return SavedAudit(
        model=str(data.get("model", path.name)),
        fingerprint=str(data.get("texts_fingerprint", "")),
        cards=tuple(cards),
    )


def _refusal(got: str) -> InputError:
    return InputError(wanted="an audit as --json writes it", got=got, attempt=_WRITE)


def _card(head: Any, i: int, file: str) -> Card:
    if not isinstance(head, dict) or not all(_is_whole(head.get(name)) for name in _PLACE):
        raise _refusal(f"{file}, whose head number {i} has no layer or head")
    numbers = {name: x for name, x in head.items() if name not in _PLACE and _is_number(x)}
    measures = {name: _value(x) for name, x in numbers.items() if not name.endswith("_se")}
    errors = {name[:-3]: _value(x) for name, x in numbers.items() if name.endswith("_se")}
    return Card(
        stack=str(head.get("stack", "model")),
        layer=head["layer"],
        head=head["head"],
        measures=measures,
        errors=errors,
        parts=_parts(head.get("parts")),
        chance=_rows(head.get("rows")),
    )


def _is_whole(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool)


def _is_number(x: Any) -> bool:
    return x is None or (isinstance(x, (int, float)) and not isinstance(x, bool))


def _is_list_of_numbers(x: Any) -> bool:
    return isinstance(x, list) and all(map(_is_number, x))


def _value(x: float | None) -> float:
    return float("nan") if x is None else float(x)


def _parts(found: Any) -> dict[str, np.ndarray]:
    """Measures by part; what is not a list of numbers is left out, and compared in another way."""
    if not isinstance(found, dict):
        return {}
    lists = {
        name: x for name, x in found.items() if isinstance(x, list) and all(map(_is_number, x))
    }
    return {name: np.asarray([_value(x) for x in values]) for name, values in lists.items()}


def _rows(found: Any) -> dict[str, Chance]:
    """Over how many queries a pattern was averaged; what equal weights gave is not saved."""
    if not isinstance(found, dict):
        return {}
    counts = {name: x for name, x in found.items() if _is_whole(x) and x > 0}
    return {name: Chance(float("nan"), rows) for name, rows in counts.items()}
