"""Concrete worlds in which the assumptions of a question hold: keys, means, values, subspaces,
inputs.

Several sizes, never n = 2 (a bare sum `k_a + k_b` passes there) and never m = d (then A' and A A'
have one shape). Everything is drawn from one seed, so that a verdict can be reproduced.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from headwright.types import Float, Keys, Values

SEED = 20240229
SIZES = ((5, 9), (10, 16), (50, 64))


@dataclass(frozen=True)
class Instance:
    """n orthonormal keys (rows of `K`; as means: rows of `K` too) in d dimensions, values, bases A
    and B with A'B = 0, and the places of a, b and j among the keys."""

    K: Keys
    V: Values
    A: Float[np.ndarray, "d m"]
    B: Float[np.ndarray, "d p"]
    places: tuple[tuple[str, int], ...]

    @property
    def n(self) -> int:
        return self.K.shape[0]

    @property
    def d(self) -> int:
        return self.K.shape[1]

    def place(self, letter: str) -> int | None:
        return dict(self.places).get(letter)


def orthonormal(rows: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """`rows` random orthonormal vectors in R^d."""
    return np.linalg.qr(rng.standard_normal((d, d)))[0][:, :rows].T


@functools.cache
def instances(seed: int = SEED) -> tuple[Instance, ...]:
    """One instance for every size in `SIZES`."""
    rng = np.random.default_rng(seed)
    return tuple(_instance(n, d, rng) for n, d in SIZES)


def _instance(n: int, d: int, rng: np.random.Generator) -> Instance:
    m, p = d // 4 + 1, d // 3
    basis = orthonormal(m + p, d, rng).T
    A, B = basis[:, :m], basis[:, m:]
    V = rng.standard_normal((n, d))
    a, b = 1, 3
    # v_a in span(A), v_b in span(B), as the question about M assumes.
    V[a], V[b] = A @ rng.standard_normal(m), B @ rng.standard_normal(p)
    places = (("a", a), ("b", b), ("j", 2))
    return Instance(K=orthonormal(n, d, rng), V=V, A=A, B=B, places=places)
