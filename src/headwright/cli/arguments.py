"""Words of the command line become arrays and numbers, or a sentence that says what was wanted."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import rich_click as click

from headwright import inputs
from headwright.errors import InputError
from headwright.files import read_array


class _ArrayOption(click.ParamType):
    """A path to an array file, `-` for standard input, or the array itself written as JSON:
    `--query '[1, 0, 2]'`."""

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

# No set of keys that fits in memory has more; a slip of the finger in a range asks for more at once
_MOST_KEYS = 10**7
_MOST_DIGITS = 19

_PLAIN = r"[0-9.]+(?:e[+-]?[0-9]+)?"
_SIZE = rf"d|{_PLAIN}"
_SCALE = re.compile(rf"([+-]?{_PLAIN})(?:/(?:sqrt\(({_SIZE})\)|({_SIZE})))?")
_SCALE_TAKES = "a number or a quotient such as 1/8, 1/d or 1/sqrt(d)"


class Scale:
    """A factor on the scores as it was written; `d`, the width of the keys, is known only once they
    are read."""

    def __init__(self, text: str) -> None:
        found = _SCALE.fullmatch(re.sub(r"\s", "", text.lower()))
        if found is None:
            got = repr(text)
            raise InputError(wanted=_SCALE_TAKES, got=got, attempt="--scale '1/sqrt(d)'")
        self._text = text
        self._above = found[1]
        self._below = found[2] or found[3] or "1"
        self._rooted = found[2] is not None

    def of(self, keys: Any) -> float:
        """The number, for these keys."""
        width = inputs.shape("keys", keys, "n", "d").shape[1]
        below = width if self._below == "d" else self._number(self._below)
        divisor = math.sqrt(below) if self._rooted else float(below)
        if divisor == 0:
            got = f"{self._text!r}, which divides by 0"
            raise InputError(wanted=_SCALE_TAKES, got=got, attempt="--scale '1/sqrt(d)'")
        return self._number(self._above) / divisor

    def _number(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            got = repr(self._text)
            raise InputError(wanted=_SCALE_TAKES, got=got, attempt="--scale 0.125") from None


class _ScaleOption(click.ParamType):
    """A number, or a quotient in which d stands for the width of the keys."""

    name = "number|1/sqrt(d)"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            return Scale(str(value))
        except InputError as error:
            self.fail(str(error), param, ctx)


SCALE = _ScaleOption()


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


def key_numbers(option: str, text: str) -> list[int]:
    """`0,3,7-9`: keys, counted from 0; a range has both of its ends."""
    keys: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not _is_whole(low) or (dash and not _is_whole(high)) or (dash and int(high) < int(low)):
            wanted = f"{option} as keys counted from 0"
            raise InputError(wanted=wanted, got=repr(part), attempt="3, or 1-3 for a range")
        if dash and int(high) - int(low) >= _MOST_KEYS:
            wanted = f"{option} with at most {_MOST_KEYS:,} keys in a range"
            raise InputError(wanted=wanted, got=repr(part), attempt="1-3")
        keys.extend(range(int(low), int(high if dash else low) + 1))
    return keys


def _is_whole(text: str) -> bool:
    digits = text.strip()
    return digits.isascii() and digits.isdigit() and len(digits) < _MOST_DIGITS


def whole_number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        wanted = f"{name} as a whole number"
        raise InputError(wanted=wanted, got=repr(text), attempt=f"{name} 2") from None
