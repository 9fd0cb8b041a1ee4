"""What a layer is given: arrays by name, all with the batch first and the tokens next to last.

A function of (q, k, v) gets `q` (b, h, t, d), `k` (b, hk, n, d) and `v` (b, hk, n, dv); a layer on
hidden states gets `x` (b, n, w). Probes change tokens, order, batch and size without knowing which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

TOKENS = -2


@dataclass(frozen=True)
class Inputs:
    arrays: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    @property
    def batch(self) -> int:
        return next(iter(self.arrays.values())).shape[0]

    @property
    def tokens(self) -> int:
        """As many as outputs: of the queries, where queries and keys differ in number."""
        return next(iter(self.arrays.values())).shape[TOKENS]

    @property
    def terms(self) -> int:
        """The length of the longest sum that a layer forms from it."""
        return max(max(array.shape[-2:]) for array in self.arrays.values())

    def each(self, change: Callable[[np.ndarray], np.ndarray], *names: str) -> Inputs:
        """The same with some arrays changed: all of them, or those named."""
        chosen = names or tuple(self.arrays)
        made = {name: change(a) if name in chosen else a for name, a in self.arrays.items()}
        return Inputs(made)

    def replaced(self, **arrays: np.ndarray) -> Inputs:
        return Inputs(self.arrays | arrays)

    def moved(self, eps: float, rng: np.random.Generator) -> Inputs:
        """Every number moved by one rounding error, up or down."""
        return self.each(lambda a: a * (1 + eps * rng.choice([-1.0, 1.0], a.shape)))

    def ordered(self, order: Sequence[int] | np.ndarray) -> Inputs:
        """Tokens in another order, in all arrays alike."""
        return self.each(lambda a: np.take(a, order, axis=TOKENS))

    def cut(self, start: int, stop: int | None = None, *names: str) -> Inputs:
        """Tokens `start` to `stop`."""
        return self.each(lambda a: a[..., start:stop, :], *names)

    def text(self, *places: int) -> Inputs:
        """Some texts of the batch, in this order."""
        return self.each(lambda a: a[list(places)])

    def with_token(self, token: int, other: Inputs, *names: str) -> Inputs:
        """One token taken from another input of the same shape."""
        chosen = names or tuple(self.arrays)
        made = dict(self.arrays)
        for name in chosen:
            made[name] = self.arrays[name].copy()
            made[name][..., token, :] = other.arrays[name][..., token, :]
        return Inputs(made)

    def filled(self, real: np.ndarray, other: Inputs) -> Inputs:
        """Tokens that are not real (b, n) taken from another input of the same shape."""
        made = {}
        for name, array in self.arrays.items():
            flags = real.reshape(len(real), *[1] * (array.ndim - 3), -1, 1)
            made[name] = np.where(flags, array, other.arrays[name])
        return Inputs(made)
