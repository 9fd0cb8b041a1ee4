"""One table of settings with closed-form answers, shared by the tests of every layer that can
reproduce them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import headwright as hw


@dataclass(frozen=True)
class Averaging:
    """Orthonormal keys, q = beta * (sum of m of them): the weight of each of them, and the leak."""

    n: int
    m: int
    beta: float

    @property
    def weight(self) -> float:
        return 1.0 / (self.m + (self.n - self.m) * math.exp(-self.beta))

    @property
    def leak(self) -> float:
        return 1.0 - self.m * self.weight


AVERAGING = [
    Averaging(10, 1, 6.792344427470809),  # copy, 1 %
    Averaging(10, 2, 5.981414211254481),  # average of two, 1 %
    Averaging(10, 2, 0.5),  # half the sum: 0.146 each
    Averaging(10, 2, 1.0),  # the bare sum: 0.20 each
    Averaging(2, 2, 0.5),  # n = 2 hides it
    Averaging(1000, 3, 12.0),
    Averaging(50, 50, 3.0),
    Averaging(1, 1, 7.0),
]

# Key k_a = gamma mu_a, gamma ~ N(1, 1/2): P(gamma < 0), and P(0.5 < gamma < 1.5).
FLIP = 0.07864960352514258
INSIDE_HALF = 0.5204998778130465


def weight_error(*heads):
    """E ||weights - (1/2, 1/2, 0, ...)||^2 of these heads on 20 keys with orthonormal means, the
    first of random length: exactly, since unit vectors as values make the output the weights."""
    keys = hw.GaussianKeys(np.eye(20)).radial({0: 0.5})
    law = hw.moments(np.array(heads), keys, np.eye(20))
    target = np.zeros(20)
    target[:2] = 0.5
    bias = law.mean - target
    return float(bias @ bias + np.trace(law.covariance))
