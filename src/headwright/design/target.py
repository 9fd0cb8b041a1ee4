"""What is wanted of the weights: a target is a support S and a share p_a > 0 for every key in it.

Copying is the share 1 on one key, averaging equal shares, a mixture any shares; one record serves
all three, so nothing downstream asks which word was used. The part of a target that one of several
heads serves (its *face*) is a target too. Everything the caller gave is checked here, once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.types import Array, Float, Keys

PerKey = Float[Array, "n"]
Shares = Float[Array, "m"]
Bias = PerKey | None

# Shares may be off 1 by what decimal input rounds away; they are then rescaled.
_SUM_SLACK = 1e-9
# Squares of sums of such numbers neither overflow nor vanish in float64.
_LARGEST = 1e60
_MOST_NAMED = 6  # keys that a text names before it says "..."


@dataclass(frozen=True)
class Target:
    """`support` in the order given, `shares` summing to 1; `word` is what the caller asked for."""

    support: tuple[int, ...]
    shares: Shares
    word: str = "mixture"

    def by_key(self) -> dict[int, float]:
        return dict(zip(self.support, self.shares.tolist(), strict=True))

    def dense(self, n: int) -> PerKey:
        p = np.zeros(n)
        p[list(self.support)] = self.shares
        return p

    def goal(self, bias: Bias) -> Shares:
        """ln p - bias: what `scale k_a . q` has to be on S, up to one constant."""
        logs = np.log(self.shares)
        return logs if bias is None else logs - bias[list(self.support)]

    def __str__(self) -> str:
        if self.word == "copy":
            return f"copy key {self.support[0]}"
        return f"{self.word} of keys {named_keys(self.support)}"


@dataclass(frozen=True)
class Wanted:
    """One question: this target, on these keys, at this leak, and perhaps a bias per key."""

    target: Target
    keys: Keys
    leak: float
    scale: float = 1.0
    bias: Bias = None


def named_keys(keys: Iterable[int]) -> str:
    """The first few of them, for a text."""
    names = [str(a) for a in keys]
    more = ", ..." if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def copy_target(j: Any, n: int) -> Target:
    key = inputs.index("key to copy", j, n)
    return Target((key,), np.ones(1), "copy")


def average_target(keys: Any, n: int) -> Target:
    support = tuple(inputs.index("key to average", a, n) for a in _several(keys))
    _distinct(support)
    m = len(support)
    return Target(support, np.full(m, 1.0 / m), "average")


def mixture_target(shares: Any, n: int) -> Target:
    """From `{key: share}`, or n shares in a row (zeros are keys left out)."""
    given = _given_shares(shares, n)
    checked = {a: inputs.number(f"share of key {a}", s, low=0.0, high=1.0) for a, s in given}
    positive = {a: s for a, s in checked.items() if s > 0.0}

    total = math.fsum(positive.values())
    if abs(total - 1.0) > _SUM_SLACK:
        raise InputError(
            wanted="shares that sum to 1",
            got=f"sum {total:.12g}",
            attempt="divide each share by their sum",
        )
    rescaled = np.array([s / total for s in positive.values()])
    return Target(tuple(positive), rescaled, "mixture")


def any_target(given: Any, n: int) -> Target:
    """A key's number (copy), a list of them (average) or `{key: share}` (mixture)."""
    if isinstance(given, Mapping):
        return mixture_target(given, n)
    if np.ndim(given) == 0:
        return copy_target(given, n)
    return average_target(given, n)


def wanted(
    target: Callable[[int], Target], keys: Any, *, leak: Any, scale: Any = 1.0, bias: Any = None
) -> Wanted:
    """The checked question; `target` is a function of n, because only the keys know how many there
    are."""
    _, (K, b) = inputs.arrays(keys=keys, bias=bias)
    K = inputs.shape("keys", to_numpy(K).astype(float, copy=False), "n", "d")
    computable("keys", K)
    b = _checked_bias(b, len(K))
    scale = _checked_scale(scale)
    leak = inputs.number("leak", leak, low=0.0, high=1.0, open_ends=True)
    return Wanted(target(len(K)), np.ascontiguousarray(K), leak, scale, b)


def computable(name: str, array: Array) -> None:
    """Squares of lengths must neither overflow nor vanish."""
    size = max(float(array.max()), -float(array.min()))  # no n x d temporary
    if size > _LARGEST or 0.0 < size < 1 / _LARGEST:
        raise InputError(
            wanted=f"{name} of size between {1 / _LARGEST:g} and {_LARGEST:g}",
            got=f"{size:.3g}",
            attempt="choose other units; the query scales the other way",
        )


def _given_shares(shares: Any, n: int) -> list[tuple[int, Any]]:
    if isinstance(shares, Mapping):
        given = [(inputs.index("key to mix", a, n), s) for a, s in shares.items()]
        _distinct(tuple(a for a, _ in given))
        return given
    _, (row,) = inputs.arrays(shares=shares)
    row = to_numpy(inputs.shape("shares", row, n))
    return list(enumerate(row.tolist()))


def _checked_bias(bias: Any, n: int) -> Bias:
    if bias is None:
        return None
    bias = inputs.shape("bias", to_numpy(bias).astype(float), n)
    largest = np.abs(bias).max()
    if largest > _LARGEST:
        raise InputError(
            wanted=f"a bias up to {_LARGEST:g}",
            got=f"{largest:.3g}",
            attempt="-1e9 hides a key",
        )
    return bias


def _checked_scale(scale: Any) -> float:
    scale = inputs.number("scale", scale)
    if scale == 0.0:
        raise InputError(
            wanted="a scale other than 0", got="0", attempt="1/sqrt(d), or leave it at 1"
        )
    computable("scale", np.array([scale]))
    return scale


def _several(keys: Any) -> list[Any]:
    text = isinstance(keys, (str, bytes))
    single = getattr(keys, "ndim", 1) == 0
    if text or single or not isinstance(keys, Iterable):
        raise InputError(
            wanted="a list of keys to average", got=inputs.shown(keys), attempt="average([a, b], K)"
        )
    found = list(keys)
    if not found:
        raise InputError(
            wanted="at least one key to average", got="none", attempt="average([a, b], K)"
        )
    return found


def _distinct(support: tuple[int, ...]) -> None:
    if len(set(support)) < len(support):
        twice = next(a for a in support if support.count(a) > 1)
        raise InputError(
            wanted="every key once",
            got=f"key {twice} twice",
            attempt="mixture({key: share}) weighs keys",
        )
