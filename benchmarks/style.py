"""The shape of the source, in the measures by which we compare ourselves with codebases we admire.

    headwright bench style          one row for the tree as it was, the package, and each folder
    python -m benchmarks.style      writes the table of docs/reference/style.md anew

Import cycles of any kind are named below the table. tests/test_style.py holds the package to
`LIMITS` and names the worst offenders by `worst_files`.
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.import_cycles import import_cycles
from benchmarks.telling import as_they_come

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "headwright"
PAGE = ROOT / "docs" / "reference" / "style.md"

LONG_LINE = 100

LARGEST_FOLDER = "files in the largest folder"
LONG_LINES = "lines over 100 characters"
PARALLEL = "parallel assignments per 1,000 lines"
DENSITY = "syntax nodes per statement"
CYCLES = "import cycles"

# The tree as it was with flat folders and lines of 120 columns (commit d4e19c2), by this script.
# Cycles through imports inside functions count.
BEFORE = {
    "median file": 120,
    "longest file": 299,
    "median body": 5,
    "longest body": 60,
    LARGEST_FOLDER: 35,
    LONG_LINES: 2400,
    PARALLEL: 16.8,
    DENSITY: 15.8,
    "comment lines, %": 3.5,
    CYCLES: 5,
}

# What the package is held to: no more than this.
LIMITS = {
    "longest file": 300,
    "longest body": 60,
    LARGEST_FOLDER: 12,
    LONG_LINES: 0,
    PARALLEL: 4.9,
    DENSITY: 13.9,
    CYCLES: 0,
}


@dataclass(frozen=True)
class Source:
    """One file: its text and its syntax tree."""

    path: Path
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """All lines but the blank ones."""
        return [line for line in self.text.splitlines() if line.strip()]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(ast.parse(self.text)))

    @property
    def long_lines(self) -> int:
        return sum(len(line) > LONG_LINE for line in self.lines)

    @property
    def statements(self) -> int:
        """Imports say nothing and are not counted."""
        statements = [node for node in self.nodes if isinstance(node, ast.stmt)]
        silent = (ast.Import, ast.ImportFrom)
        return sum(not isinstance(node, silent) for node in statements)

    @property
    def parallel_assignments(self) -> int:
        """`a, b = x, y`: two statements in one. Unpacking one call, `a, b = f()`, is not meant."""
        assigned = [node for node in self.nodes if isinstance(node, ast.Assign)]
        return sum(
            isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
            for node in assigned
        )

    @property
    def comment_lines(self) -> int:
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return len({token.start[0] for token in tokens if token.type == tokenize.COMMENT})

    @property
    def bodies(self) -> Iterator[int]:
        """Lines of every function without its docstring."""
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                docstring = ast.get_docstring(node)
                said = 0 if docstring is None else len(docstring.splitlines())
                yield (node.end_lineno or node.lineno) - node.lineno - said


def sources(folder: Path = PACKAGE) -> list[Source]:
    return [Source(path, path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))]


def measured(files: list[Source]) -> dict[str, Any]:
    """The measures of a set of files."""
    lengths = [file.text.count("\n") for file in files]
    bodies = [body for file in files for body in file.bodies] or [0]
    folders = folder_sizes(files)

    lines = sum(len(file.lines) for file in files)
    nodes = sum(len(file.nodes) for file in files)
    statements = sum(file.statements for file in files)
    parallel = sum(file.parallel_assignments for file in files)
    comments = sum(file.comment_lines for file in files)
    return {
        "median file": int(statistics.median(lengths)),
        "longest file": max(lengths),
        "median body": int(statistics.median(bodies)),
        "longest body": max(bodies),
        LARGEST_FOLDER: max(folders.values(), default=0),
        LONG_LINES: sum(file.long_lines for file in files),
        PARALLEL: round(1000 * parallel / lines, 1),
        DENSITY: round(nodes / statements, 1),
        "comment lines, %": round(100 * comments / lines, 1),
    }


def folder_sizes(files: list[Source]) -> Counter[Path]:
    """Files side by side in one folder; its `__init__` is the folder's own."""
    return Counter(file.path.parent for file in files if file.path.name != "__init__.py")


def worst_files(measure: str, files: list[Source], most: int = 10) -> list[str]:
    """The files that a measure suffers from most, each with its number."""
    numbers = {file.path: measured([file])[measure] for file in files}
    above = [path for path in numbers if numbers[path] > LIMITS[measure]]
    above.sort(key=lambda path: -numbers[path])
    return [f"{path.relative_to(ROOT)}: {numbers[path]:g}" for path in above[:most]]


def run(*, quick: bool = False) -> dict[str, Any]:
    cycles = import_cycles(PACKAGE)
    rows = list(as_they_come(_rows(len(cycles))))
    notes = [f"import cycle: {' <-> '.join(group)}" for group in cycles]
    return {
        "title": "the shape of the source",
        "rows": rows,
        "notes": notes or ["no import cycle of any kind"],
    }


def _rows(cycles: int) -> Iterator[dict[str, Any]]:
    yield {"folder": "all, before"} | BEFORE
    yield {"folder": "all"} | measured(sources()) | {CYCLES: cycles}
    for folder in sorted(PACKAGE.iterdir()):
        files = sources(folder)
        if files:
            yield {"folder": folder.name} | measured(files)


def table() -> str:
    """Before and after, as the page shows them."""
    now = measured(sources()) | {CYCLES: len(import_cycles(PACKAGE))}
    lines = ["| | before | now | at most |", "|---|---|---|---|"]
    for measure, number in now.items():
        limit = LIMITS.get(measure, "")
        lines.append(f"| {measure} | {BEFORE[measure]} | {number} | {limit} |")
    return "\n".join(lines)


def write_page() -> None:
    """Put the table of today between the marks of the page."""
    page = PAGE.read_text(encoding="utf-8")
    marked = re.compile(r"(?<=<!-- table -->\n).*?(?=\n<!-- end -->)", re.S)
    PAGE.write_text(marked.sub(lambda _: table(), page), encoding="utf-8")


if __name__ == "__main__":
    write_page()
    print(table())
