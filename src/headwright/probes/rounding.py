"""What rounding explains, and what it does not.

    bound = 2 (moved + eps |f|),     moved = max |f(x') - f(x)|,  x' = x, each number one unit away

`moved` is what the output does when every number that goes in moves to its neighbour in the layer's
dtype, up or down at random: the layer's own conditioning, and with it the rounding inside, which is
drawn anew each time (a layer that adds in half precision shows that here, so the length of its sums
need not be known). One unit is more than rounding does, which is a quarter of a unit on average.
`eps |f|` is a unit of the largest output. A difference within the bound is rounding, one beyond
`FAR` bounds is a break, and between the two nothing is said.

How tight: over 20 right layers (eager, fused, rotary, grouped, capped, blocks, stacks of six; 6 to
64 tokens; logits of deviation 1 to 10), two runs that mean the same (another batch, order, length
or memory layout, another kernel, positions moved by up to 100) differ by at most 0.9 bounds in
float32 and 0.6 in bfloat16 and float16; measured over six seeds. `headwright bench
xray_right` measures batches, memory layouts and kernels again, on the gallery's layers: 0.3. In
bfloat16 a bound is typically 4% of the largest output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Layer, Options
from headwright.probes.layer.library import EPS
from headwright.probes.record import BROKEN, HOLDS, UNCLEAR

_DRAWS = 3
# A move of this many eps lands on the next number of the dtype, whatever the leading digits.
_MOVE = 0.75
_ROOM = 2.0
# A break worth the name is this many times what rounding explains.
FAR = 3.0


@dataclass(frozen=True)
class Rounding:
    """The largest difference that rounding explains, for one layer at one input."""

    bound: float

    def verdict(self, difference: float) -> str:
        """A difference that is no number is a break: both outputs were finite, or one was not."""
        if difference == 0:
            return HOLDS
        if not math.isfinite(self.bound):
            return UNCLEAR  # one rounding error more, and the output is no number
        if difference <= self.bound:
            return HOLDS
        return UNCLEAR if difference <= FAR * self.bound else BROKEN


def rounding(
    layer: Layer,
    given: Inputs,
    options: Options = Options(),  # noqa: B008
    unit: float | None = None,
) -> Rounding:
    """Measured by running the layer on its input moved by one rounding error: by `unit`, where more
    is rounded than the dtype's own eps."""
    eps = unit or layer.eps
    output = layer.run(given, options)
    moved = 0.0
    rng = np.random.default_rng(1)
    for _ in range(_DRAWS):
        near = given.moved(_MOVE * eps, rng)
        moved = max(moved, apart(layer.run(near, options), output))

    size = float(np.abs(output[np.isfinite(output)]).max(initial=0.0))
    bound = _ROOM * (moved + eps * size)
    return Rounding(max(bound, float(np.finfo(float).tiny)))


def precision(layer: Layer, given: Inputs) -> float:
    """The eps of the numbers that the layer computes with: a coarser one than its dtype's where it
    turns its input into such numbers first, so that the dtype's own steps change nothing."""
    output = layer.run(given)
    rng = np.random.default_rng(2)
    coarser = {step for step in EPS.values() if step > layer.eps}
    for eps in sorted({layer.eps, *coarser}):
        if apart(layer.run(given.moved(_MOVE * eps, rng)), output) > 0:
            return eps
    return layer.eps


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
