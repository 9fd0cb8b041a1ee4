"""The three questions, `copy`, `average` and `mixture`: what the caller gave is checked, and the
answer is asked of those who know the keys (`several.noiseless`) or only their law
(`several.robust`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headwright import inputs
from headwright.design.options import options_from
from headwright.design.record import Design
from headwright.design.several.noiseless import noiseless_design
from headwright.design.several.robust import robust_design
from headwright.design.target import (
    Target,
    average_target,
    copy_target,
    mixture_target,
    wanted,
)
from headwright.errors import InputError


def copy(
    j: Any, K: Any, *, leak: float = 1e-3, heads: Any = 1, law: Any = None, **options: Any
) -> Design:
    """The cheapest query that puts all but `leak` of the weight on key j. Options: `Options`.

    >>> hw.design.copy(0, [[1, 0], [0, 1]], leak=0.01).queries.round(4)
    array([[ 2.2976, -2.2976]])
    """
    return _answer(lambda n: copy_target(j, n), K, leak, heads, law, options)


def average(
    keys: Any, K: Any, *, leak: float = 1e-3, heads: Any = 1, law: Any = None, **options: Any
) -> Design:
    """Equal weights on several keys. `heads`: 1, another number, or "auto" for the fewest.

    >>> hw.design.average([0, 1], [[1, 0], [0, 1], [-1, -1]], leak=0.01).weights.round(3)
    array([0.495, 0.495, 0.01 ])
    """
    return _answer(lambda n: average_target(keys, n), K, leak, heads, law, options)


def mixture(
    shares: Any, K: Any, *, leak: float = 1e-3, heads: Any = 1, law: Any = None, **options: Any
) -> Design:
    """Given shares on several keys, `{key: share}`; or n shares, one per key.

    >>> K = [[1, 0], [0, 1], [-1, -1]]
    >>> hw.design.mixture({0: 0.7, 1: 0.3}, K, leak=0.01).weights.round(3)
    array([0.693, 0.297, 0.01 ])
    """
    return _answer(lambda n: mixture_target(shares, n), K, leak, heads, law, options)


def _answer(
    target: Callable[[int], Target],
    K: Any,
    leak: Any,
    heads: Any,
    law: Any,
    given: dict[str, Any],
) -> Design:
    options = options_from(given)
    want = wanted(target, K, leak=leak, scale=options.scale, bias=options.bias)
    count = _count(heads, len(want.target.support))
    if law is None:
        return noiseless_design(want, count, options)
    return robust_design(want, law, heads=count, options=options)


def _count(heads: Any, m: int) -> int | str:
    if isinstance(heads, str) and heads == "auto":
        return "auto"
    count = inputs.number("heads", heads, low=1, high=m)
    if count != int(count) or isinstance(heads, bool):
        raise InputError(
            wanted='heads="auto" or a whole number', got=repr(heads), attempt='heads="auto"'
        )
    return int(count)
