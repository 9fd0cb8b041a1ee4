"""What a study asks: a function and a grid that fit each other, checked before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.study.built_in import BuiltIn, built_in
from headwright.study.function import Function, function_of
from headwright.study.grid import Grid, grid, insist_on_size

GridSource = Mapping[str, Any] | str | Path


@dataclass(frozen=True)
class Study:
    """What is asked, checked as far as it can be without computing."""

    function: Function
    grid: Grid
    limit: int | None = None
    built_in: BuiltIn | None = None

    @property
    def count(self) -> int:
        whole = self.grid.count
        return whole if self.limit is None else min(whole, self.limit)

    @property
    def name(self) -> str:
        return self.built_in.name if self.built_in else self.function.name


def study_of(
    function: str | Callable[..., Any],
    source: GridSource | None = None,
    *,
    small: bool = False,
    limit: int | None = None,
) -> Study:
    """A built-in study by its name, with its own grid unless another is given; or a function."""
    comes_with_package = None
    if isinstance(function, str) and ":" not in function:
        comes_with_package = built_in(function)
        function = comes_with_package.function
        source = source if source is not None else comes_with_package.grid(small=small)
    if source is None:
        raise InputError(
            wanted="a grid", got="none", attempt="--grid sweep.toml; headwright study --new"
        )
    made = grid(source)
    insist_on_size(made, limit)
    called = function_of(function)
    for block in made.blocks:
        called.insist_on_parameters([axis.name for axis in block])
    return Study(called, made, limit, comes_with_package)
