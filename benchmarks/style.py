"""The shape of the source, in the measures by which we compare ourselves with codebases we admire.

    headwright bench style

One row for the whole package and one per folder; import cycles of any kind are named below the
table.
"""

from __future__ import annotations

import ast
import io
import statistics
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "headwright"
LONG_LINE = 100


@dataclass(frozen=True)
class Source:
    """One file of the package: its text and its syntax tree."""

    path: Path
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """All lines but the blank ones."""
        return [line for line in self.text.splitlines() if line.strip()]

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @property
    def statements(self) -> int:
        """Imports say nothing and are not counted."""
        silent = (ast.Import, ast.ImportFrom)
        return sum(
            isinstance(node, ast.stmt) and not isinstance(node, silent) for node in self.nodes
        )

    @property
    def parallel_assignments(self) -> int:
        """`a, b = x, y`: two statements in one line. Unpacking one call, `a, b = f()`, is not
        meant."""
        return sum(
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            for node in self.nodes
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
    lines = sum(len(file.lines) for file in files)
    lengths = [file.text.count("\n") for file in files]
    bodies = [body for file in files for body in file.bodies]
    nodes = sum(len(file.nodes) for file in files)
    long_lines = sum(len(line) > LONG_LINE for file in files for line in file.lines)
    parallel = sum(file.parallel_assignments for file in files)
    return {
        "median file": int(statistics.median(lengths)),
        "longest file": max(lengths),
        "median body": int(statistics.median(bodies or [0])),
        "longest body": max(bodies, default=0),
        "files in the largest folder": _largest_folder(files),
        "lines over 100 characters": long_lines,
        "parallel assignments per 1,000 lines": round(1000 * parallel / lines, 1),
        "syntax nodes per statement": round(nodes / sum(file.statements for file in files), 1),
        "comment lines, %": round(100 * sum(file.comment_lines for file in files) / lines, 1),
    }


def _largest_folder(files: list[Source]) -> int:
    """Files side by side in one folder; its `__init__` is the folder's own."""
    folders = [file.path.parent for file in files if file.path.name != "__init__.py"]
    return max((folders.count(folder) for folder in set(folders)), default=0)


def imports() -> dict[str, set[str]]:
    """Which module of the package imports which, at the top of the file, inside a function or for
    types alone."""
    files = {_module_name(file.path): file for file in sources()}
    return {name: set(_imported(file, name, set(files))) - {name} for name, file in files.items()}


def _module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(file: Source, name: str, known: set[str]) -> Iterator[str]:
    for node in file.nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known:
                    yield inner
                elif node.module in known:
                    yield node.module


def import_cycles() -> list[list[str]]:
    """Groups of modules that reach each other by imports of any kind (strongly connected
    components)."""
    graph = imports()
    reached = {module: _reachable(module, graph) for module in graph}
    groups = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in graph
        if module in reached[module]
    }
    return sorted(list(group) for group in groups)


def _reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.extend(graph[module])
    return found


def run(*, quick: bool = False) -> dict[str, Any]:
    everything = sources()
    rows = [{"folder": "all"} | measured(everything)]
    for folder in sorted(
        path for path in PACKAGE.iterdir() if path.is_dir() and any(path.rglob("*.py"))
    ):
        rows.append({"folder": folder.name} | measured(sources(folder)))
    notes = [f"import cycle: {' <-> '.join(group)}" for group in import_cycles()] or [
        "no import cycle of any kind"
    ]
    return {"title": "the shape of the source", "rows": rows, "notes": notes}
