"""What a study calls: a function that another process can import by its name, and that takes the
grid's parameters."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright.crew.function import imported
from headwright.errors import InputError

_EXAMPLE = "headwright study sweep:leak, for the function leak of sweep.py"


@dataclass(frozen=True)
class Function:
    name: str  # module:function
    call: Callable[..., Any]

    @property
    def version(self) -> str:
        """A number that the author raises when the results change. The crew adds the digest of the
        source for modules outside this package."""
        module = sys.modules[self.call.__module__]
        return str(getattr(module, "VERSION", ""))

    @property
    def summary(self) -> str:
        """The first paragraph of its description, on one line."""
        paragraph = (inspect.getdoc(self.call) or "").partition("\n\n")[0]
        return " ".join(paragraph.split())

    def insist_on_parameters(self, given: Iterable[str]) -> None:
        """Said before anything runs: a million points would fail for the same reason."""
        try:
            signature = inspect.signature(self.call)
        except (TypeError, ValueError):  # written in C, and silent about it
            return
        parameters = signature.parameters.values()
        by_name = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        names = [p.name for p in by_name]
        unknown = [name for name in given if name not in names and not takes_any]
        needed = [p.name for p in by_name if p.default is p.empty and p.name not in given]
        needed += [f"{p.name} by position" for p in parameters if p.kind is p.POSITIONAL_ONLY]
        if unknown or needed:
            known = ", ".join(names) or "none by name"
            raise InputError(
                wanted=f"the parameters that {self.name} takes: {known}",
                got=" and ".join(_wrong(unknown, needed)),
                attempt="the same names in [grid] and in the function",
            )


def _wrong(unknown: list[str], needed: list[str]) -> list[str]:
    found = [f"{', '.join(unknown)}, which it does not take by name"] if unknown else []
    return found + ([f"no {', '.join(needed)}, which it needs"] if needed else [])


def function_of(thing: str | Callable[..., Any]) -> Function:
    """From `module:function` (also of the working directory), or from the function itself."""
    if isinstance(thing, str):
        return _imported(thing)
    module = getattr(thing, "__module__", None)
    name = getattr(thing, "__qualname__", type(thing).__name__)
    found = getattr(sys.modules.get(module or ""), name, None)
    if module == "__main__" or found is not thing or not callable(thing):
        raise InputError(
            wanted="a function that other processes can import",
            got=f"{name} of {module or 'no module'}",
            attempt="put it into a file, sweep.py, and say from sweep import it",
        )
    return Function(f"{module}:{name}", thing)


def _imported(name: str) -> Function:
    module, colon, attribute = name.partition(":")
    parts = [*module.split("."), attribute]
    if not colon or not all(part.isidentifier() for part in parts):
        raise InputError(wanted="a function as module:function", got=repr(name), attempt=_EXAMPLE)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(imported(module), attribute)
    except Exception as reason:  # whatever the user's module raises, the answer is the same
        raise InputError(
            wanted=f"an importable {name}",
            got=f"{type(reason).__name__}: {reason}",
            attempt="check module and name, and start from its folder",
        ) from None
    if not callable(found):
        kind = type(found).__name__
        raise InputError(wanted=f"a function at {name}", got=kind, attempt=_EXAMPLE)
    return Function(name, found)
