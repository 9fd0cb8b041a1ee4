"""At worst, rather than on average: the exact range of a linear functional of softmax over a box of
logits.

    max / min  of  f(z) = sum_i d_i e^{z_i} / sum_i e^{z_i}      with  low_i <= z_i <= high_i

f grows with z_i exactly where d_i > f, so the maximum sits at a vertex that raises the keys with
the largest coefficients and lowers the rest: one of n + 1 threshold vertices. Along them f rises,
then falls, so a bisection finds the best: one sort and log2(n) softmaxes, O(n log n). Prefix sums
would save the factor log n and lose every digit once logits differ by more than 700; a softmax
never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat

from headwright import attention, inputs
from headwright.errors import InputError
from headwright.types import Array, Float, PerKey


@dataclass(frozen=True)
class WorstCase:
    """The range of `direction . softmax(z)` over the box, and the corners of the box that attain
    its ends."""

    low: Float[Array, ""]
    high: Float[Array, ""]
    low_logits: PerKey
    high_logits: PerKey


def worst_case(z_low: Any, z_high: Any, direction: Any) -> WorstCase:
    """Exact bounds of `direction . softmax(z)` over `z_low <= z <= z_high`, all of shape `(n,)`.

    For one coordinate j of the output pass `direction = V[:, j]`; for the weight of key a, a one at
    a.
    """
    xp, (z_low, z_high, d) = inputs.arrays(z_low=z_low, z_high=z_high, direction=direction)
    n = inputs.shape("direction", d, "n").shape[0]
    inputs.shape("z_low", z_low, n)
    inputs.shape("z_high", z_high, n)
    crossed = z_low > z_high
    if bool(xp.any(crossed)):
        first = int(xp.argmax(xp.astype(crossed, xp.int8)))
        raise InputError(
            wanted="z_low <= z_high for every key",
            got=f"{float(z_low[first]):g} > {float(z_high[first]):g} at key {first}",
            attempt="swap the two bounds",
        )
    high, high_logits = _largest(z_low, z_high, d)
    negative, low_logits = _largest(z_low, z_high, -d)
    return WorstCase(low=-negative, high=high, low_logits=low_logits, high_logits=high_logits)


def _largest(low: Array, high: Array, d: Array) -> tuple[Array, Array]:
    """The largest value of f and its vertex, by bisection over "raise the first k keys in the order
    of d".

    f_{k+1} lies between f_k and d_{k+1}. So once raising the next key no longer helps, d_{k+1} <=
    f_k, it never helps again, and "helps" changes from true to false once."""
    xp = compat.array_namespace(d)
    order = xp.argsort(d, descending=True, stable=True)
    low, high, d = (xp.take(x, order) for x in (low, high, d))
    position = xp.arange(d.shape[0], device=compat.device(d))

    def vertex(k: int) -> Array:
        """The first k keys raised, all others lowered."""
        return xp.where(position < k, high, low)

    def value(k: int) -> Array:
        """f at that vertex."""
        return xp.sum(attention.weights(vertex(k)) * d)

    first = 0
    last = d.shape[0]
    while first < last:
        k = (first + last) // 2
        if bool(d[k] > value(k)):
            first = k + 1
        else:
            last = k
    return value(first), xp.take(vertex(first), xp.argsort(order))
