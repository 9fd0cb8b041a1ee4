"""Concrete worlds in which the assumptions of a question hold: keys, means, values, subspaces,
inputs.

Several sizes, never n = 2 (a bare sum `k_a + k_b` passes there) and never m = d (then A' and A A'
have one shape). Everything is drawn from one seed, so that a verdict can be reproduced.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from headwright.types import Float, Keys, Values

SEED = 20240229
SIZES = ((5, 9), (10, 16), (50, 64))
# Where the keys of the questions stand; neither first nor side by side, so that an index that is
# read wrongly finds another key.
_PLACES = (("a", 1), ("b", 3), ("j", 2))


@dataclass(frozen=True)
class Instance:
    """n orthonormal keys (rows of `K`; as means: rows of `K` too) in d dimensions, values, bases A
    and B with A'B = 0, and the places of a, b and j among the keys. `scale` multiplies every
    score."""

    K: Keys
    V: Values
    A: Float[np.ndarray, "d m"]
    B: Float[np.ndarray, "d p"]
    places: tuple[tuple[str, int], ...] = _PLACES
    scale: float = 1.0

    @property
    def n(self) -> int:
        return self.K.shape[0]

    @property
    def d(self) -> int:
        return self.K.shape[1]

    @property
    def m(self) -> int:
        """How many vectors the basis A has."""
        return self.A.shape[1]

    def place(self, letter: str) -> int | None:
        return dict(self.places).get(letter)

    @property
    def a(self) -> int:
        """The place of key a."""
        return dict(self.places)["a"]

    @property
    def b(self) -> int:
        """The place of key b."""
        return dict(self.places)["b"]

    @property
    def j(self) -> int:
        """The place of key j, which should take all the weight."""
        return dict(self.places)["j"]

    @property
    def v_a(self) -> np.ndarray:
        return self.V[self.a]

    @property
    def v_b(self) -> np.ndarray:
        return self.V[self.b]


def orthonormal(rows: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """`rows` random orthonormal vectors in R^d."""
    square = rng.standard_normal((d, d))
    columns = np.linalg.qr(square)[0]
    return columns[:, :rows].T


@functools.cache
def sized_instances(sizes: tuple[tuple[int, int], ...], scale: float) -> tuple[Instance, ...]:
    """Instances of other sizes (n, d), and with other scores, for a sheet that fixes them."""
    rng = np.random.default_rng(SEED)
    return tuple(replace(_instance(n, d, rng), scale=scale) for n, d in sizes)


@functools.cache
def instances(seed: int = SEED) -> tuple[Instance, ...]:
    """One instance for every size in `SIZES`."""
    rng = np.random.default_rng(seed)
    return tuple(_instance(n, d, rng) for n, d in SIZES)


def smallest() -> Instance:
    """The instance on which formulas are tried first."""
    return instances()[0]


def of_ten_keys() -> Instance:
    """The instance whose numbers a verdict quotes and whose arrays it shows: n = 10 throughout."""
    return instances()[1]


def _instance(n: int, d: int, rng: np.random.Generator) -> Instance:
    m = d // 4 + 1
    p = d // 3
    basis = orthonormal(m + p, d, rng).T
    A = basis[:, :m]
    B = basis[:, m:]

    # v_a in span(A), v_b in span(B), as the question about M assumes.
    place = dict(_PLACES)
    V = rng.standard_normal((n, d))
    V[place["a"]] = A @ rng.standard_normal(m)
    V[place["b"]] = B @ rng.standard_normal(p)

    K = orthonormal(n, d, rng)
    return Instance(K=K, V=V, A=A, B=B)
