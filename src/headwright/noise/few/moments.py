"""Many queries of one head each on the same few keys: the exact moments of all of them in one pass,
the single query being the smallest batch. Queries are taken some hundred at a time, so that nothing
but the answers grows with their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.inputs import finite
from headwright.noise import budget
from headwright.noise.exact import FEW, MIXING, promises, refuse_too_far
from headwright.noise.head.integral import HeadMoments, many_queries
from headwright.noise.problem import Groups, Problem, as_given, independent, value_covariance
from headwright.noise.record import Moments, largest
from headwright.noise.rounding import all_with_rounding
from headwright.result import to_numpy
from headwright.types import Float, HostValues

_TOGETHER = 1 << 10  # queries taken at a time
_NUMBERS = 1 << 20  # and at most so many numbers for their values

PerQuery = Float[np.ndarray, "q"]
Answers = dict[str, np.ndarray]  # arrays of `Moments`, a query in each row


@dataclass(frozen=True)
class _Errors:
    """Bounds for values of their real size: mean, covariance, and weights (whose size is one)."""

    mean: float
    covariance: float
    weights: float

    def or_worse(self, other: _Errors) -> _Errors:
        """The larger ones."""
        return _Errors(
            max(self.mean, other.mean),
            max(self.covariance, other.covariance),
            max(self.weights, other.weights),
        )


def few_keys(groups: Groups) -> bool:
    """Are these groups of one head each, on so few keys that each is transformed by itself?"""
    return groups.first.heads == 1 and groups.values.shape[0] <= FEW


def exact_queries(groups: Groups, *, seed: int = 0) -> Moments:
    """Exact moments of groups of one head each, with the axis of the groups in front. No `seed` is
    needed: nothing is sampled."""
    del seed
    host = to_numpy(finite("V", groups.values))
    V = host.astype(float, copy=False)
    count = len(groups.queries)
    answers: Answers = {}
    worst = _Errors(0.0, 0.0, 0.0)
    said = ("done", "")
    for part in _parts(count, V.size):
        problem = groups.rows(part)
        head = _heads(problem, V)
        refuse_too_far(float(head.farthest.max()))
        with np.errstate(over="ignore", under="ignore"):
            some = _mixed(problem, head, host.dtype)
        worst = worst.or_worse(_errors(problem, head, some))
        _keep(answers, some, part, count)
        if said[0] == "done":
            said = _first_said(head)
    return Moments(
        **{name: as_given(x, groups.values) for name, x in answers.items()},
        error=max(worst.mean, worst.covariance, worst.weights),
        method="exact",
        status=said[0],
        message=said[1],
        mean_error=worst.mean,
        covariance_error=worst.covariance,
    )


def _parts(count: int, numbers: int) -> Iterator[slice]:
    """Some queries at a time, fewer of them if there are many values."""
    size = max(1, min(_TOGETHER, _NUMBERS // numbers))
    for begin in range(0, count, size):
        yield slice(begin, min(begin + size, count))


def _heads(problem: Problem, V: HostValues) -> HeadMoments:
    """The one head of each query, and what rounding of its logits may have done to it."""
    law = independent(problem).law
    m = to_numpy(problem.seen(law.means))
    s = np.sqrt(to_numpy(law.variances))
    s = np.where(m == -np.inf, 0.0, s)
    with np.errstate(over="ignore", invalid="ignore"):
        return all_with_rounding(many_queries(m, s, V), law, m=m)


def _mixed(problem: Problem, head: HeadMoments, dtype: Any) -> Answers:
    """Moments of the output `mix c`, the noise of the values included, and of the weights."""
    mix = float(problem.mix[0])
    weights = mix * head.weights_mean
    variance = mix**2 * (head.weights_square - head.weights_mean**2)
    covariance = mix**2 * head.covariance
    if problem.value_noise is not None:
        covariance = covariance + value_covariance(problem, variance + weights**2)
    answers = {
        "mean": mix * head.mean,
        "covariance": covariance,
        "weights_mean": weights,
        "weights_variance": np.maximum(variance, 0.0),
        "heads_mean": head.mean[:, None, :],
        "heads_weights_mean": head.weights_mean[:, None, :],
    }
    return {name: x.astype(dtype, copy=False) for name, x in answers.items()}


def _errors(problem: Problem, head: HeadMoments, some: Answers) -> _Errors:
    """The worst of some queries; each of their answers is rounded once more when it is stored."""
    size = abs(float(problem.mix[0]))
    of_mean = head.first * head.farthest
    mean = size * (of_mean + MIXING * _largest(head.mean)) + _stored(some["mean"])
    of_covariance = head.second * head.farthest**2
    covariance = size**2 * (of_covariance + MIXING * _largest(head.covariance))
    covariance = covariance + _stored(some["covariance"])
    # Of the variance E[alpha^2] - E[alpha]^2, and of the mean weight.
    of_variance = head.second + 2 * head.first
    weights = size**2 * of_variance + size * head.first + _stored(some["weights_mean"])
    if problem.value_noise is not None:
        covariance = covariance + weights * largest(problem.value_noise)
    return _Errors(float(mean.max()), float(covariance.max()), float(weights.max()))


def _stored(x: np.ndarray) -> PerQuery:
    """What it costs to store numbers of this size in the array's precision."""
    info = np.finfo(x.dtype)
    return float(info.eps) * _largest(x) + float(info.smallest_normal)


def _largest(x: np.ndarray) -> PerQuery:
    """The largest size of an entry of each query."""
    return np.abs(x).reshape(len(x), -1).max(axis=1).astype(float)


def _keep(answers: Answers, some: Answers, part: slice, count: int) -> None:
    """Answers to some queries, in their place among all `count`."""
    for name, x in some.items():
        if len(x) == count:
            answers[name] = x
            continue
        if name not in answers:
            answers[name] = np.empty((count, *x.shape[1:]), dtype=x.dtype)
        answers[name][part] = x


def _first_said(head: HeadMoments) -> tuple[str, str]:
    """Status and message of the first query whose promises are not kept."""
    kept = (head.first <= budget.PROMISED_MEAN) & (head.second <= budget.PROMISED_COVARIANCE)
    first = int(np.argmin(kept))
    return promises(float(head.first[first]), float(head.second[first]))
