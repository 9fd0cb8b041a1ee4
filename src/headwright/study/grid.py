"""A grid: the product of its parameters' values, or several products one after the other. Its
points are counted before any is made, and made one by one: the last parameter runs fastest."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.study.axis import Axis, axis_of

MOST_POINTS = 10**6  # without a limit that somebody asked for
_EXAMPLE = "[grid] with a line such as n = [4, 8, 16]; headwright study --new prints one"
# The column of a failed point's message
ERROR = "error"


@dataclass(frozen=True)
class Grid:
    blocks: tuple[tuple[Axis, ...], ...]

    @property
    def count(self) -> int:
        return sum(math.prod(axis.count for axis in block) for block in self.blocks)

    @property
    def parameters(self) -> list[str]:
        """Their names, in the order in which the grid has them."""
        return list(dict.fromkeys(axis.name for block in self.blocks for axis in block))

    @property
    def varying(self) -> list[str]:
        """The parameters that have more than one value."""
        values: dict[str, set[Any]] = {name: set() for name in self.parameters}
        for block in self.blocks:
            for axis in block:
                values[axis.name].update(axis.first(2))
        return [name for name, several in values.items() if len(several) > 1]

    def points(self, limit: int | None = None) -> Iterator[dict[str, Any]]:
        """In the grid's order. The first `limit` points use no more values of any parameter."""
        most = self.count if limit is None else limit
        return islice(self._all_points(most), most)

    def _all_points(self, most: int) -> Iterator[dict[str, Any]]:
        for block in self.blocks:
            names = [axis.name for axis in block]
            for values in product(*(axis.first(most) for axis in block)):
                yield dict(zip(names, values, strict=True))


def grid(source: Mapping[str, Any] | str | Path) -> Grid:
    """From a TOML file, or from what such a file holds: the parameters by name, with or without
    the `grid` around them."""
    written = _read(Path(source)) if isinstance(source, str | Path) else _wrapped(source)
    blocks = written["grid"] if isinstance(written["grid"], list) else [written["grid"]]
    if not blocks or not all(isinstance(block, Mapping) and block for block in blocks):
        raise InputError(wanted="parameters in [grid]", got="none", attempt=_EXAMPLE)
    made = Grid(tuple(_block(block) for block in blocks))
    _insist_on_separate(made.blocks)
    return made


def _read(file: Path) -> dict[str, Any]:
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as reason:
        got = f"{file}: {reason.strerror or reason}"
        raise InputError(wanted="a grid file", got=got, attempt="check the path") from None
    except (ValueError, RecursionError) as reason:  # no TOML, or no text
        first = (str(reason).splitlines() or [type(reason).__name__])[0][:200]
        raise InputError(
            wanted=f"TOML in {file.name}", got=first or "no text", attempt=_EXAMPLE
        ) from None
    others = [name for name in written if name != "grid"]
    if "grid" not in written or others:
        got = ", ".join(f"[{name}]" for name in others) or "an empty file"
        attempt = f"{_EXAMPLE}; a plain value there holds for every point"
        raise InputError(wanted=f"[grid] alone in {file.name}", got=got[:120], attempt=attempt)
    return written


def _wrapped(written: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = written.get("grid") if len(written) == 1 else None
    is_block = isinstance(inner, Mapping) and "from" not in inner
    is_blocks = isinstance(inner, list) and any(isinstance(block, Mapping) for block in inner)
    return written if is_block or is_blocks else {"grid": dict(written)}


def _block(written: Mapping[str, Any]) -> tuple[Axis, ...]:
    for name in written:
        if not isinstance(name, str) or not name.isidentifier() or name == ERROR:
            wanted = f"parameter names that Python can pass by name, other than {ERROR}"
            raise InputError(wanted=wanted, got=repr(name), attempt="n, leak, seed")
    return tuple(axis_of(name, values) for name, values in written.items())


def _insist_on_separate(blocks: Sequence[tuple[Axis, ...]]) -> None:
    """No point is in two blocks. They share one where they share a value of every parameter."""
    for one, other in combinations(blocks, 2):
        values = {axis.name: set(axis.first(MOST_POINTS)) for axis in other}
        if values.keys() != {axis.name for axis in one}:
            continue
        shared = {axis.name: _shared(axis, values[axis.name]) for axis in one}
        if all(found for found in shared.values()):
            point = ", ".join(f"{name} = {found[0]!r}" for name, found in shared.items())
            attempt = "take the point out of one of them"
            raise InputError(wanted="[[grid]] blocks without common points", got=point,
                             attempt=attempt)  # fmt: skip


def _shared(one: Axis, others: set[Any]) -> list[Any]:
    return list(islice((value for value in one.first(MOST_POINTS) if value in others), 1))


def insist_on_size(made: Grid, limit: int | None) -> None:
    if limit is None and made.count > MOST_POINTS:
        raise InputError(
            wanted=f"at most {MOST_POINTS:,} points, or a limit",
            got=f"a grid of {_counted(made.count)} points",
            attempt="fewer values, or --limit 1000 for the first 1,000 of them",
        )


def _counted(number: int) -> str:
    """In full as long as somebody can read it."""
    return f"{number:,}" if number < 10**15 else f"about 10^{math.log10(number):.0f}"
