"""A result in a notebook's cell: one sentence and a small table. No colours of its own: the light
or dark page of the notebook gives them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MOST_ROWS = 12


def cell(
    sentence: str, rows: Iterable[Sequence[str]], *, header: Sequence[str] = (), more: int = 0
) -> str:
    """Everything is escaped. The first entry of a row names it; `more` rows were left out."""
    named = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    head = f"<thead><tr>{named}</tr></thead>" if header else ""
    lines = "".join(_line(row) for row in rows)
    table = f"<table>{head}<tbody>{lines}</tbody></table>" if lines else ""
    rest = f"<p>{more} more</p>" if more > 0 else ""
    return f"<div><p>{escape(sentence)}</p>{table}{rest}</div>"


def _line(row: Sequence[str]) -> str:
    name, *others = row
    cells = "".join(f'<td style="text-align:left">{escape(text)}</td>' for text in others)
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'
