"""Check: written answers about attention, judged by computation.

document -> segments -> statements -> located answers -> tests -> verdicts
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwright.homework.batch import check
from headwright.homework.verdict import Report, Span, Verdict

if TYPE_CHECKING:
    from headwright.homework.pipeline import judge_document

__all__ = ["Report", "Span", "Verdict", "check", "judge_document"]


def __getattr__(name: str) -> Any:
    """The judges are imported where documents are judged: in the worker processes, not in the
    process that asks."""
    if name != "judge_document":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headwright.homework.pipeline import judge_document

    return judge_document
