"""Examples that might satisfy a condition: small leads, huge scores with a larger rival, long keys
that point away, q equal to k_j. Ten keys in R^10 each, and key `J` is the one that should win."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headwright import attention
from headwright.exercise.instances import SEED, orthonormal

N = 10
J = 2
RIVAL = 5
MARGIN = 20.0  # a difference of scores that counts as much larger: nine rivals share 2e-8
# Leads around ln 81 = 4.39, which puts 0.9 on j at n = 10, so that a stated number is judged by
# what it allows.
LEADS = (0.3, 2.0, 3.0, 3.5, 4.0, 4.2, 4.35, 4.45, 4.6, 5.0, 6.0, 8.0, 10.0, 15.0)


@dataclass(frozen=True)
class Example:
    """Keys, a query, and where they came from."""

    K: np.ndarray
    q: np.ndarray
    story: str

    @functools.cached_property
    def scores(self) -> np.ndarray:
        return self.K @ self.q

    @functools.cached_property
    def weights(self) -> np.ndarray:
        return attention.weights(self.scores)

    @property
    def weight_of_j(self) -> float:
        return float(self.weights[J])

    @property
    def j_leads(self) -> bool:
        return bool(self.weights.argmax() == J)

    @property
    def others_are_small(self) -> bool:
        """No score but j's is larger than 1, either way."""
        others = np.delete(self.scores, J)
        return bool(np.abs(others).max() <= 1.0)

    @functools.cached_property
    def orthonormal(self) -> bool:
        products = self.K @ self.K.T
        return bool(np.allclose(products, np.eye(len(self.K))))


@functools.cache
def examples() -> tuple[Example, ...]:
    rng = np.random.default_rng(SEED)
    skew = rng.standard_normal((N, N)) + 3 * np.eye(N)
    basis = orthonormal(N, N, rng)
    nobody = Example(basis, np.zeros(N), "all scores are equal")
    return (
        *_leads_over_shifted_scores(skew, basis),
        *_close_leads(basis),
        nobody,
        *_surprising_scores(skew),
        *_long_keys(basis),
        *_multiples_of_key_j(basis),
    )


def _leads_over_shifted_scores(skew: np.ndarray, basis: np.ndarray) -> Iterator[Example]:
    for lead in (0.1, 1.0, MARGIN, 2 * MARGIN, 6 * MARGIN):
        for shift in (0.0, -3 * MARGIN, 3 * MARGIN, 1.5 * MARGIN):
            scores = np.full(N, shift)
            scores[J] += lead
            story = f"key j leads by {lead:g}"
            yield Example(skew, np.linalg.solve(skew, scores), story)
            yield Example(basis, basis.T @ scores, f"{story}, orthonormal keys")


def _close_leads(basis: np.ndarray) -> Iterator[Example]:
    for lead in LEADS:
        yield Example(basis, lead * basis[J], f"key j leads by {lead:g}, orthonormal keys")


def _surprising_scores(skew: np.ndarray) -> Iterator[Example]:
    beaten = np.full(N, -200.0)
    beaten[J] = 2 * MARGIN
    beaten[RIVAL] = 3 * MARGIN
    yield Example(skew, np.linalg.solve(skew, beaten), "another key has an even larger score")

    negative = np.zeros(N)
    negative[J] = -2 * MARGIN
    negative[RIVAL] = 0.5
    yield Example(skew, np.linalg.solve(skew, negative), "key j has a very negative score")


def _long_keys(basis: np.ndarray) -> Iterator[Example]:
    long = basis.copy()
    long[J] *= 100.0
    yield Example(long, -basis[J], "key j is 100 times longer and points away from q")
    yield Example(long, 0.001 * basis[J], "key j is long but q is short")


def _multiples_of_key_j(basis: np.ndarray) -> Iterator[Example]:
    twice = basis.copy()
    twice[RIVAL] = 2 * basis[J]
    for beta in (1.0, 2 * MARGIN):
        q = beta * basis[J]
        yield Example(basis, q, f"q = {beta:g} k_j, orthonormal keys")
        yield Example(twice, q, f"q = {beta:g} k_j, another key is 2 k_j")
