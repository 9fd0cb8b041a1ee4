"""At worst, rather than on average: the exact range of a linear functional of softmax over a box of
logits.

    max / min  of  f(z) = sum_i d_i e^{z_i} / sum_i e^{z_i}      with  low_i <= z_i <= high_i

f grows with z_i exactly where d_i > f, so the maximum sits at a vertex that raises the keys with
the largest coefficients and lowers the rest: one of n + 1 threshold vertices. Along them f rises,
then falls, so a bisection finds the best: one sort and log2(n) softmaxes, O(n log n). Prefix sums
would save the factor log n and lose every digit once logits differ by more than 700; a softmax
never does.

Keys that each move inside an ellipsoid of their own move their logits inside a box, and every point
of that box is reached: the range around given keys is the range over that box.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any, overload

import array_api_compat as compat

from headwright import attention, inputs
from headwright.attention import Scores
from headwright.errors import InputError
from headwright.keys import GaussianKeys
from headwright.noise.problem import Problem, Request, as_given, in_double
from headwright.types import Array, Float, PerHeadAndKey

_AROUND_KEYS = frozenset({"q", "keys", "V", "radius", "scale", "bias"})
# A key further below the others than a double can say is as far below as a double can.
_FURTHEST = 1e300


@dataclass(frozen=True)
class WorstCase:
    """The range of `direction . softmax(z)` over the box, and the corners of the box that attain
    its ends. For values `(n, v)` the range of every coordinate of the output, axis v in front."""

    low: Float[Array, "*v"]
    high: Float[Array, "*v"]
    low_logits: Float[Array, "*v n"]
    high_logits: Float[Array, "*v n"]


@overload
def worst_case(z_low: Any, z_high: Any, direction: Any) -> WorstCase: ...
@overload
def worst_case(
    q: Any, keys: Any, V: Any, radius: float, *, scale: float = 1.0, bias: Any = None
) -> WorstCase: ...
def worst_case(*given: Any, **named: Any) -> WorstCase:
    """Exact bounds on what attention can do at worst, asked in one of two ways.

    `worst_case(z_low, z_high, direction)`: of `direction . softmax(z)` over `z_low <= z <= z_high`,
    all of shape `(n,)`. For one coordinate j of the output pass `direction = V[:, j]`; for the
    weight of key a, a one at a.

    `worst_case(q, keys, V, radius, scale=1.0, bias=None)`: of the output of one query `(d,)` while
    each key moves by at most `radius`, whatever the others do. Plain keys `(n, d)` move in every
    direction by that length; keys with a law, such as `GaussianKeys`, by that many of their own
    standard deviations. Values `(n, v)` give a range per coordinate, `(n,)` one range.

    >>> found = hw.worst_case([2, 0], [[1, 0], [0, 1]], [1, 3], radius=0.5)
    >>> print(f"{found.low:.3f} {found.high:.3f}")
    1.036 2.000
    """
    asked = _around_keys if _speaks_of_keys(given, named) else _over_box
    try:
        call = signature(asked).bind(*given, **named)
    except TypeError:
        ways = "worst_case(z_low, z_high, direction) or worst_case(q, keys, V, radius)"
        names = "".join(f", {name}=" for name in named)
        raise InputError(
            wanted=ways,
            got=f"{len(given)} by position{names}",
            attempt="give all arguments of one of the two and none of the other",
        ) from None
    return asked(*call.args, **call.kwargs)


def _speaks_of_keys(given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Four arguments, a name that only keys have, or keys where a bound would stand."""
    second = given[1] if len(given) > 1 else None
    is_keys = hasattr(second, "logits_law") or getattr(second, "ndim", 1) == 2
    return len(given) > 3 or is_keys or not _AROUND_KEYS.isdisjoint(named)


def _around_keys(
    q: Any, keys: Any, V: Any, radius: float, *, scale: float = 1.0, bias: Any = None
) -> WorstCase:
    """The range of every coordinate while each key stays within its own ellipsoid. Plain keys have
    the unit ball, which is the ellipsoid of variance 1 in every direction."""
    law = keys if hasattr(keys, "logits_law") else GaussianKeys(keys, isotropic=1.0)
    _, (_, q, V) = inputs.arrays(keys=law.means[:1], q=q, V=V)
    inputs.shape("q", q, law.means.shape[1])
    columns = V[:, None] if V.ndim == 1 else V
    problem = in_double(Request(q, law, columns, scores=Scores(scale, bias)).problem())
    if problem.law.shared is not None:
        raise InputError(
            wanted="keys that move independently",
            got=repr(keys),
            attempt="pass its .keys, the law without the factors they share",
        )
    low, high = logit_boxes(problem, inputs.number("radius", radius, low=0.0))
    coordinates = [problem.values[:, j] for j in range(columns.shape[1])]
    ends = [_over_box(low[0, :], high[0, :], d) for d in coordinates]
    xp = problem.xp
    shift = problem.law.shift[0]
    found = WorstCase(
        low=xp.stack([end.low for end in ends]),
        high=xp.stack([end.high for end in ends]),
        low_logits=xp.stack([end.low_logits + shift for end in ends]),
        high_logits=xp.stack([end.high_logits + shift for end in ends]),
    )
    first = 0 if V.ndim == 1 else ...
    return WorstCase(**{name: as_given(x[first], columns) for name, x in vars(found).items()})


def logit_boxes(problem: Problem, deviations: float) -> tuple[PerHeadAndKey, PerHeadAndKey]:
    """The lowest and highest logits of every head within so many deviations. What all logits of a
    head have in common is taken off first, and a box is wider by what rounding may have moved its
    logit."""
    law = problem.law
    xp = compat.array_namespace(law.means)
    rounding = xp.stack([law.cross_error(h, h) for h in range(problem.heads)])
    reach = deviations * xp.sqrt(law.variances + rounding) + law.means_error
    means = xp.where(law.means < -_FURTHEST, xp.full_like(law.means, -_FURTHEST), law.means)
    return means - reach, means + reach


def _over_box(z_low: Any, z_high: Any, direction: Any) -> WorstCase:
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
