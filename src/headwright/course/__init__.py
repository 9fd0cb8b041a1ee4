"""Everything around a class: who is who, what an answer is worth, sheets, gradebooks, packs.

Reading order: `people` (students), `roster` and `owners` (who there is, whose a document is),
`rubric` and `marks` (a verdict becomes points), `hand_ins` (several documents of one student);
`sheet` and `gradebook` (marks go into an exported table), `changes` (what differs between two
runs), `anonymous`; `variants`, `handouts` and `manifest` (a sheet per student), `packs` (an
autograder), `class_report` (the page of a class), `demo` (a sample class).

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     roster = Path(folder, "roster.csv")
...     _ = roster.write_text("Student ID,Name\\n1,Ada\\n2,Alan\\n")
...     len(hw.course.sheets(roster, Path(folder, "sheets")).manifest.entries)
2
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwright.course.handouts.write import sheets

__all__ = ["sheets"]


def __getattr__(name: str) -> Any:
    if name != "sheets":
        raise AttributeError(f"module 'headwright.course' has no attribute {name!r}")
    return import_module("headwright.course.handouts.write").sheets
