"""What is wanted of the weights: a target is a support S and a share p_a > 0 for every key in it.

Copying is the share 1 on one key, averaging equal shares, a mixture any shares; one record serves
all three, so nothing downstream asks which word was used. Everything the caller gave is checked
here, once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.types import Array, Float, Keys

# Shares may be off 1 by what decimal input rounds away; they are then rescaled.
_SUM_SLACK = 1e-9
_LARGEST = 1e60


@dataclass(frozen=True)
class Target:
    """`support` in the order given, `shares` summing to 1; `word` is what the caller asked for."""

    word: str
    support: tuple[int, ...]
    shares: Float[Array, "m"]

    def dense(self, n: int) -> Float[Array, "n"]:
        p = np.zeros(n)
        p[list(self.support)] = self.shares
        return p

    def __str__(self) -> str:
        if self.word == "copy":
            return f"copy key {self.support[0]}"
        keys = ", ".join(str(a) for a in self.support[:6]) + (
            ", ..." if len(self.support) > 6 else ""
        )
        return f"{self.word} of keys {keys}"


@dataclass(frozen=True)
class Wanted:
    """One question: this target, on these keys, at this leak. `bias` is one number per key or None."""

    target: Target
    keys: Keys
    leak: float
    scale: float = 1.0
    bias: Float[Array, "n"] | None = None


def copy_target(j: Any, n: int) -> Target:
    return Target("copy", (inputs.index("key to copy", j, n),), np.ones(1))


def average_target(keys: Any, n: int) -> Target:
    support = tuple(inputs.index("key to average", a, n) for a in _several(keys))
    _distinct(support)
    return Target("average", support, np.full(len(support), 1.0 / len(support)))


def mixture_target(shares: Any, n: int) -> Target:
    """From `{key: share}`, or n shares in a row (zeros are keys left out)."""
    if isinstance(shares, Mapping):
        named = [(inputs.index("key to mix", a, n), s) for a, s in shares.items()]
        _distinct(tuple(a for a, _ in named))
    else:
        _, (row,) = inputs.arrays(shares=shares)
        named = list(enumerate(to_numpy(inputs.shape("shares", row, n)).tolist()))
    named = [(a, inputs.number(f"share of key {a}", s, low=0.0, high=1.0)) for a, s in named]
    named = [(a, s) for a, s in named if s > 0.0]
    total = math.fsum(s for _, s in named)
    if abs(total - 1.0) > _SUM_SLACK:
        raise InputError(
            wanted="shares that sum to 1",
            got=f"sum {total:.12g}",
            attempt="divide each share by their sum",
        )
    return Target("mixture", tuple(a for a, _ in named), np.array([s / total for _, s in named]))


def wanted(target: Any, keys: Any, *, leak: Any, scale: Any = 1.0, bias: Any = None) -> Wanted:
    """The checked question; `target` is a function of n, because only the keys know how many there
    are."""
    _, (K, b) = inputs.arrays(keys=keys, bias=bias)
    K = inputs.shape("keys", to_numpy(K).astype(float, copy=False), "n", "d")
    computable("keys", K)
    if b is not None:
        b = inputs.shape("bias", to_numpy(b).astype(float), K.shape[0])
        if np.abs(b).max() > _LARGEST:
            raise InputError(
                wanted=f"a bias up to {_LARGEST:g}",
                got=f"{np.abs(b).max():.3g}",
                attempt="-1e9 hides a key",
            )
    scale = inputs.number("scale", scale)
    if scale == 0.0:
        raise InputError(
            wanted="a scale other than 0", got="0", attempt="1/sqrt(d), or leave it at 1"
        )
    computable("scale", np.array([scale]))
    leak = inputs.number("leak", leak, low=0.0, high=1.0, open_ends=True)
    return Wanted(target(K.shape[0]), np.ascontiguousarray(K), leak, scale, b)


def computable(name: str, array: Array) -> None:
    """Squares of lengths must neither overflow nor vanish."""
    size = max(float(array.max()), -float(array.min()))  # no n x d temporary
    if size > _LARGEST or 0.0 < size < 1 / _LARGEST:
        raise InputError(
            wanted=f"{name} of size between {1 / _LARGEST:g} and {_LARGEST:g}",
            got=f"{size:.3g}",
            attempt="choose other units; the query scales the other way",
        )


def _several(keys: Any) -> list[Any]:
    if (
        isinstance(keys, (str, bytes))
        or not isinstance(keys, Iterable)
        or getattr(keys, "ndim", 1) == 0
    ):
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
