"""The results.json of PrairieLearn's external graders.

A test has no status there: it is green when its points are all it has. So an answer that nobody has
read shows no points, whatever the rubric gives for it, and a question without points is a line of
text. There is no visibility either: a test that is not for the student's eyes is left out, although
it counts. `gradable: false` costs the student no attempt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headwright.course.marks import Graded, Mark
from headwright.course.packs import told
from headwright.homework.verdict import WHOLE, Verdict


def results(
    graded: Graded,
    titles: Mapping[str, str],
    extra: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """One submission; `extra` is kept by the platform with it, `notes` are for the student."""
    verdicts = {verdict.question: verdict for verdict in graded.report.verdicts}
    shown = [mark for mark in graded.marks if mark.visibility == told.VISIBLE]
    counted = [mark for mark in shown if mark.max_points]
    lines = [*told.opening(graded), *notes]
    for mark in shown:
        if not mark.max_points:
            said = told.sentences(mark, verdicts.get(mark.question))
            lines.append(f"{told.name(mark, titles)}: {said[0]}")
    texts = len(counted) + 1
    unread = [verdict.reason for verdict in graded.report.verdicts if verdict.question == WHOLE]
    return {
        "gradable": not unread,
        "score": graded.points / graded.max_points if graded.max_points else 0.0,
        "message": told.text(lines, texts),
        "format_errors": [told.text([reason], texts) for reason in unread],
        "tests": [_test(mark, verdicts.get(mark.question), titles, texts) for mark in counted],
        "extra_data": dict(extra or {}),
    }


def not_graded(reason: str, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The checker failed, not the student; nothing is green, and no attempt is lost."""
    said = told.text([reason])
    return {
        "gradable": False,
        "score": 0.0,
        "message": said,
        "format_errors": [said],
        "tests": [],
        "extra_data": dict(extra or {}),
    }


def _test(
    mark: Mark, verdict: Verdict | None, titles: Mapping[str, str], texts: int
) -> dict[str, Any]:
    first, *more = told.sentences(mark, verdict)
    if told.waits(mark) and mark.points:
        first = f"{first} ({mark.points:g} points are in the score until then)"
    return {
        "name": told.text([told.name(mark, titles)], texts),
        "points": 0.0 if told.waits(mark) else mark.points,
        "max_points": mark.max_points,
        "message": told.text([first], texts),
        "output": told.text(more, texts),
    }
