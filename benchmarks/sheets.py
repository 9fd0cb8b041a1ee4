"""A class's sheets: how long 500 of them take, what the keys score, and how many of a neighbour's
answers pass.

    headwright bench sheets          500 sheets; keys and neighbours of 60 students
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from headwright.course import sheets
from headwright.course.variants.bank import varied
from headwright.exercise.bank import load
from headwright.homework.one_document import judge_document
from headwright.homework.reading.formats import read_file

_CLASS = 500
_JUDGED = 60
_SMALL = 8
_LEGEND = (
    "key: of the answers in the keys, the share that is judged correct (Markdown)",
    "neighbour: of the varied answers in the next student's key, the share that is not judged "
    "correct",
    "CPU s: of making and writing all sheets, with every proof that a variant is solvable",
)


def run(*, quick: bool) -> dict[str, Any]:
    size = _SMALL if quick else _CLASS
    with tempfile.TemporaryDirectory() as folder:
        roster = Path(folder, "roster.csv")
        roster.write_text("id\n" + "".join(f"u{k}\n" for k in range(size)))
        started = time.process_time()
        written = sheets(roster, Path(folder, "out"))
        seconds = time.process_time() - started
        row = {"sheets": size, "CPU s": round(seconds, 2)}
        row |= _judged(written, _SMALL if quick else _JUDGED)
    return {"title": f"sheets for {size} students", "rows": [row], "notes": list(_LEGEND)}


def _judged(written: Any, count: int) -> dict[str, Any]:
    manifest = written.manifest
    sheet = manifest.questions(load())
    entries = manifest.entries[:count]
    keys = [_key(written.folder, entry) for entry in entries]
    own: Counter[str] = Counter()
    copied: Counter[str] = Counter()
    for place, entry in enumerate(entries):
        bank = manifest.bank_of(entry.student.id, sheet)
        own.update(v.status for v in judge_document(keys[place], bank).verdicts)
        neighbour = judge_document(keys[(place + 1) % count], bank).verdicts
        copied.update(v.status for v in neighbour if varied(sheet[v.question]))
    return {
        "judged": count,
        "key": own["correct"] / own.total(),
        "neighbour": 1 - copied["correct"] / copied.total(),
    }


def _key(folder: Path, entry: Any) -> Any:
    return read_file(folder / "keys" / f"{entry.file}.md")
