"""Which modules of the package reach each other by imports, of whatever kind.

import-linter reads the imports at the top of files. An import inside a function, or one for types
alone, makes two files depend on each other just as well, and hides it; here all count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

Graph = dict[str, set[str]]


def import_cycles(package: Path) -> list[list[str]]:
    """Groups of modules that reach each other (strongly connected components)."""
    graph = imports(package)
    reached = {module: _reachable(module, graph) for module in graph}

    groups: set[tuple[str, ...]] = set()
    for module in graph:
        mutual = [other for other in reached[module] if module in reached[other]]
        if mutual:
            groups.add(tuple(sorted(mutual)))
    return sorted(list(group) for group in groups)


def imports(package: Path) -> Graph:
    """Which module imports which, at the top of the file, in a function or for types alone."""
    files = {_module_name(path, package): path for path in package.rglob("*.py")}
    known = set(files)

    graph: Graph = {}
    for name, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        graph[name] = set(_imported(tree, known)) - {name}
    return graph


def _module_name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


def _imported(tree: ast.Module, known: set[str]) -> Iterator[str]:
    """The modules of ours that one file names; `from a.b import c` is `a.b.c` where that exists."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = {alias.name for alias in node.names}
            yield from named & known
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from inner & known
            if inner - known:
                yield from {node.module} & known


def _reachable(start: str, graph: Graph) -> set[str]:
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.extend(graph[module])
    return found
