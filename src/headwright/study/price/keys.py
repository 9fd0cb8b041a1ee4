"""Three families of N unit keys in d dimensions.

* random: uniform on the sphere.
* optimised: random keys pushed apart. What is minimised is the energy

      E(K) = sum_i ln sum_{j != i} exp(beta k_i.k_j),      beta = 3 d,

  a soft form of every key's largest inner product with another key, by projected gradient steps on
  the sphere. It is not the price itself, which would need a solved query per set and step.
* cyclic: N points on the trigonometric moment curve, the vertices of a cyclic polytope,

      k(t) = (cos t, sin t, cos 2t, sin 2t, ..., cos mt, sin mt) / sqrt(m),   m = d/2, t = 2 pi i/N.

  A query is a trigonometric polynomial q.k(t) of degree m without constant. Every set S of at most
  m keys is selectable: - prod_{a in S} (1 - cos(t - t_a)) has degree |S|, is 0 on S and negative
  elsewhere, and the constant that it lacks moves all logits alike.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from headwright.errors import InputError
from headwright.types import Array, Float, Keys

_SHARPNESS = 3.0  # beta / d
_STEPS = 100
# Multiplications that optimising one set of keys may cost: 4,096 keys get fewer steps.
_MOST_WORK = 2e10
_FEWEST_STEPS = 12
_FIRST_STEP = 0.05


@lru_cache(maxsize=4)
def unit_keys(family: str, N: int, d: int, seed: int) -> Keys:
    """The keys, the same array for every set that is asked of them."""
    if family not in FAMILIES:
        raise InputError(
            wanted=f"a family of keys among {', '.join(FAMILIES)}",
            got=repr(family),
            attempt='family = ["random"]',
        )
    K = FAMILIES[family](N, d, seed)
    K.flags.writeable = False
    return K


@lru_cache(maxsize=4)
def largest_product(family: str, N: int, d: int, seed: int) -> float:
    """The largest |k_i.k_j| of two of these keys."""
    K = unit_keys(family, N, d, seed)
    products = K @ K.T
    np.fill_diagonal(products, 0.0)
    return float(np.abs(products).max())


def random_keys(N: int, d: int, seed: int) -> Keys:
    rng = np.random.default_rng([seed, N, d])
    return _on_sphere(rng.standard_normal((N, d)))


def optimised_keys(N: int, d: int, seed: int) -> Keys:
    # Single precision: the keys are what comes out, and rounding along the way is no error.
    K = random_keys(N, d, seed).astype(np.float32)
    work = float(N) * N * d
    steps = int(np.clip(_MOST_WORK / work, _FEWEST_STEPS, _STEPS))
    for step in range(steps):
        size = _FIRST_STEP * (1 - step / steps)
        K = _on_sphere(K - np.float32(size) * _repulsion(K))
    return _on_sphere(K.astype(float))


def _repulsion(K: Float[Array, "N d"]) -> Float[Array, "N d"]:
    """dE/dK along the sphere, over beta: every key's soft nearest neighbours, and those whose
    neighbour it is."""
    logits = np.float32(_SHARPNESS * K.shape[1]) * (K @ K.T)
    np.fill_diagonal(logits, -np.inf)
    logits -= logits.max(axis=1, keepdims=True)
    shares = np.exp(logits, out=logits)
    shares /= shares.sum(axis=1, keepdims=True)
    pull = shares @ K + shares.T @ K
    return pull - np.sum(pull * K, axis=1, keepdims=True) * K


def cyclic_keys(N: int, d: int, seed: int) -> Keys:
    """The seed changes nothing: there is one such polytope."""
    if d % 2:
        raise InputError(
            wanted="an even dimension for cyclic keys", got=f"d = {d}", attempt=f"d = {d + 1}"
        )
    m = d // 2
    # Multiples of 2 pi / N taken modulo N while they are whole: no rounding grows with the degree.
    turns = np.outer(np.arange(N), np.arange(1, m + 1)) % N
    angles = 2 * np.pi * turns / N
    return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(m)


def _on_sphere(K: Keys) -> Keys:
    return K / np.linalg.norm(K, axis=1, keepdims=True)


FAMILIES = {"random": random_keys, "optimised": optimised_keys, "cyclic": cyclic_keys}
