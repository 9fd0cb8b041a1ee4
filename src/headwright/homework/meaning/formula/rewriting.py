"""A tree with some of its parts replaced; the original stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from headwright.homework.meaning.formula.tree import Node


def rewritten(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """The tree in which every part that `change` answers is its answer; None leaves a part as it is
    and goes on below it."""
    changed = change(node)
    if changed is not None:
        return changed
    parts = {field.name: getattr(node, field.name) for field in fields(node)}  # type: ignore[arg-type]
    return type(node)(**{name: _part(value, change) for name, value in parts.items()})


def _part(value: Any, change: Callable[[Node], Node | None]) -> Any:
    if isinstance(value, Node):
        return rewritten(value, change)
    if isinstance(value, tuple):
        return tuple(_part(item, change) for item in value)
    return value
