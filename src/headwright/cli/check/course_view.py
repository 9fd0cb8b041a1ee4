"""What `headwright check` shows of a course: marks, what changed, what went into a gradebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from headwright.cli.check.view import MOST_LISTED, STYLES

_LEFT = {
    "unmatched_students": "handed in, but not in the gradebook",
    "unmatched_rows": "in the gradebook, but nothing was handed in",
    "unclear_rows": "not entered: the row's cells name several students",
    "still_open": "not entered: some points wait for a person",
    "other_mark": "not entered: another mark stands there (--overwrite replaces it)",
    "locked": "not entered: the platform locked the row",
}
_MOST_NAMED = 8


def marks(console: Console, graded: Sequence[Any]) -> None:
    """What each hand-in would get, question by question."""
    for one in graded:
        still_open = f", {one.open_points:g} still open" if one.open_points else ""
        total = f"{one.points:g} of {one.max_points:g} points{still_open}"
        console.print(Text(f"{one.student.id}  {total}", style="bold"))
        for mark in one.marks:
            console.print(_mark_line(mark))
        console.print()
    console.print(Text("nothing was written: this was a dry run", style="dim"))


def _mark_line(mark: Any) -> Text:
    earned = "?" if mark.points is None else f"{mark.points:g}"
    line = Text(f"  {mark.question:8}")
    line.append(f"{mark.status:11}", style=STYLES[mark.status])
    line.append(f"{earned:>5} of {mark.max_points:<5g}")
    if mark.by_hand:
        line.append(f"by hand: {mark.by_hand}  ")
    line.append(mark.text, style="dim")
    return line


def changes(console: Console, found: Sequence[Any]) -> None:
    """One line for each answer whose status or points changed."""
    if not found:
        console.print("nothing changed")
        return
    for change in found:
        line = Text(f"{change.student}  {change.question:8}", style="bold")
        line.append(f"{_worth(change.before)} -> {_worth(change.after)}")
        line.append(f"  ({', '.join(change.causes)})", style="dim")
        console.print(line)


def _worth(row: Any) -> str:
    if row is None:
        return "not there"
    points = row["points"]
    return row["status"] if points is None else f"{row['status']} ({points:g})"


def part_of_a_class(console: Console) -> None:
    words = "no other page was changed; check all documents to renew the index"
    console.print(Text(words, style="dim"))


def around(console: Console, data: Any) -> None:
    """What there is to say beside the verdicts."""
    _unmatched(console, data["unmatched"])
    on_others = [row["student"] for row in data["documents"] if row.get("note")]
    if on_others and len(data["documents"]) > MOST_LISTED:
        console.print(Text(f"written on someone else's sheet: {_listed(on_others)}"))
    if "gradebook" in data:
        _gradebook(console, data["gradebook"])


def _gradebook(console: Console, told: Any) -> None:
    console.print(f"gradebook: {len(told['filled'])} marks")
    for kind, words in _LEFT.items():
        if told[kind]:
            console.print(Text(f"  {words}: {_listed(told[kind])}"))


def _unmatched(console: Console, names: Any) -> None:
    several = names.get("several", ())
    nobody = [name for name in names.get("documents", ()) if name not in several]
    if nobody:
        console.print(Text(f"not in the roster: {_listed(nobody)}"))
    if several:
        console.print(Text(f"names several students, so given to none: {_listed(several)}"))
    if names.get("students"):
        console.print(Text(f"nothing handed in: {_listed(names['students'])}"))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
