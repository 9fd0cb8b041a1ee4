"""What rounding explains, and what it does not.

    bound = 4 max |f(x (1 + u s)) - f(x)| + 2 u |f(x)| sqrt(size),     s random signs, u = eps / 2

The first term is the layer's own conditioning: what happens to its output when every number that
goes in moves by one rounding error. The second is the rounding of sums of `size` terms, which grows
like their square root. A difference within the bound is rounding, one far above it is a break, and
between the two nothing is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Layer, Options
from headwright.probes.record import BROKEN, HOLDS, UNCLEAR

_DRAWS = 3
_CONDITIONING = 4.0
_SUMMING = 2.0
# A break worth the name is this many times what rounding explains.
_FAR = 6.0


@dataclass(frozen=True)
class Rounding:
    """The largest difference that rounding explains, for one layer at one input."""

    bound: float

    def verdict(self, difference: float) -> str:
        """A difference that is no number is a break: both outputs were finite, or one was not."""
        if difference <= self.bound:
            return HOLDS
        return UNCLEAR if difference <= _FAR * self.bound else BROKEN


def rounding(
    layer: Layer,
    given: Inputs,
    options: Options = Options(),  # noqa: B008
    unit: float | None = None,
) -> Rounding:
    """Measured by running the layer on its input moved by one rounding error: by `unit`, where more
    than the dtype's own is rounded inside."""
    output = layer.run(given, options)
    unit = layer.eps / 2 if unit is None else unit
    moved = 0.0
    rng = np.random.default_rng(1)
    for _ in range(_DRAWS):
        near = given.moved(unit, rng)
        moved = max(moved, apart(layer.run(near, options), output))

    size = float(np.abs(output[np.isfinite(output)]).max(initial=0.0))
    summing = _SUMMING * unit * size * math.sqrt(given.terms)
    return Rounding(max(_CONDITIONING * moved + summing, float(np.finfo(float).tiny)))


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Largest difference of two outputs; infinite where one of them is no number and the other
    is, or where their shapes differ."""
    if one.shape != other.shape:
        return math.inf
    return float(apart_by_row(one, other).max(initial=0.0))


def apart_by_row(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The largest difference along the last axis; infinite where one is no number and the other
    is."""
    strange = ~(np.isfinite(one) & np.isfinite(other))
    with np.errstate(invalid="ignore"):
        same = strange & ((one == other) | (np.isnan(one) & np.isnan(other)))
        difference = np.where(same, 0.0, np.abs(one - other))
    return np.where(np.isnan(difference), math.inf, difference).max(axis=-1, initial=0.0)
