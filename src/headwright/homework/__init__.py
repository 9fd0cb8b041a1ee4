"""Check: written answers about attention, judged by computation.

document -> segments -> statements -> located answers -> tests -> verdicts
"""

from __future__ import annotations

from headwright.homework.pipeline import check, judge_document
from headwright.homework.verdict import Report, Span, Verdict

__all__ = ["Report", "Span", "Verdict", "check", "judge_document"]
