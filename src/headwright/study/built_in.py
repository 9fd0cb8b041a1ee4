"""The studies that come with the package: folders beside this file that have an `about.toml`."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.study.section import Rows, Section

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class BuiltIn:
    name: str  # the word of the command line
    title: str
    asks: str
    folder: Path

    @property
    def function(self) -> str:
        return f"{self._package}.job:job"

    def grid(self, *, small: bool) -> Path:
        return self.folder / ("small.toml" if small else "grid.toml")

    def figures(self, rows: Rows) -> dict[str, Any]:
        return import_module(f"{self._package}.figures").figures(rows)

    def sections(self, rows: Rows) -> list[Section]:
        return import_module(f"{self._package}.page").sections(rows)

    @property
    def _package(self) -> str:
        return f"headwright.study.{self.folder.name}"


def built_in_studies(here: Path = _HERE) -> dict[str, BuiltIn]:
    """By name. Listing them imports none of them."""
    found = [_described(file) for file in sorted(here.glob("*/about.toml"))]
    return {study.name: study for study in found}


def _described(file: Path) -> BuiltIn:
    about = tomllib.loads(file.read_text(encoding="utf-8"))
    return BuiltIn(about["name"], about["title"], about["asks"], file.parent)


def built_in(name: str) -> BuiltIn:
    known = built_in_studies()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    raise InputError(
        wanted=f"a study ({', '.join(known)}) or module:function",
        got=repr(name),
        attempt=f"headwright study {near[0]}" if near else "headwright study, which lists them",
    )
