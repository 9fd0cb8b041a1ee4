"""What the terminal says beside the verdicts of a class."""

from __future__ import annotations

import io

from rich.console import Console

from headwright.cli.check import course_view


def said(data):
    stream = io.StringIO()
    course_view.around(Console(file=stream, width=200), data)
    return stream.getvalue().splitlines()


def test_documents_of_nobody_and_of_several_are_told_apart():
    unmatched = {"documents": ["x/hw.md", "u1/u2.md"], "several": ["u1/u2.md"], "students": []}

    assert said({"unmatched": unmatched, "documents": []}) == [
        "not in the roster: x/hw.md",
        "names several students, so given to none: u1/u2.md",
    ]


def test_a_class_is_told_who_wrote_on_another_sheet():
    rows = [{"student": f"u{k}", "note": ""} for k in range(4)]
    rows[2]["note"] = "written on a sheet of another course"

    assert said({"unmatched": {}, "documents": rows}) == ["written on someone else's sheet: u2"]
