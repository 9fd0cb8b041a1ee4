"""Check: written answers about attention, judged by computation.

The way of a document: `batch` (check one, judge many) -> a process of the crew ->
`judging_process` (its job) -> `one_document` -> `reading/` (segments) -> `meaning/` (statements) ->
`locating/` (whose answer is this) -> `one_answer` -> `judges/` (computed in `scenes/`) ->
`verdict`. Results leave by `showing/` (pages, tables, quotes), and `limits` says what one document
may cost.

The judges are imported where documents are judged, in the processes, not in the one that asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwright.homework.verdict import Report, Span, Verdict

if TYPE_CHECKING:
    from headwright.homework.batch import check

__all__ = ["Report", "Span", "Verdict", "check"]


def __getattr__(name: str) -> Any:
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headwright.homework.batch import check  # the side that asks, which no judge needs

    return check
