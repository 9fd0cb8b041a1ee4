"""The table of the gallery, `expected.toml`: what each layer is, and what an X-ray must say."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_PACKAGE = "tests.probes.gallery"
# A project and its issue's number, as in "pytorch 124464" or "transformers 27227, 33129".
_SEEN = re.compile(r"\(([^()]*\d{2,}[^()]*|several tutorials)\)\.")


@dataclass(frozen=True)
class Entry:
    """One layer. `properties` are the names under which a broken one may be reported, the best
    first (one is enough), or those that must hold for a right one."""

    layer: str  # file and name
    properties: tuple[str, ...]
    expect: str | None = None
    shape: tuple[int, int] | None = None
    dtype: str | None = None

    @property
    def name(self) -> str:
        """One of its own for each row: file, name and dtype."""
        return self.layer if self.dtype is None else f"{self.layer} in {self.dtype}"

    def made(self) -> Any:
        """A fresh layer: what an earlier examination left behind is gone."""
        if not _makes_module(self._thing):
            return self._thing
        module = self._thing()
        if self.dtype is None:
            return module
        import torch

        return module.to(getattr(torch, self.dtype))

    @property
    def words(self) -> dict[str, Any]:
        """The keywords of `hw.xray`."""
        given = {"expect": self.expect, "shape": self.shape}
        given["dtype"] = None if _makes_module(self._thing) else self.dtype
        return {name: value for name, value in given.items() if value is not None}

    @property
    def _thing(self) -> Any:
        file, _, name = self.layer.partition(":")
        return getattr(importlib.import_module(f"{_PACKAGE}.{file}"), name)

    @property
    def what(self) -> str:
        """What the bug does: the layer's description without the place where it was seen."""
        return _SEEN.sub(".", self._text).replace(" .", ".")

    @property
    def seen(self) -> str:
        """Project and issue number, or nothing."""
        found = _SEEN.search(self._text)
        return found[1] if found else ""

    @property
    def _text(self) -> str:
        return " ".join((inspect.getdoc(self._thing) or "").split())


def _makes_module(thing: Any) -> bool:
    return isinstance(thing, type) or not inspect.signature(thing).parameters


def _read(kind: str) -> dict[str, Entry]:
    rows = tomllib.loads((_HERE / "expected.toml").read_text(encoding="utf-8"))[kind]
    entries = {}
    for row in rows:
        row["properties"] = tuple(row.get("properties", ()))
        row["shape"] = tuple(row["shape"]) if "shape" in row else None
        entry = Entry(**row)
        entries[entry.name] = entry
    return entries


BROKEN = _read("broken")
RIGHT = _read("right")
UNDECIDED = _read("undecided")
