"""LaTeX documents judged twice, as source and as the PDF that pdflatex makes of them: do the
verdicts agree?

    headwright bench check_pdf DIRECTORY

A document that pdflatex cannot compile here (a package that is not installed) is named and left
out.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.telling import as_they_come

from headwright.errors import InputError
from headwright.homework.batch import judge_many
from headwright.homework.reading.sources import sources

_TITLE = "check: PDF against source"
_FEW = 3
_SECONDS = 120


def run(directory: str, *, quick: bool) -> dict[str, Any]:
    if shutil.which("pdflatex") is None:
        raise InputError(wanted="pdflatex", got="none", attempt="install a TeX distribution")
    documents = sorted(Path(directory).glob("*.tex"))
    if not documents:
        raise InputError(wanted="a folder with .tex files", got=directory, attempt="another folder")

    chosen = documents[:_FEW] if quick else documents
    rows = list(as_they_come(_compared(chosen), len(chosen)))
    left_out = [row["document"] for row in rows if "answers" not in row]
    counted = [row for row in rows if "answers" in row]
    notes = [f"not compiled here: {', '.join(left_out)}"] if left_out else []
    return {"title": _TITLE, "rows": [*counted, _total(counted)], "notes": notes}


def _compared(documents: list[Path]) -> Iterator[dict[str, Any]]:
    for document in documents:
        with tempfile.TemporaryDirectory() as folder:
            pdf = _compiled(document, Path(folder))
            if pdf is None:
                yield {"document": document.name}
                continue
            source, printed = (_statuses(path) for path in (document, pdf))
        questions = source.keys() | printed.keys()
        same = [source.get(one) == printed.get(one) for one in questions]
        faulty = [printed.get(one) == "wrong" != source.get(one) for one in questions]
        yield {
            "document": document.name,
            "answers": len(questions),
            "same": sum(same),
            "wrong in the PDF only": sum(faulty),
        }


def _compiled(document: Path, folder: Path) -> Path | None:
    command = ["pdflatex", "-interaction=batchmode", "-halt-on-error", "-no-shell-escape"]
    target = f"-output-directory={folder}"
    for _ in range(2):  # references are known in the second run
        done = subprocess.run(
            [*command, target, str(document.resolve())],
            cwd=folder,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode:
            return None
    return folder / f"{document.stem}.pdf"


def _statuses(path: Path) -> dict[str, str]:
    (judged,) = judge_many(sources([str(path)]))
    return {verdict.question: verdict.status for verdict in judged.report.verdicts}


def _total(rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = ("answers", "same", "wrong in the PDF only")
    return {"document": "all"} | {name: sum(row[name] for row in rows) for name in names}
