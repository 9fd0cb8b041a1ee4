"""Check against graded answers: the confusion table on the development set (where it is at hand).

Rows are the graders' verdicts, columns ours. Only rows with a formula, a relation or a claim count;
prose is never judged. `misjudged` counts verdicts that differ from the graders' and are not
`unread`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.telling import watched

from headwright import homework

STATUSES = ("correct", "incomplete", "wrong", "missing", "unread")
SEEDS = Path(__file__).resolve().parents[2] / "shared" / "seeds"


def run(*, quick: bool) -> dict[str, Any]:
    """The table; `quick` reads one document only."""
    if not (SEEDS / "expected.json").is_file():
        return {
            "title": "check on graded answers",
            "rows": [],
            "notes": ["the graded documents are not at hand"],
        }
    compared = compare(1 if quick else None)
    table = Counter(
        (expected["verdict"], got) for expected, got, _ in compared if expected["kind"] != "prose"
    )
    rows = [
        {"graded": graded, **{s: table[graded, s] for s in STATUSES}}
        for graded in STATUSES[:3]
        if any(table[graded, s] for s in STATUSES)
    ]
    total = sum(table.values())
    hit = sum(count for (graded, got), count in table.items() if graded == got)
    unread = sum(count for (_, got), count in table.items() if got == "unread")
    misjudged = total - hit - unread
    notes = [
        f"{total} rows: {hit} as graded, {unread} unread ({unread / total:.0%}), "
        f"{misjudged} misjudged"
    ]
    notes += [
        f"misjudged: {e['file'][:3]} {e['question']} graded {e['verdict']}, got {got}: {reason}"
        for e, got, reason in compared
        if e["kind"] != "prose" and got not in (e["verdict"], "unread")
    ]
    return {"title": "check on graded answers", "rows": rows, "notes": notes}


def compare(documents: int | None = None) -> list[tuple[dict[str, str], str, str]]:
    """Every graded row with our status and reason."""
    rows = json.loads((SEEDS / "expected.json").read_text("utf-8"))
    files = sorted({r["file"] for r in rows})[:documents]
    checked = (homework.check(SEEDS / file) for file in files)
    reports = watched(checked, lambda report: {"document": report.document}, len(files))
    out = []
    for file, report in zip(files, reports, strict=True):
        ours = {v.question: v for v in report.verdicts} | {
            s.question: s for v in report.verdicts for s in v.steps
        }
        for row in (r for r in rows if r["file"] == file):
            verdict = ours.get(row["question"]) or ours.get(row["question"] + "s")
            out.append(
                (
                    row,
                    verdict.status if verdict else "unread",
                    verdict.reason if verdict else "not found",
                )
            )
    return out


if __name__ == "__main__":
    if "--all" in sys.argv:
        for row, got, reason in compare():
            graded = (
                f"{row['file'][:3]} {row['question']:22s} {row['kind']:9s} {row['verdict']:10s}"
            )
            print(f"{graded} {got:10s} {reason[:100]}")
    result = run(quick="--quick" in sys.argv)
    for line in [*result["rows"], *result["notes"]]:
        print(line)
