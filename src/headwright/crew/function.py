"""A job's function by its name, `module:function`, and the version of what it computes."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from headwright.errors import InputError

_FORM = "a function as module:function"
# By its name: the package's own module names every part of it, so to import it here would close a
# circle.
PACKAGE = __name__.partition(".")[0]


def engine_version() -> str:
    return sys.modules[PACKAGE].__version__


def full_version(version: str, source: str) -> str:
    """The engine's version, the job's own, and for a module of the user the digest of its
    source."""
    parts = [f"{PACKAGE} {engine_version()}", version, source]
    return ", ".join(part for part in parts if part)


def source_digest(function: str) -> str:
    """Of the file that the function's module is in, as it is now; empty for this package, which has
    a version."""
    module, colon, name = function.partition(":")
    if not (colon and name.isidentifier() and all(map(str.isidentifier, module.split(".")))):
        attempt = "my_study:job, for the function job of my_study.py"
        raise InputError(wanted=_FORM, got=repr(function), attempt=attempt)
    if module.partition(".")[0] == PACKAGE:
        return ""
    try:
        invalidate_caches()  # the file may be new
        spec = find_spec(module)
    except (ImportError, ValueError, AttributeError) as reason:
        raise _no_module(module, str(reason)) from None
    if spec is None:
        raise _no_module(module, "no module of that name")
    if not spec.origin or not Path(spec.origin).is_file():
        return ""
    return "source " + hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()[:16]


def _no_module(module: str, reason: str) -> InputError:
    attempt = f"a path with {module.partition('.')[0]} in PYTHONPATH"
    return InputError(wanted=f"the module {module}", got=reason, attempt=attempt)


def named(function: str) -> Callable[..., Any]:
    """The function itself, in the process that calls it."""
    module, _, name = function.partition(":")
    found = getattr(imported(module), name)
    if not callable(found):
        raise TypeError(f"{function} is no function")
    return found


def imported(module: str) -> ModuleType:
    """The module, and of a user's no compiled copy on disk: Python takes such a copy for current
    while the source's length and second are the same, and an edit may change neither."""
    if module.partition(".")[0] == PACKAGE:
        return import_module(module)
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        return import_module(module)
    finally:
        sys.dont_write_bytecode = before
