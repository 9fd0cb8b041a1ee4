"""The exact route: mean and covariance of `c = sum_h mix_h c_h`, however many heads and keys.

Each head alone is an integral (`head` for few keys, `many` for many). Two heads depend on each
other only through keys whose two logits are correlated: with none, their covariance is exactly zero
(the classic exercise); with some, it is the double integral of `heads.pair`. Heads with the same
query are one random variable and are merged first. Where the double integral would cost too much
the covariance is sampled, and the status says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import like
from headwright.errors import InputError
from headwright.inputs import finite
from headwright.noise import budget
from headwright.noise.head.integral import HeadMoments, head_moments
from headwright.noise.heads.between import (
    DIRECT,
    Head,
    LogitsByHead,
    Pair,
    between,
    with_sampled_covariance,
)
from headwright.noise.many.moments import many_moments
from headwright.noise.problem import (
    Problem,
    as_given,
    has_double,
    independent,
    value_covariance,
)
from headwright.noise.record import Moments, largest
from headwright.noise.rounding import with_rounding
from headwright.result import to_numpy
from headwright.types import Array, PerKey, Values

FEW = 48  # up to so many keys every key is transformed by itself
LARGEST = 1e150  # the square of it is still a number
MIXING = 4 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class _Mixed:
    """Moments of the mix of all heads, and of the mixed weights."""

    mean: Array
    covariance: Array
    weights: PerKey
    variance: PerKey


@dataclass(frozen=True)
class _Errors:
    """Bounds for values of their real size: mean, covariance, and weights (whose size is one)."""

    mean: float
    covariance: float
    weights: float


def exact_moments(problem: Problem, *, seed: int = 0) -> Moments:
    """Exact moments; `seed` is used only where the covariance between heads has to be sampled."""
    law = logits_law(independent(problem))
    values = problem.values
    if not isinstance(law.means[0], type(values)):
        values = to_numpy(values)
    with np.errstate(over="ignore", invalid="ignore"):
        heads = [_head(problem, rows, law, values) for rows in _distinct(problem)]
    refuse_too_far(max(h.moments.farthest for h in heads))

    pairs = _pairs(problem, heads, law)
    found = _result(problem, heads, pairs)
    if pairs and pairs[-1].moments is None:
        return with_sampled_covariance(problem, found, seed)
    return found


def _pairs(problem: Problem, heads: list[Head], law: LogitsByHead) -> list[Pair]:
    """What any two heads have to do with each other; the last pair is the first one that is out of
    reach: the covariance is sampled then, whatever the others are."""
    pairs = []
    for first, second in combinations(heads, 2):
        pairs.append(between(problem, law, first, second))
        if pairs[-1].moments is None:
            break
    return pairs


def logits_law(problem: Problem) -> LogitsByHead:
    """Means and deviations per head in double precision; a masked key has mean minus infinity and
    no noise, and so has one that is further below the others than a double can say.

    Few keys come to the host; many stay where they are, unless their library has no double
    precision."""
    law = problem.law
    stay = problem.values.shape[0] > DIRECT and has_double(problem.values)
    xp = problem.xp if stay else np

    def take(x: Array) -> Array:
        return x if stay else to_numpy(x)

    means = []
    deviations = []
    for h in range(problem.heads):
        m = take(law.means[h, ...])
        s = xp.sqrt(take(law.variances[h, ...]))
        if problem.scores.mask is not None:
            visible = take(problem.scores.mask[h, ...])
            m = xp.where(visible, m, xp.full_like(m, -np.inf))
        if float(xp.min(m)) == -np.inf:
            s = xp.where(m == -np.inf, 0.0 * s, s)
        means.append(m)
        deviations.append(s)
    return LogitsByHead(means, deviations)


def _distinct(problem: Problem) -> list[list[int]]:
    """Heads grouped by equal query, bias and mask."""
    if problem.heads == 1:
        return [[0]]
    groups: dict[bytes, list[int]] = {}
    arrays = (problem.queries, problem.scores.bias, problem.scores.mask)
    for h in range(problem.heads):
        rows = [to_numpy(x[h, ...]) for x in arrays if x is not None]
        name = b"".join(row.tobytes() for row in rows)
        groups.setdefault(name, []).append(h)
    return list(groups.values())


def _head(problem: Problem, rows: list[int], law: LogitsByHead, values: Array) -> Head:
    """One distinct head, and what rounding of its logits may have done to it."""
    row = rows[0]
    m = law.means[row]
    alone = one_head(m, law.deviations[row], values)
    mix = float(sum(problem.mix[h] for h in rows))
    return Head(rows, mix, with_rounding(alone, problem.law, row, m=m))


def one_head(m: PerKey, s: PerKey, V: Values) -> HeadMoments:
    """Moments of one head from the law of its logits: key by key if they are few or fixed."""
    if m.shape[0] > FEW and bool(compat.array_namespace(s).any(s > 0)):
        return many_moments(m, s, V)
    values = to_numpy(finite("V", V)).astype(float, copy=False)
    return head_moments(to_numpy(m), to_numpy(s), values)


def refuse_too_far(farthest: float) -> None:
    """Squares of values further from their mean are no numbers."""
    if farthest > LARGEST:
        raise InputError(
            wanted=f"values at most {LARGEST:g} apart, so that their covariance is a number",
            got=f"{farthest:.3g}",
            attempt="divide V by a power of ten: the covariance goes with its square",
        )


def _mixed(problem: Problem, heads: list[Head], pairs: list[Pair]) -> _Mixed:
    """All heads and pairs of heads, added up by their mix."""
    mean = _sum([(h.mix, h.moments.mean) for h in heads])
    covariance = _sum([(h.mix**2, h.moments.covariance) for h in heads])
    weights = _sum([(h.mix, h.moments.weights_mean) for h in heads])
    variance = _sum([(h.mix**2, _weights_variance(h.moments)) for h in heads])
    for pair in pairs:
        if pair.moments is not None:
            both_ways = pair.moments.covariance + pair.moments.covariance.T
            covariance = covariance + pair.mix * like(both_ways, covariance)
            variance = variance + 2 * pair.mix * like(pair.moments.weights, variance)
    if problem.value_noise is not None:
        covariance = covariance + value_covariance(problem, variance + weights**2)
    return _Mixed(mean, covariance, weights, variance)


def _weights_variance(one: HeadMoments) -> PerKey:
    """Var[alpha_i] = E[alpha_i^2] - E[alpha_i]^2"""
    return one.weights_square - one.weights_mean**2


def _sum(terms: list[tuple[float, Array]]) -> Array:
    """`sum_h factor_h x_h`; one head with factor 1 is passed on as it is."""
    (factor, total), *others = terms
    total = total if factor == 1.0 else factor * total
    for factor, x in others:
        total = total + factor * x
    return total


def _errors(heads: list[Head], pairs: list[Pair]) -> _Errors:
    """What is known about the error of `_mixed`."""
    mean = 0.0
    covariance = 0.0
    weights = 0.0
    for h in heads:
        one = h.moments
        size = abs(h.mix)
        # Adding up the heads rounds each by a few units of its own size, which may cancel in the
        # sum.
        of_mean = one.first * one.farthest
        mean += size * (of_mean + MIXING * largest(one.mean))
        of_covariance = one.second * one.farthest**2
        covariance += size**2 * (of_covariance + MIXING * largest(one.covariance))
        # Of the variance E[alpha^2] - E[alpha]^2, and of the mean weight.
        of_variance = one.second + 2 * one.first
        weights += size**2 * of_variance + size * one.first
    for pair in pairs:
        if pair.moments is not None:
            both = 2 * abs(pair.mix) * pair.moments.error
            covariance += both * pair.first.moments.farthest * pair.second.moments.farthest
            weights += both
    return _Errors(mean, covariance, weights)


def _said(heads: list[Head], pairs: list[Pair]) -> tuple[str, str]:
    """Status and message, by the worst head or pair of heads."""
    first = max(h.moments.first for h in heads)
    of_heads = [h.moments.second for h in heads]
    of_pairs = [pair.moments.error for pair in pairs if pair.moments is not None]
    return promises(first, max(of_heads + of_pairs))


def promises(first: float, second: float) -> tuple[str, str]:
    """Status and message: which promises these errors of the mean and of the covariance keep, for
    values at most 1 away from their centre."""
    misses = []
    if not first <= budget.PROMISED_MEAN:
        misses.append("mean")
    if not second <= budget.PROMISED_COVARIANCE:
        misses.append("covariance")
    if not misses:
        return "done", ""
    too_large = "the error bound is larger than promised; the numbers are good to `error`"
    return f"inaccurate {' and '.join(misses)}", too_large


def _result(problem: Problem, heads: list[Head], pairs: list[Pair]) -> Moments:
    """The record, in the library, on the device and in the precision of the values."""
    xp = problem.xp
    values = problem.values
    mixed = _mixed(problem, heads, pairs)
    errors = _errors(heads, pairs)
    status, message = _said(heads, pairs)
    with np.errstate(over="ignore", under="ignore"):
        mean = as_given(mixed.mean, values)
        covariance = as_given(mixed.covariance, values)
        weights = as_given(mixed.weights, values)
        variance = as_given(mixed.variance, values)

    mean_error = errors.mean + _stored(mean)
    covariance_error = errors.covariance + _stored(covariance)
    weights_error = errors.weights + _stored(weights)
    if problem.value_noise is not None:
        covariance_error += weights_error * largest(problem.value_noise)
    of_row = {row: head.moments for head in heads for row in head.rows}
    by_row = [of_row[h] for h in range(problem.heads)]
    return Moments(
        mean=mean,
        covariance=covariance,
        weights_mean=weights,
        weights_variance=xp.clip(variance, min=0.0),
        error=max(mean_error, covariance_error, weights_error),
        method="exact",
        status=status,
        message=message,
        mean_error=mean_error,
        covariance_error=covariance_error,
        heads_mean=_stack(xp, [as_given(one.mean, values) for one in by_row]),
        heads_weights_mean=_stack(xp, [as_given(one.weights_mean, values) for one in by_row]),
    )


def _stored(array: Array) -> float:
    """What it costs to store numbers of this size in the array's precision."""
    info = compat.array_namespace(array).finfo(array.dtype)
    return float(info.eps) * largest(array) + float(info.smallest_normal)


def _stack(xp: Any, rows: list[Array]) -> Array:
    """Rows side by side; one row needs no copy."""
    return rows[0][None, ...] if len(rows) == 1 else xp.stack(rows)
