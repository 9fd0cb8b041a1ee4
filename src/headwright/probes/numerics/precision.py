"""How exact an output is, beside what its dtype allows.

    best    products, exponentials and sums in the accumulation type of good kernels (float32 for
            float32 and both half types, float64 for float64), the output rounded once
    stepwise  the same, but products, logits, weights and output each rounded to the dtype, as
            separate calls of a library do it

An error is given in units of the best. It is a break only where it is far above the stepwise one
as well, and above what adding n numbers one by one in the accumulation type explains: sums or
exponentials taken in half precision, a wrong formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.library import EPS
from headwright.probes.numerics.law import Law, softmax
from headwright.probes.record import BROKEN, HOLDS, UNCLEAR

# Right layers stay below 3 times the stepwise error in every dtype (measured: see the test).
_EXPLAINED = 4.0
_FAR = 10.0
_ROUNDED_ONCE = 0.2


@dataclass(frozen=True)
class Accuracy:
    """Root mean square errors against the reference."""

    error: float
    best: float
    stepwise: float
    single: float = 0.0  # the stepwise error in float32, for float64

    @property
    def factor(self) -> float:
        """The error in units of the best possible."""
        return self.error / self.best

    @property
    def bound(self) -> float:
        return _EXPLAINED * max(self.stepwise, self.best)

    @property
    def limit(self) -> float:
        """Above this it is a break; single precision inside a double one is named, not judged."""
        return _FAR * max(self.stepwise, self.best, self.single)

    @property
    def status(self) -> str:
        if self.error <= self.bound:
            return HOLDS
        return UNCLEAR if self.error <= self.limit else BROKEN


def accuracy(
    output: np.ndarray, law: Law, given: Inputs, dtype: str, *, single: bool = True
) -> Accuracy:
    """Of a layer's output in this dtype, where the law has one. `single`: float32 inside a float64
    layer is no break, as in libraries whose kernels have their softmax in float32."""
    exact = given.each(lambda a: a.astype(np.longdouble)) if dtype == "float64" else given
    reference = law.output(exact)
    told = np.isfinite(reference)
    size = _rms(reference[told])
    # No output is better than half a unit of its own size, a fifth of it on average.
    floor = max(_ROUNDED_ONCE * EPS[dtype] * size, float(np.finfo(float).tiny))
    best = _rms((_evaluated(law, given, dtype, stepwise=False) - reference)[told])
    orders = [_evaluated(law, given, dtype, stepwise=True, first=first) for first in (True, False)]
    stepwise = max(_rms((order - reference)[told]) for order in orders)
    explained = max(stepwise, floor) + size * _slack(law, given, dtype)
    error = _rms((output - reference)[told]) if output.shape == reference.shape else math.inf
    error = error if math.isfinite(error) else math.inf
    excused = 0.0
    if dtype == "float64" and single:
        excused = accuracy(output, law, given, "float32").stepwise
    return Accuracy(error, max(best, floor), explained, excused)


def _slack(law: Law, given: Inputs, dtype: str) -> float:
    """Relative errors that the stepwise evaluation does not have: sums taken one by one, and the
    law's own numbers, which are known to some units of the dtype that it was fitted in."""
    wide = "float64" if dtype == "float64" else "float32"
    logits = law.logits(given)
    most = float(np.abs(logits[np.isfinite(logits)]).max(initial=1.0))
    # sum |q_i k_i|: what the products are made of may be larger than they are.
    parts = float((np.abs(given["q"]) @ np.abs(np.swapaxes(given["k"], -1, -2))).max())
    products = 0.0 if law.normalised else abs(law.scale) * parts
    return EPS[wide] * (given.terms + products) / 4 + 2 * law.eps * most


def _evaluated(
    law: Law, given: Inputs, dtype: str, *, stepwise: bool, first: bool = False
) -> np.ndarray:
    """`first`: queries are scaled before the product, not the product after it."""
    wide = np.float64 if dtype == "float64" else np.float32

    def step(array: np.ndarray) -> np.ndarray:
        return to_dtype(array, dtype).astype(wide) if stepwise else array.astype(wide)

    with np.errstate(over="ignore", invalid="ignore"):
        if first:
            ready = given.replaced(q=step(given["q"] * law.scale).astype(float))
            scaled = step(law.products(ready))
        else:
            scaled = step(step(law.products(given)) * wide(law.scale))
        bent = scaled if law.cap is None else step(law.cap * np.tanh(scaled / law.cap))
        logits = step(bent + law.bias.astype(wide))
        sink = None if law.sink is None else law.sink.astype(wide)
        weights = step(softmax(logits, sink))
        return to_dtype(weights @ given["v"].astype(wide), dtype).astype(float)


def to_dtype(array: np.ndarray, dtype: str) -> np.ndarray:
    """Rounded to the nearest number of the dtype; bfloat16 is kept as float32."""
    with np.errstate(over="ignore"):
        if dtype != "bfloat16":
            return np.asarray(array).astype(dtype)
        single = np.ascontiguousarray(array, dtype=np.float32)
    bits = single.view(np.uint32)
    # To nearest, ties to even: add half a unit of the kept part, less one where it is even.
    half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded = ((bits + half) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isfinite(single), rounded, single)


def _rms(array: np.ndarray) -> float:
    return float(np.sqrt(np.mean(array**2))) if array.size else 0.0
