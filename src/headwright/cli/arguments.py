"""Words of the command line become arrays and numbers, or a sentence that says what was wanted."""

from __future__ import annotations

import json
from typing import Any

import rich_click as click

from headwright import inputs
from headwright.errors import InputError
from headwright.files import read_array


class _ArrayOption(click.ParamType):
    """A path to an array file, or the array itself written as JSON: `--query '[1, 0, 2]'`."""

    name = "array"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            if isinstance(value, str) and value.lstrip().startswith("["):
                _, (array,) = inputs.arrays(**{param.name: _inline(value)})
                return array
            return read_array(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


ARRAY = _ArrayOption()


def _inline(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        example = "write it like [[1, 0], [0, 1]]"
        raise InputError(wanted="a JSON array", got=text[:40], attempt=example) from None


def whole_numbers(text: str, *, wanted: str, attempt: str) -> list[int]:
    """`0,3,7`: whole numbers between commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(wanted=wanted, got=repr(text), attempt=attempt) from None


def whole_number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        wanted = f"{name} as a whole number"
        raise InputError(wanted=wanted, got=repr(text), attempt=f"{name} 2") from None
