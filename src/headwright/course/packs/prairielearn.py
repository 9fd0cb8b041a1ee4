"""The results.json of PrairieLearn's external graders.

A test has no status there: it is green when its points are all it has. So an answer that nobody has
read shows no points, whatever the rubric gives for it, and a question without points is a line of
text. There is no visibility either: a test that is not for the student's eyes is left out, although
it counts. `gradable: false` costs the student no attempt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headwright.course.marks import VISIBLE, Graded, Mark
from headwright.course.packs import told
from headwright.homework.verdict import Verdict

# Students may see all that stands in the results, so that no mark goes with them unseen
_KEPT = ("version", "bank", "rubric", "variant")


def results(
    graded: Graded,
    titles: Mapping[str, str],
    extra: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """One submission; `extra` is kept by the platform with it, `notes` are for the student."""
    verdicts = {verdict.question: verdict for verdict in graded.report.verdicts}
    shown = [mark for mark in graded.marks if mark.visibility == VISIBLE]
    counted = [mark for mark in shown if mark.max_points]
    lines = [*told.opening(graded), *notes]
    for mark in shown:
        if not mark.max_points:
            said = told.sentences(mark, verdicts.get(mark.question))
            lines.append(f"{told.name(mark, titles)}: {said[0]}")
    number = len(counted)
    unread = [graded.report.unread] if graded.report.unread else []
    return {
        "gradable": not unread,
        "score": graded.points / graded.max_points if graded.max_points else 0.0,
        "message": told.text(lines, number),
        "format_errors": [told.text([reason], number) for reason in unread],
        "tests": [_test(mark, verdicts.get(mark.question), titles, number) for mark in counted],
        "extra_data": {key: extra[key] for key in _KEPT if extra and key in extra},
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
    mark: Mark, verdict: Verdict | None, titles: Mapping[str, str], number: int
) -> dict[str, Any]:
    first, *more = told.sentences(mark, verdict)
    if told.waits(mark) and mark.points:
        first = f"{first} ({mark.points:g} points are in the score until then)"
    return {
        "name": told.text([told.name(mark, titles)], number),
        "points": 0.0 if told.waits(mark) else mark.points,
        "max_points": mark.max_points,
        "message": told.text([first], number),
        "output": told.text(more, number),
    }
