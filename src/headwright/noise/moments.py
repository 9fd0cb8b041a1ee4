"""`moments`: mean and covariance of the attention output when the keys are random. This file only
chooses the route; each route is a file of its own and takes the same checked `Problem`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.noise.problem import Problem, as_given, problems
from headwright.types import Array, Float, Values

# method -> (module, function); imported when first asked for.
METHODS = {
    "exact": ("headwright.noise.heads.joint", "exact_moments"),
    "sampled": ("headwright.noise.sampling.moments", "sampled_moments"),
    "limit": ("headwright.noise.limit.moments", "limit_moments"),
}


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


def moments(
    q: Any,
    keys: Any,
    V: Any,
    *,
    method: str = "exact",
    mix: Any = None,
    scale: float = 1.0,
    bias: Any = None,
    mask: Any = None,
    value_noise: Any = None,
    **options: Any,
) -> Moments:
    """Mean and covariance of the output of the query `q` on random `keys` with values `V` (n, v).

    `q` is one query `(d,)`, the heads of one output `(h, d)` (mixed by `mix`, equal by default), or
    a batch `(m, h, d)` of such groups. `keys` is a `GaussianKeys`. `method` is "exact", "sampled"
    (options: samples, seed, ...) or "limit" (infinite sharpness). `value_noise` is independent
    noise on the values.
    """
    extras = {"bias": bias, "mask": mask, "value_noise": value_noise}
    route = _route(method)
    check = method != "exact"  # `exact` sees NaN among the values in the mean
    parts = problems(q, keys, V, mix=mix, scale=scale, extras=extras, check_values=check)
    results = [_finite(route(p, **options)) for p in parts]
    axes = q.ndim if hasattr(q, "ndim") else np.ndim(q)
    return _stack(results) if axes == 3 else results[0]


def _route(method: str) -> Callable[..., Moments]:
    if not isinstance(method, str) or method not in METHODS:
        known = ", ".join(METHODS)
        raise InputError(
            wanted=f"method one of {known}", got=inputs.shown(method), attempt='method="exact"'
        )
    module, function = METHODS[method]
    return getattr(import_module(module), function)


def in_precision(found: Moments, values: Values) -> Moments:
    """`found` in the library, on the device and in the precision of the values, in which it is
    rounded once more."""
    if found.mean.dtype == values.dtype:
        return found
    unit = float(compat.array_namespace(values).finfo(values.dtype).eps)
    mean, covariance, weights = (
        unit * _largest(x) for x in (found.mean, found.covariance, found.weights_mean)
    )
    found = replace(
        found,
        mean_error=found.mean_error + mean,
        covariance_error=found.covariance_error + covariance,
        error=found.error + max(mean, covariance, weights),
    )
    every = {f.name: getattr(found, f.name) for f in fields(Moments)}
    arrays = {
        name: x for name, x in every.items() if not isinstance(x, (float, str)) and x is not None
    }
    with np.errstate(over="ignore", under="ignore"):
        return replace(found, **{name: as_given(x, values) for name, x in arrays.items()})


def _largest(array: Array) -> float:
    xp = compat.array_namespace(array)
    return float(xp.max(xp.abs(array)))


def _finite(found: Moments) -> Moments:
    """Refuse what is no number: squares of the values leave the range of their precision first."""
    xp = compat.array_namespace(found.mean)
    if not all(bool(xp.all(xp.isfinite(x))) for x in (found.mean, found.covariance)):
        raise InputError(
            wanted=f"values whose mean and covariance are numbers in {found.mean.dtype}",
            got="a covariance beyond them",
            attempt="pass V in double precision, or divide it by a power of ten: the covariance goes with its square",
        )
    return found


def _stack(results: list[Moments]) -> Moments:
    """Arrays stacked along a new first axis, the worst error, the first status that is not "done"."""
    xp = compat.array_namespace(results[0].mean)
    worst = next((r for r in results if r.status != "done"), results[0])
    gathered = {}
    for name in (f.name for f in fields(Moments)):
        column = [getattr(r, name) for r in results]
        if isinstance(column[0], float):
            gathered[name] = max(column)
        elif isinstance(column[0], str) or column[0] is None:
            gathered[name] = getattr(worst, name)
        else:
            gathered[name] = xp.stack(column)
    return Moments(**gathered)


__all__ = ["METHODS", "Moments", "Problem", "in_precision", "moments"]
