"""The checker behind every annotation in test runs: beartype, with an int accepted where a float is
wanted; and what it cannot look into.

jaxtyping's import hook puts `jaxtyping.jaxtyped` on every function. What that makes of a function
checks its arguments twice and takes milliseconds to build, whether or not anybody ever calls it.
`checked` stands in for it: the same annotations, each checked once a call, by a function that is
built when it is first called.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import typing
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType
from typing import Any

import jaxtyping
from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True, violation_type=jaxtyping.TypeCheckError))
_jaxtyped = jaxtyping.jaxtyped
# Within it, every axis has one length.
_SCOPE = _jaxtyped("context")

# By the identity of the code: a function inside a function is made anew at every call, its check
# is built once.
_BUILT: dict[int, tuple[FunctionType, FunctionType]] = {}

# The check wraps every function of a module. A compiler wants the functions themselves.
_COMPILED = frozenset(
    {
        "headwright.trained.rows.loops",
        "headwright.trained.rows.fused.tiles",
        "headwright.trained.rows.fused.ending",
        "headwright.trained.rows.fused.kernel",
        "headwright.trained.rows.fused.lookups",
        "headwright.trained.rows.fused.sampled",
        "headwright.trained.rows.fused.sums",
    }
)


class Unchecked:
    """A finder of modules that comes before the checker's: what is to be compiled is imported as it
    is."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(name, path, target) if name in _COMPILED else None


def install(package: str) -> None:
    jaxtyping.jaxtyped = lambda typechecker: checked
    jaxtyping.install_import_hook(package, f"{__name__}.check")
    sys.meta_path.insert(0, Unchecked)


def checked(thing):
    """A function or a class as it is, and every call held against its annotations."""
    if not inspect.isclass(thing):
        return _checked(thing)
    if dataclasses.is_dataclass(thing) and not hasattr(thing.__init__, "__wrapped__"):
        thing.__init__ = _checked(thing.__init__)
    return thing


def _checked(function: FunctionType) -> FunctionType:
    held = None

    @functools.wraps(function)
    def at_call(*args, **kwargs):
        __tracebackhide__ = True
        nonlocal held
        if held is None:
            held = _held_against_annotations(function)
        return held(*args, **kwargs)

    return at_call


def _held_against_annotations(function: FunctionType) -> Callable[..., Any]:
    """Most functions name no axis, and a scope costs more than their check."""
    resolved = {
        name: _resolved(annotation, function.__globals__)
        for name, annotation in function.__annotations__.items()
    }
    yields = inspect.isgeneratorfunction(function)
    if not any(_names_axes(annotation) for annotation in resolved.values()):
        return _built(_begun(function) if yields else function, resolved)
    # The values of a generator come later, outside the scope: jaxtyping knows how.
    if yields:
        return _jaxtyped(function, typechecker=check)
    held = _built(function, resolved)

    def in_scope(*args, **kwargs):
        __tracebackhide__ = True
        with _SCOPE:
            return held(*args, **kwargs)

    return in_scope


def _begun(function: FunctionType) -> FunctionType:
    """A generator whose arguments are looked at when it is called, not when it is first asked."""

    @functools.wraps(function)
    def begin(*args, **kwargs):
        return function(*args, **kwargs)

    return begin


def _built(function: FunctionType, annotations: dict[str, Any]) -> FunctionType:
    code = inspect.unwrap(function).__code__
    built = _BUILT.get(id(code))
    if built is not None:
        return _moved(*built, function)
    function.__annotations__ = annotations
    held = check(function)
    _BUILT[id(code)] = (function, held)
    return held


def _names_axes(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, jaxtyping.AbstractArray):
        return True
    parts = annotation if isinstance(annotation, list) else typing.get_args(annotation)
    return any(_names_axes(part) for part in parts)


def _resolved(annotation: object, names: dict[str, Any]) -> object:
    """What is imported for type checkers only cannot be looked up, and stands for anything."""

    def holder(value): ...

    holder.__annotations__ = {"value": annotation}
    try:
        return typing.get_type_hints(holder, names, include_extras=True)["value"]
    except NameError:
        return Any


def _moved(first: FunctionType, held: FunctionType, function: FunctionType) -> FunctionType:
    """The check that was built around the first closure of some code, around another one."""
    if held is first:
        return function
    defaults = held.__kwdefaults__
    assert first in defaults.values(), "beartype keeps what it wraps elsewhere"
    moved = FunctionType(held.__code__, held.__globals__, held.__name__)
    moved.__kwdefaults__ = {
        name: function if value is first else value for name, value in defaults.items()
    }
    return moved
