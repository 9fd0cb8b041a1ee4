"""What every route to the moments returns: the same record, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import array_api_compat as compat
import numpy as np

from headwright.errors import InputError
from headwright.noise.problem import as_given
from headwright.types import Array, Float, Values

_ERRORS = ("error", "mean_error", "covariance_error")
_ARRAYS = (
    "mean",
    "covariance",
    "weights_mean",
    "weights_variance",
    "heads_mean",
    "heads_weights_mean",
)


@dataclass(frozen=True)
class Moments:
    """Mean and covariance of `c = sum_h mix_h c_h`. A batch of queries puts its axis m in front of
    each array.

    No entry is further than `error` from the truth (sampled: one standard error)."""

    mean: Float[Array, "*m v"]
    covariance: Float[Array, "*m v v"]
    weights_mean: Float[Array, "*m n"]  # of the mixed weights sum_h mix_h alpha_h
    weights_variance: Float[Array, "*m n"]
    error: float
    method: str
    status: str = "done"  # "done", or why the promised accuracy was not reached
    message: str = ""
    mean_error: float = 0.0  # the same bound for the mean alone
    covariance_error: float = 0.0  # and for the covariance alone
    heads_mean: Float[Array, "*m h v"] | None = None  # E[c_h]
    heads_weights_mean: Float[Array, "*m h n"] | None = None  # E[alpha_h]


def in_precision(found: Moments, values: Values) -> Moments:
    """`found` in the library, on the device and in the precision of the values, in which it is
    rounded once more."""
    if found.mean.dtype == values.dtype:
        return found
    unit = float(compat.array_namespace(values).finfo(values.dtype).eps)
    mean = unit * largest(found.mean)
    covariance = unit * largest(found.covariance)
    weights = unit * largest(found.weights_mean)

    arrays = {name: getattr(found, name) for name in _ARRAYS}
    with np.errstate(over="ignore", under="ignore"):
        arrays = {name: as_given(x, values) for name, x in arrays.items() if x is not None}
    return replace(
        found,
        mean_error=found.mean_error + mean,
        covariance_error=found.covariance_error + covariance,
        error=found.error + max(mean, covariance, weights),
        **arrays,
    )


def largest(array: Array) -> float:
    """The largest size of an entry."""
    xp = compat.array_namespace(array)
    return float(xp.max(xp.abs(array)))


def finite(found: Moments) -> Moments:
    """Refuse what is no number: squares of the values leave the range of their precision first."""
    xp = compat.array_namespace(found.mean)
    if not all(bool(xp.all(xp.isfinite(x))) for x in (found.mean, found.covariance)):
        raise InputError(
            wanted=f"values whose mean and covariance are numbers in {found.mean.dtype}",
            got="a covariance beyond them",
            attempt="pass V in double precision, or divide it by a power of ten: the covariance "
            "goes with its square",
        )
    return found


def stacked(results: list[Moments]) -> Moments:
    """Arrays stacked along a new first axis, the worst error, the first status that is not done."""
    xp = compat.array_namespace(results[0].mean)
    spokesman = next((r for r in results if r.status != "done"), results[0])
    gathered = {}
    for name in (field.name for field in fields(Moments)):
        column = [getattr(result, name) for result in results]
        if name in _ERRORS:
            gathered[name] = max(column)
        elif name in _ARRAYS and column[0] is not None:
            gathered[name] = xp.stack(column)
        else:
            gathered[name] = getattr(spokesman, name)
    return Moments(**gathered)
