"""The question for any callable on arrays: `f(P X) = P f(X)` for every permutation P.

The group is found first, swap by swap; then random permutations are tried. Rounding is told apart
from breakage by measuring how much the output moves when every input number moves by one rounding
error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright import inputs
from headwright.errors import HeadwrightError, InputError
from headwright.result import to_numpy
from headwright.symmetry.group import group
from headwright.symmetry.trials import BudgetSpent, Counterexample, Trials
from headwright.types import Array

Layer = Callable[[Array], Array]
_MOST = 10**9  # permutations


@dataclass(frozen=True)
class Symmetry:
    """Verdict of a check. `status` is "equivariant", "broken" or "stochastic"; only the first one
    `holds`. `group` is what holds of all permutations, in words; empty where the budget did not
    allow to find it."""

    holds: bool
    status: str
    error: float
    expected_rounding: float
    tried: int
    counterexample: Counterexample | None
    message: str
    group: str = ""


def permutation(
    layer: Layer,
    X: Any,
    *,
    axis: int = -2,
    among: Sequence[int] | None = None,
    budget: int = 200,
    seed: int = 0,
) -> Symmetry:
    """Check `f(P X) = P f(X)` on the tokens of `X` `(..., n, d)`.

    `axis=-2` permutes tokens; `axis=-1` permutes features (the false claim `f(X P) = f(X) P`).
    `among` restricts the permutations to some tokens, for layers with a padding mask. At most
    `budget` permutations are tried.

    >>> hw.symmetry.permutation(np.tanh, np.eye(3)).holds
    True
    """
    known = bool(compat.is_array_api_obj(X))
    X = X if known else inputs.arrays(X=X)[1][0]
    if X.ndim < 2 or 0 in X.shape or not isinstance(axis, int) or axis not in (-1, -2):
        raise InputError(
            wanted="X of shape (..., n, d), axis -2 or -1",
            got=f"shape {tuple(X.shape)}, axis {inputs.shown(axis)}",
            attempt="one row per token",
        )
    n = X.shape[axis]
    tokens = list(range(n)) if among is None else _tokens(among, n)
    budget = inputs.whole("budget", budget, low=1, high=_MOST)
    rng = np.random.default_rng(inputs.whole("seed", seed, low=0))
    if not callable(layer):
        raise InputError(
            wanted="a layer to call on X",
            got=inputs.shown(layer),
            attempt="pass a function or a module",
        )
    probe = _Probe(layer, X, axis)
    if probe.stochastic:
        message = (
            "two calls on the same input differ: the layer is random (dropout on?); "
            "call layer.eval() first"
        )
        return Symmetry(False, "stochastic", probe.wobble, probe.rounding, 2, None, message)
    trials = Trials(probe, budget)
    found = _group(trials, tokens, n, "token" if axis == -2 else "feature")
    _at_random(trials, tokens, n, rng)
    return _verdict(trials, found)


def _group(trials: Trials, tokens: list[int], n: int, thing: str) -> str:
    """With half the budget at most; random permutations see what swaps alone do not."""
    whole = trials.budget
    trials.budget = max(whole // 2, 1)
    try:
        found = group(tokens, n, trials.holds).words(thing)
    except BudgetSpent:
        found = ""
    trials.budget = whole
    return found


def _at_random(trials: Trials, tokens: list[int], n: int, rng: np.random.Generator) -> None:
    """Until the budget is spent."""
    while len(tokens) > 2 and trials.tried < trials.budget:
        order = np.arange(n)
        order[tokens] = rng.permutation(tokens)
        trials.once_more(order)


def _verdict(trials: Trials, found: str) -> Symmetry:
    broken = trials.broken
    tried = trials.tried
    worst = trials.worst
    rounding = trials.claim.rounding
    if broken is not None:
        i, j = broken.swap
        message = f"swapping {i} and {j} moves the output by {broken.error:.2g}"
        return Symmetry(False, "broken", worst, rounding, tried, broken, message, found)
    message = f"largest error {worst:.2g}, rounding expected {rounding:.2g}, {tried} permutations"
    return Symmetry(True, "equivariant", worst, rounding, tried, None, message, found)


def _tokens(among: Any, n: int) -> list[int]:
    try:
        tokens = list(among)
    except TypeError:
        tokens = [None]
    if any(i is None for i in tokens):
        raise InputError(
            wanted="among as a list of tokens", got=inputs.shown(among), attempt="among=[0, 2, 3]"
        )
    return [inputs.index("token", i, n) for i in tokens]


class _Probe:
    """The layer at one input, with its rounding error and its randomness measured."""

    def __init__(self, layer: Layer, X: Array, axis: int) -> None:
        self.layer = layer
        self.X = X
        self.axis = axis
        self.output = self._call(X)
        if self.output.ndim < -axis or self.output.shape[axis] != X.shape[axis]:
            raise InputError(
                wanted=f"one output row per token ({X.shape[axis]} along axis {axis})",
                got=f"output of shape {self.output.shape}",
                attempt="wrap the layer so that it returns its sequence, "
                "e.g. lambda x: layer(x)[0]",
            )
        eps = _unit(X)
        scale = float(np.abs(self.output).max())
        # A sum of N terms of random rounding errors grows like sqrt(N) eps; an ill-conditioned
        # layer grows more, which shows when every entry of the input is moved by one rounding
        # error.
        summing = 2 * eps * scale * float(np.sqrt(max(X.shape[-2:])))
        moved = self.output
        if _floating(X):
            signs = np.random.default_rng(1).choice([-1.0, 1.0], X.shape)
            moved = self._call(X + X * _like(signs * eps, X))
        self.wobble = self._apart(self._call(X))
        tiny = float(np.finfo(float).tiny)
        self.rounding = max(summing + 4 * self._apart(moved), tiny)
        self.stochastic = self.wobble > summing

    def _apart(self, other: np.ndarray) -> float:
        return float(np.abs(other - self.output).max())

    def _call(self, X: Array) -> np.ndarray:
        try:
            made = self.layer(X)
        except HeadwrightError:
            raise
        except Exception as reason:
            first = (str(reason).splitlines() or [""])[0][:160]
            raise InputError(
                wanted=f"a layer that accepts shape {tuple(X.shape)}",
                got=f"{type(reason).__name__}: {first}",
                attempt="check the shape, the dtype and the array library the layer wants",
            ) from reason
        if isinstance(made, (tuple, list, dict)) or not hasattr(made, "shape"):
            raise InputError(
                wanted="a layer that returns one array",
                got=type(made).__name__,
                attempt="wrap it: lambda x: layer(x)[0]",
            )
        made = to_numpy(made)
        if made.dtype.kind not in "fiub":
            raise InputError(
                wanted="real outputs", got=f"dtype {made.dtype}", attempt="return the real part"
            )
        made = made.astype(float)
        if not np.isfinite(made).all():
            raise InputError(
                wanted="finite outputs",
                got="NaN or infinity",
                attempt="check the layer on this input",
            )
        return made

    def mismatch(self, before: np.ndarray, order: np.ndarray) -> tuple[float, tuple[int, ...]]:
        """`|f(P Y) - P f(Y)|` for Y = X reordered by `before` and P given by `order`; and the rows
        that differ."""
        plain = np.array_equal(before, np.arange(len(before)))
        base = self.output if plain else self._call(_take(self.X, before, self.axis))
        found = self._call(_take(self.X, before[order], self.axis))
        difference = np.abs(found - np.take(base, order, self.axis))
        own_axis = difference.ndim + self.axis
        axes = tuple(i for i in range(difference.ndim) if i != own_axis)
        per_row = difference.max(axis=axes)
        differ = np.flatnonzero(per_row > self.rounding)
        return float(per_row.max()), tuple(int(i) for i in differ)


def _take(X: Array, order: np.ndarray, axis: int) -> Array:
    xp = compat.array_namespace(X)
    return xp.take(X, xp.asarray(order, device=compat.device(X)), axis=axis % X.ndim)


def _like(noise: np.ndarray, X: Array) -> Array:
    return compat.array_namespace(X).asarray(noise, dtype=X.dtype, device=compat.device(X))


def _unit(X: Array) -> float:
    """One rounding error of a layer on such an input."""
    if _floating(X):
        return float(compat.array_namespace(X).finfo(X.dtype).eps)
    return float(np.finfo(np.float32).eps)


def _floating(X: Array) -> bool:
    return bool(compat.array_namespace(X).isdtype(X.dtype, "real floating"))
