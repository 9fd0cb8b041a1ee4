"""What runs on the platform: `python -I -m headwright.course.packs.grader PLATFORM ROOT`.

Whatever happens, the results that stand there at the end are whole: those of the hand-in, or a
sentence on why there are none, with no points and nothing green.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from headwright.course.hand_ins import merged
from headwright.course.packs import gradescope, hand_in, prairielearn, previous
from headwright.course.packs.place import Place, facts, place, student
from headwright.course.packs.terms import digest, terms
from headwright.course.rubric import grade
from headwright.files import write_json
from headwright.homework.verdict import WHOLE, Report, our_fault, unreadable

BANK = "bank.toml"
RUBRIC = "rubric.toml"
FORMS: dict[str, ModuleType] = {"gradescope": gradescope, "prairielearn": prairielearn}
NOT_GRADED = (
    "Nothing was graded: {why}. This is not your fault; your files are kept. Tell your teacher, "
    "who can run the autograder again."
)
_NOTHING = (
    "no document was handed in: headwright reads Markdown, LaTeX, text, notebooks, Typst, PDF"
)


def main() -> None:
    platform, root = sys.argv[1:]
    there = place(platform, root)
    try:
        results = graded(platform, there)
    except Exception as fault:  # the last place where a fault of ours can still be told
        results = FORMS[platform].not_graded(NOT_GRADED.format(why=our_fault(fault)))
    write_json(there.results, results)


def graded(platform: str, there: Place) -> dict[str, Any]:
    """The results of the hand-in that lies there."""
    bank, rubric = terms(_if_there(there.pack / BANK), _if_there(there.pack / RUBRIC))
    known = facts(there.facts)

    taken = hand_in.documents(there.submission)
    reports = list(hand_in.judged(taken, bank)) or [unreadable("the hand-in", _NOTHING)]
    marks = grade(student(known), merged(reports), rubric)
    record = previous.record(marks, rubric, taken, digest(bank), variant(known))

    notes = [*_unread(reports), *previous.difference(known, record, marks)]
    others = hand_in.left_out(there.submission, taken)
    if others:
        notes.append(f"Not read: {', '.join(others)}.")
    titles = {question.id: question.title for question in bank}
    return FORMS[platform].results(marks, titles, record, notes)


def _unread(reports: list[Report]) -> list[str]:
    """Documents that could not be read beside others that could: no mark speaks of them."""
    verdicts = [(one.document, one.verdicts[0]) for one in reports if len(reports) > 1]
    return [f"{name}: {first.reason}" for name, first in verdicts if first.question == WHOLE]


def variant(known: dict[str, Any]) -> str:
    """PrairieLearn draws one per student; elsewhere all have the same questions."""
    return str(known.get("variant_seed", ""))


def _if_there(file: Path) -> Path | None:
    return file if file.is_file() else None


if __name__ == "__main__":
    main()
