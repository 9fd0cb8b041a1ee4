"""What a hand-in leaves for the next one, and what changed since the last.

Gradescope gives every run the results of the earlier ones, `extra_data` included. What stands there
is what `check --json` would say, so that one comparison serves both (`course.changes`). Other
results may stand there, too: of another autograder, or of none. Those are not compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from headwright.course.changes import Change, changes
from headwright.course.marks import VISIBLE, Graded
from headwright.course.rubric import Rubric
from headwright.crew.function import engine_version
from headwright.homework.limits import MOST_BYTES
from headwright.homework.reading.sources import Source

_STUDENT = "submission"


def record(
    graded: Graded, rubric: Rubric, taken: Sequence[Source], bank: str, variant: Any
) -> dict[str, Any]:
    """Version, questions, rubric and variant; documents by digest; marks."""
    rows = [
        {
            "document": graded.report.document,
            "student": _STUDENT,
            "question": mark.question,
            "status": mark.status,
            "points": mark.points,
            "max_points": mark.max_points,
        }
        for mark in graded.marks
    ]
    # One row for all files: adding a second one is a change of what was handed in.
    handed_in = {"document": graded.report.document, "digest": _digest(taken), "bank": bank}
    return {
        "version": engine_version(),
        "bank": bank,
        "rubric": rubric.digest,
        "variant": variant,
        "verdicts": rows,
        "documents": [handed_in],
    }


def difference(facts: Mapping[str, Any], new: Mapping[str, Any], graded: Graded) -> list[str]:
    """Lines for the student. What the student may not see yet is not compared aloud."""
    last = _last(facts)
    if last is None:
        return []
    when, old = last
    try:
        found = changes(_run(old, new), _run(new, new))
    except (KeyError, TypeError, AttributeError, ValueError):
        return [f"Your hand-in of {when} was graded in another way; nothing is compared."]
    seen = {mark.question for mark in graded.marks if mark.visibility == VISIBLE}
    told = [_line(one) for one in found if one.question in seen]
    if not told:
        return [f"Nothing changed since your hand-in of {when}."]
    return [f"Since your hand-in of {when}:", *told]


def _run(extra: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The form that `changes` reads. A hand-in is one document, whatever its files are called."""
    name = new["documents"][0]["document"]
    (handed_in,) = extra["documents"]
    return {
        "verdicts": extra["verdicts"],
        "documents": [{**handed_in, "document": name}],
        "run": {"version": extra["version"], "rubric": extra["rubric"]},
    }


def _last(facts: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """The latest hand-in that has results, with its time as the platform writes it."""
    earlier = facts.get("previous_submissions")
    if not isinstance(earlier, list):
        return None
    graded = [one for one in earlier if isinstance(one, dict) and _extra(one) is not None]
    if not graded:
        return None
    latest = max(graded, key=_time)
    return str(latest.get("submission_time", "an unknown time")), _extra(latest) or {}


def _extra(submission: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a hand-in left; a run in which nothing was graded leaves nothing to compare with."""
    results = submission.get("results")
    extra = results.get("extra_data") if isinstance(results, dict) else None
    return extra if isinstance(extra, dict) and "verdicts" in extra else None


def _time(submission: Mapping[str, Any]) -> datetime:
    try:
        time = datetime.fromisoformat(str(submission.get("submission_time")))
    except ValueError:
        time = datetime.min
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _line(change: Change) -> str:
    before = _shown(change.before)
    after = _shown(change.after)
    causes = ", ".join(change.causes)
    return f"{change.question}: {before} before, {after} now (what differs: {causes})"


def _shown(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "not asked"
    if row["points"] is None:
        return f"{row['status']}, not marked yet"
    return f"{row['status']} with {row['points']:g} of {row['max_points']:g} points"


def _digest(taken: Sequence[Source]) -> str:
    """Of names and bytes of all documents, as far as they are read at all."""
    whole = hashlib.sha256()
    for source in taken:
        whole.update(source.name.encode("utf-8", errors="backslashreplace") + b"\0")
        if source.path is None or source.refused:
            continue
        with suppress(OSError), source.path.open("rb") as stream:
            whole.update(hashlib.sha256(stream.read(MOST_BYTES)).digest())
    return whole.hexdigest()[:16]
