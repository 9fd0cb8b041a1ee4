"""Which Python names the reference describes.

Those that `import headwright as hw` offers, those that a page uses, and from there whatever a
docstring names in full or a function returns. So no list has to be kept: a name that a guide
mentions is in the reference.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import headwright as hw
from headwright.errors import MissingExtra

_IMPORTED = re.compile(r"from (headwright(?:\.\w+)+) import ([\w, ]+)")
_DOTTED = re.compile(r"\b(headwright(?:\.\w+)*)\.(\w+)")


@dataclass(frozen=True)
class Public:
    """A name as people write it, and what it stands for; `missing` says why nothing is there."""

    name: str
    thing: Any = None
    missing: str = ""


def public_names(texts: Iterable[str]) -> dict[str, list[Public]]:
    """The names by the page they stand on: one for every name of `hw`, then one for every module
    that the `texts` take names from."""
    groups = {f"hw.{name}": list(_offered(name)) for name in hw.__all__}
    mentioned = [pair for text in texts for pair in _mentions(text)]
    taken = {id(public.thing) for group in groups.values() for public in group}

    for group in groups.values():
        group += _results(group, taken)
    for module, name in dict.fromkeys([*mentioned, *_named_in_docstrings(groups)]):
        public = _found(module, name)
        if public is not None and id(public.thing) not in taken:
            taken.add(id(public.thing))
            groups.setdefault(module, []).append(public)
    for module in set(groups) - {f"hw.{name}" for name in hw.__all__}:
        groups[module] += _results(groups[module], taken)
    return groups


def _offered(name: str) -> Iterator[Public]:
    """A name of `hw`; a module with everything it offers itself."""
    try:
        thing = getattr(hw, name)
    except MissingExtra as reason:
        yield Public(f"hw.{name}", missing=str(reason))
        return
    yield Public(f"hw.{name}", thing)
    if isinstance(thing, ModuleType):
        yield from _inside(f"hw.{name}", thing)


def _inside(name: str, module: ModuleType) -> Iterator[Public]:
    """What a module offers: functions, then classes, then modules with what they offer."""
    offered = getattr(module, "__all__", None) or [
        word
        for word, thing in vars(module).items()
        if getattr(thing, "__module__", "") == module.__name__ and not word.startswith("_")
    ]
    found = [Public(f"{name}.{word}", getattr(module, word)) for word in offered]
    for public in sorted(found, key=lambda public: _rank(public.thing)):
        yield public
        if isinstance(public.thing, ModuleType):
            yield from _inside(public.name, public.thing)


def _rank(thing: Any) -> int:
    return 2 if isinstance(thing, ModuleType) else 1 if inspect.isclass(thing) else 0


def _mentions(text: str) -> Iterator[tuple[str, str]]:
    for module, names in _IMPORTED.findall(text):
        yield from ((module, name.strip()) for name in names.split(",") if name.strip())
    yield from _DOTTED.findall(text)


def _named_in_docstrings(groups: dict[str, list[Public]]) -> Iterator[tuple[str, str]]:
    for public in (public for group in groups.values() for public in group):
        if not isinstance(public.thing, ModuleType):
            yield from _mentions(inspect.getdoc(public.thing) or "")


def _found(module: str, name: str) -> Public | None:
    """A class or function of a module; no modules, and nothing that is only called like one."""
    written = f"{module}.{name}"
    try:
        thing = getattr(import_module(module), name, None)
    except MissingExtra as reason:
        return Public(written, missing=str(reason))
    except ImportError:
        return None
    described = inspect.isclass(thing) or inspect.isroutine(thing)
    return Public(written, thing) if described else None


def _results(group: list[Public], taken: set[int]) -> Iterator[Public]:
    """The classes that functions of the group return, each the first time it is met."""
    for public in list(group):
        if not inspect.isfunction(public.thing):
            continue
        scope = vars(sys.modules[public.thing.__module__])
        for word in re.findall(r"\w+", str(inspect.signature(public.thing).return_annotation)):
            thing = scope.get(word)
            if not inspect.isclass(thing) or id(thing) in taken:
                continue
            if thing.__module__.startswith("headwright."):
                taken.add(id(thing))
                yield Public(_shortest_path(thing), thing)


def _shortest_path(thing: type) -> str:
    """Where to import it from: the outermost package that offers it, or its own file."""
    parts = thing.__module__.split(".")
    for depth in range(2, len(parts)):
        package = ".".join(parts[:depth])
        if thing.__name__ in getattr(import_module(package), "__all__", ()):
            return f"{package}.{thing.__name__}"
    return f"{thing.__module__}.{thing.__name__}"
