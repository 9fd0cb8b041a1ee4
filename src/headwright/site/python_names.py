"""The reference of the Python names, made from signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any

from headwright.site.markdown import docstring
from headwright.site.public_names import Public

FOLDER = PurePosixPath("reference/python")

# Directives of Sphinx stand inside one another: the outer fence must be the longer one.
_OUTER = ":" * 5
_INNER = ":" * 4


def python_pages(groups: dict[str, list[Public]]) -> dict[PurePosixPath, str]:
    """A page per group of names, by its place."""
    return {FOLDER / f"{title}.md": _page(title, group) for title, group in groups.items()}


def _page(title: str, group: list[Public]) -> str:
    parts = [f"# {title}"]
    for public in group:
        if public.missing:
            parts.append(f"Not described here: {public.missing}")
        elif isinstance(public.thing, ModuleType):
            parts += [] if public.name == title else [f"## {public.name}"]
            parts.append(docstring(public.thing))
        else:
            parts.append(_entry(public))
    return "\n\n".join(parts) + "\n"


def _entry(public: Public) -> str:
    kind = _kind(public.thing)
    record = dataclasses.is_dataclass(public.thing)
    signature = "" if record else _signature(public.thing)
    head = f"{_OUTER}{{py:{kind}}} {public.name}{signature}"
    fields = [_fields(public.thing)] if record else []
    members = [*fields, *_members(public.thing)] if inspect.isclass(public.thing) else []
    said = docstring(public.thing) if kind != "data" else ""
    return "\n\n".join([head, said, *members, _OUTER])


def _kind(thing: Any) -> str:
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, BaseException) else "class"
    return "function" if callable(thing) else "data"


def _fields(record: Any) -> str:
    """The fields of a record: their types, and their values where nothing is said."""
    rows = [
        f"| `{field.name}` | {_code(_annotation(field.type))} | {_default(field)} |"
        for field in dataclasses.fields(record)
        if not field.name.startswith("_")
    ]
    return "\n".join(["| field | type | default |", "|---|---|---|", *rows])


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return _code(repr(field.default))
    made = field.default_factory
    return "" if made is dataclasses.MISSING else _code(f"{getattr(made, '__name__', made)}()")


def _code(text: Any) -> str:
    """Code in a cell of a table, whose bars would end the cell."""
    shown = str(text).replace("|", "\\|")
    return f"`{shown}`" if text is not inspect.Parameter.empty else ""


def _members(thing: type) -> Iterator[str]:
    """The public properties and methods that the class itself defines and describes."""
    for name, member in vars(thing).items():
        if name.startswith("_") or not inspect.getdoc(member):
            continue
        if isinstance(member, property):
            yield f"{_INNER}{{py:property}} {name}\n\n{docstring(member)}\n\n{_INNER}"
        elif isinstance(member, staticmethod | classmethod) or inspect.isfunction(member):
            bound = getattr(thing, name)
            head = f"{_INNER}{{py:method}} {name}{_signature(bound, of_instance=bound is member)}"
            yield f"{head}\n\n{docstring(member)}\n\n{_INNER}"


class _AsWritten:
    """An annotation that shows itself as the source has it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _signature(thing: Any, *, of_instance: bool = False) -> str:
    """The signature without what it says of anything ("Any") and without quotation marks."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    parameters = list(found.parameters.values())[of_instance:]
    shown = [p.replace(annotation=_annotation(p.annotation)) for p in parameters]
    returned = inspect.Signature.empty if inspect.isclass(thing) else found.return_annotation
    return str(found.replace(parameters=shown, return_annotation=_annotation(returned)))


def _annotation(annotation: Any) -> Any:
    if annotation in ("Any", Any, inspect.Parameter.empty):
        return inspect.Parameter.empty
    return _AsWritten(annotation) if isinstance(annotation, str) else annotation
