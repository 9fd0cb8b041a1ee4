"""The values of one parameter: written out, stepped from one end to the other, or spread between
them.

Steps are taken in exact fractions of the decimals that were written, so {from = 0, to = 1,
step = 0.1} has 11 values and the fourth is 0.3. How many there are is known before any is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from headwright.errors import InputError

STEPPED = "{from = 0, to = 1, step = 0.1}"
SPREAD = "{from = 1, to = 1000, points = 4, log = true}"
# Digits of the logarithms between the ends; a double has 17
_DIGITS = 60
# Whole numbers a, a r, a r^2, ... below the largest double: r is p/q, and a is divisible by every q
_MOST_WHOLE = 1025

# Tables hold whole numbers of 64 bits
_LARGEST = 2**63


@dataclass(frozen=True)
class Axis:
    name: str
    count: int
    value: Callable[[int], Any]  # of an index below `count`

    def __iter__(self) -> Iterator[Any]:
        return (self.value(i) for i in range(self.count))

    def first(self, most: int) -> list[Any]:
        return list(islice(self, most))


def axis_of(name: str, written: Any) -> Axis:
    """What a grid says about one parameter. A plain value is the same at every point."""
    if isinstance(written, dict):
        keys = frozenset(written)
        if keys == {"from", "to", "step"}:
            return _stepped(name, written)
        if keys - {"log"} == {"from", "to", "points"}:
            return _spread(name, written)
        got = f"{{{', '.join(map(str, written))}}}"
        raise InputError(wanted=f"{name} as {STEPPED} or {SPREAD}", got=got, attempt=STEPPED)
    if isinstance(written, np.ndarray | range | list | tuple):
        return _listed(name, written)
    return _listed(name, [written])


def _listed(name: str, written: Any) -> Axis:
    values = [_plain(name, value) for value in written]
    if not values:
        raise InputError(
            wanted=f"values of {name}", got="an empty list", attempt=f"{name} = [1, 2]"
        )
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            got = f"{value!r} more than once"
            raise InputError(wanted=f"different values of {name}", got=got, attempt="leave one out")
        seen.add(value)
    return Axis(name, len(values), values.__getitem__)


def _plain(name: str, value: Any) -> Any:
    """A number, a word or a truth; nothing that a worker could not be told in one line of JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(
            wanted=f"finite values of {name}", got=str(value), attempt=f"leave {value} out"
        )
    if not isinstance(value, bool | int | float | str):
        wanted = f"numbers, words, true or false for {name}"
        got = f"{type(value).__name__} {value!r}"[:80]
        raise InputError(wanted=wanted, got=got, attempt=f"{name} = [1, 2]")
    if isinstance(value, int):
        _insist_on_fitting(name, value)
    return value


def _stepped(name: str, written: dict[str, Any]) -> Axis:
    start = _number(name, "from", written)
    end = _number(name, "to", written)
    step = _number(name, "step", written)
    # The decimals that were written, exactly
    first = _exact(start)
    length = _exact(end) - first
    if step == 0 or length * _exact(step) < 0:
        turned = -step if step else 1
        raise InputError(
            wanted=f"a step of {name} that leads from {start} to {end}",
            got=f"step = {step}",
            attempt=f"step = {turned}",
        )
    whole = all(isinstance(number, int) for number in (start, step))
    count = math.floor(length / _exact(step)) + 1
    _insist_on_distinct(name, abs(float(step)), start, end, whole or count == 1)
    stride = _exact(step)
    return Axis(name, count, lambda i: _rounded(first + i * stride, whole))


def _spread(name: str, written: dict[str, Any]) -> Axis:
    start = _number(name, "from", written)
    end = _number(name, "to", written)
    count = written["points"]
    log = written.get("log", False)
    if isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise InputError(
            wanted=f"points of {name} as a whole number from 2", got=repr(count), attempt=SPREAD
        )
    if not isinstance(log, bool):
        raise InputError(
            wanted=f"log = true or false for {name}", got=repr(log), attempt="log = true"
        )
    if start == end:
        attempt = f"{name} = {start}"
        raise InputError(wanted=f"two ends of {name}", got=f"{start} twice", attempt=attempt)
    if log and min(start, end) <= 0:
        got = f"{start} to {end}"
        raise InputError(wanted=f"positive ends of {name}, for log", got=got, attempt=SPREAD)
    return _in_logarithms(name, start, end, count) if log else _evenly(name, start, end, count)


def _evenly(name: str, start: float, end: float, count: int) -> Axis:
    first = _exact(start)
    stride = (_exact(end) - first) / (count - 1)
    whole = isinstance(start, int) and isinstance(end, int) and stride.denominator == 1
    _insist_on_distinct(name, abs(float(stride)), start, end, whole)
    return Axis(name, count, lambda i: _rounded(first + i * stride, whole))


def _in_logarithms(name: str, start: float, end: float, count: int) -> Axis:
    low = Decimal(repr(start))
    with localcontext(prec=_DIGITS) as digits:
        # value_i = from (to / from)^(i / (points - 1))
        rate = (Decimal(repr(end)) / low).ln() / (count - 1)

        def value(i: int) -> float:
            if i == count - 1:
                return float(end)
            return float(digits.multiply(low, digits.exp(digits.multiply(rate, i))))

    _insist_on_distinct(name, abs(float(rate)), 1.0, 1.0, False)
    whole = isinstance(start, int) and isinstance(end, int) and count <= _MOST_WHOLE
    if whole and all(value(i).is_integer() for i in range(count)):
        return Axis(name, count, lambda i: int(value(i)))
    return Axis(name, count, value)


def _insist_on_distinct(name: str, stride: float, start: float, end: float, exact: bool) -> None:
    """Doubles between the ends lie at most so far apart as at the larger end; two values closer
    than that may be one."""
    if not exact and stride <= math.ulp(max(abs(start), abs(end))):
        got = f"steps of {stride:g} between {start} and {end}"
        attempt = "a larger step, or fewer points"
        raise InputError(wanted=f"values of {name} that differ", got=got, attempt=attempt)


def _number(name: str, word: str, written: dict[str, Any]) -> int | float:
    value = written[word]
    if isinstance(value, np.generic):
        value = value.item()
    real = isinstance(value, int | float) and not isinstance(value, bool)
    if real and isinstance(value, int):
        _insist_on_fitting(name, value)
    if not real or not math.isfinite(value):
        got = f"{word} = {value!r}"[:80]
        raise InputError(wanted=f"finite numbers for {name}", got=got, attempt=STEPPED)
    return value


def _insist_on_fitting(name: str, value: int) -> None:
    if abs(value) >= _LARGEST:
        wanted = f"whole numbers of {name} that fit into 64 bits"
        got = f"one of {value.bit_length()} bits"
        raise InputError(wanted=wanted, got=got, attempt=f"{name} = 1e30, for a float")


def _exact(number: float) -> Fraction:
    """0.1 is a tenth here: the shortest decimal that means the double is what somebody wrote."""
    return Fraction(repr(number))


def _rounded(number: Fraction, whole: bool) -> int | float:
    return int(number) if whole else float(number)
