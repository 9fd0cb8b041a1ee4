"""Check: written answers about attention, judged by computation.

The way of a document: `batch` (check one, judge many) -> a process of the crew ->
`judging_process` (its job) -> `one_document` -> `reading/` (segments) -> `meaning/` (statements) ->
`locating/` (whose answer is this) -> `one_answer` -> `judges/` (computed in `scenes/`) ->
`verdict`. Results leave by `showing/` (pages, tables, quotes), and `limits` says what one document
may cost.

The judges are imported where documents are judged, in the processes, not in the one that asks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwright.homework.batch import check
    from headwright.homework.verdict import Report, Span, Verdict

# Public name -> module. `batch` is the side that asks, which no judge needs.
_HOME = {"Report": "verdict", "Span": "verdict", "Verdict": "verdict", "check": "batch"}

__all__ = ["Report", "Span", "Verdict", "check"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"headwright.homework.{_HOME[name]}"), name)
