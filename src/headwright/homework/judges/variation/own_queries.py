"""What two heads do with the author's own queries when k_a changes its length: computed, so that a
claim about c is held against the queries it is about."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headwright.exercise.instances import Instance, smallest
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.scenes.queries import WrittenQueries, mixed, queries_at

SHARP = 30.0  # a scale at which whatever swings has swung
LENGTHS = (0.5, 0.8, 1.0, 1.25, 1.5)
# The weight of a stays within STEADY of 1/2, or leaves it by more than SWINGS.
STEADY = 0.05
SWINGS = 0.4


@dataclass(frozen=True)
class Behaviour:
    """The weight of a, averaged over the heads, at each length of k_a."""

    weights: tuple[float, ...]
    # Both heads are one, and it finds one of the two keys only
    one_key: bool = False
    # The heads find the two keys, but not each as often as the other
    uneven: bool = False

    @property
    def _deviation(self) -> float:
        return max(abs(weight - 0.5) for weight in self.weights)

    @property
    def steady(self) -> bool:
        return self._deviation <= STEADY and not self._fails

    @property
    def swings(self) -> bool:
        return self._deviation >= SWINGS and not self._fails

    @property
    def _fails(self) -> bool:
        """Already at the means c is not the average."""
        return self.one_key or self.uneven


def behaviour(written: WrittenQueries | None) -> Behaviour | None:
    """None where there are no two queries, or where it cannot be told why they fail at the means:
    two equal queries that find one key are known to fail, and so are heads that give all weight to
    a and b in unequal shares."""
    if written is None or len(written.expressions) < 2:
        return None
    instance = smallest()
    try:
        Q = queries_at(written, instance, SHARP)
    except (Unknown, Mismatch):
        return None
    if not written.scales and not written.worded:
        Q = SHARP * Q  # the lacking scale was told where the queries were asked for
    weights = [_weights(Q, instance, length) for length in LENGTHS]
    at_the_means = weights[LENGTHS.index(1.0)]
    of_a = tuple(weight for weight, _ in weights)
    if np.allclose(Q[0], Q[1]) and max(at_the_means) >= 0.5 + SWINGS:
        return Behaviour(of_a, one_key=True)
    if abs(at_the_means[0] - 0.5) <= STEADY and abs(at_the_means[1] - 0.5) <= STEADY:
        return Behaviour(of_a)
    return Behaviour(of_a, uneven=True) if sum(at_the_means) >= 1 - STEADY else None


def _weights(Q: np.ndarray, instance: Instance, length: float) -> tuple[float, float]:
    """The weights of a and b when k_a is `length` times its mean."""
    K = instance.K.copy()
    K[instance.a] *= length
    alpha = mixed(Q, replace(instance, K=K))
    return float(alpha[instance.a]), float(alpha[instance.b])
