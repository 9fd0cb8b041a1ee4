"""What a question about a query wants: shares of the weight, for how many keys, how exactly.

A sheet may fix what the classic exercise leaves open: the number of keys `n`, the dimension `d`,
scores divided by sqrt(d), and the `leak`, the weight that the smallest allowed scale leaves on the
other keys.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headwright.errors import InputError
from headwright.exercise.instances import Instance, instances, sized_instances

KEYS = 10  # whose numbers a verdict quotes
LEAK = 0.01
VARIANCE = 0.5  # of the length of the random key
SMALLEST = 5  # keys: fewer would let a wrong sum pass
MOST_KEYS = 200
# A scale rounded to one decimal (down or up) leaves so many times the leak: e^0.05, e^-0.1
_ROUNDED = (0.9, 1.06)


@dataclass(frozen=True)
class Wanted:
    """`shares` by the letter of the key. With `exact` the scale is asked as a number: the smallest
    one whose leak is `leak`."""

    shares: Mapping[str, float]
    n: int = KEYS
    d: int | None = None
    leak: float = LEAK
    scaled: bool = False
    exact: bool = False
    variance: float = VARIANCE

    @cached_property
    def instances(self) -> tuple[Instance, ...]:
        """Where an answer must hold: several sizes, unless the sheet fixes them."""
        if self.d is None and self.n == KEYS:
            return instances()
        d = self.d or max(MOST_KEYS // 4, self.n + 1)
        scale = 1 / math.sqrt(d) if self.scaled else 1.0
        return sized_instances(((SMALLEST, d), (self.n, d), (d, d)), scale)

    @property
    def shown(self) -> Instance:
        """The instance whose numbers a verdict quotes."""
        return self.instances[1]

    @property
    def near_enough(self) -> float:
        """How far a weight may be from its share where the scale is a number."""
        return 2 * self.leak

    def leaves(self, others: float) -> str:
        """ "too much", "too little" or nothing to complain of: the weight on the other keys."""
        low, high = (bound * self.leak for bound in _ROUNDED)
        return "too much" if others > high else "too little" if others < low else ""


def wanted(parameters: Mapping[str, Any]) -> Wanted:
    """From the parameters of a question, which `check_wanted` has seen."""
    return Wanted(
        shares=dict(parameters["target"]),
        n=int(parameters.get("n", KEYS)),
        d=parameters.get("d"),
        leak=float(parameters.get("leak", LEAK)),
        scaled=bool(parameters.get("scaled", False)),
        exact="leak" in parameters,
        variance=float(parameters.get("variance", VARIANCE)),
    )


def check_wanted(parameters: Mapping[str, Any], name: str) -> None:
    """A query question says which weights are wanted; they must be a distribution, and the sizes
    must be sizes."""
    target = parameters.get("target")
    if not _is_distribution(target):
        raise InputError(
            wanted="parameters.target with positive weights that sum to 1",
            got=f"{target} in {name}",
            attempt="target = { a = 0.5, b = 0.5 }",
        )
    n = parameters.get("n", KEYS)
    d = parameters.get("d", MOST_KEYS)
    whole = all(isinstance(x, int) and not isinstance(x, bool) for x in (n, d))
    if not whole or not SMALLEST <= n <= d <= MOST_KEYS:
        raise InputError(
            wanted=f"whole numbers {SMALLEST} <= n <= d <= {MOST_KEYS} in parameters",
            got=f"n = {n}, d = {d} in {name}",
            attempt="n = 12 and d = 64",
        )
    leak = parameters.get("leak", LEAK)
    variance = parameters.get("variance", VARIANCE)
    if not all(_is_share(x) for x in (leak, variance)):
        raise InputError(
            wanted="parameters.leak and parameters.variance between 0 and 1",
            got=f"{leak} and {variance} in {name}",
            attempt="leak = 0.02",
        )


def _is_distribution(target: Any) -> bool:
    if not isinstance(target, dict) or not target:
        return False
    weights = list(target.values())
    if not all(_is_number(weight) and weight > 0 for weight in weights):
        return False
    return abs(sum(weights) - 1) <= 1e-9


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 < value < 1


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
