"""`moments`: mean and covariance of the attention output when the keys are random. This file only
chooses the route; each route is a file of its own and takes the same checked `Problem`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headwright import inputs
from headwright.attention import Scores
from headwright.errors import InputError
from headwright.noise.exact import exact_moments
from headwright.noise.few.moments import exact_queries, few_keys
from headwright.noise.limit.moments import limit_moments
from headwright.noise.problem import Request
from headwright.noise.record import Moments, alone, finite, stacked
from headwright.noise.sampling.moments import sampled_moments

METHODS: dict[str, Callable[..., Moments]] = {
    "exact": exact_moments,
    "sampled": sampled_moments,
    "limit": limit_moments,
}


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

    >>> keys = hw.GaussianKeys([[1, 0], [0, 1]], isotropic=0.01)
    >>> print(hw.moments([2, 0], keys, [[1], [3]]).mean.round(4))
    [1.2448]
    """
    if not isinstance(method, str) or method not in METHODS:
        known = ", ".join(METHODS)
        raise InputError(
            wanted=f"method one of {known}", got=inputs.shown(method), attempt='method="exact"'
        )
    request = Request(q, keys, V, mix, Scores(scale, bias, mask), value_noise)
    check = method != "exact"  # `exact` sees NaN among the values in the mean
    groups = request.groups(check_values=check)
    if method == "exact" and few_keys(groups):
        found = finite(exact_queries(groups, **options))
    else:
        found = stacked([finite(METHODS[method](one, **options)) for one in groups.problems()])
    axes = q.ndim if hasattr(q, "ndim") else np.ndim(q)
    return found if axes == 3 else alone(found)
