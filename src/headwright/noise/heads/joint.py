"""Several heads on the same random keys: exact mean and covariance of `c = sum_h mix_h c_h`.

Each head alone is `exact.head_moments` (`spread` for many keys). Two heads depend on each other
only through keys whose two logits are correlated: with none, their covariance is exactly zero (the
classic exercise); with some, it is the double integral of `pair`. Heads with the same query are one
random variable and are merged first. Where the double integral would cost too much the covariance
is sampled, and the status says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import like
from headwright.errors import InputError
from headwright.noise.head.integral import HeadMoments, integral
from headwright.noise.heads.pair import PairLaw, PairMoments, pair_moments
from headwright.noise.many.moments import logits_moments
from headwright.noise.moments import Moments
from headwright.noise.problem import Problem, has_double, value_covariance
from headwright.noise.rounding import pair_rounding, with_rounding
from headwright.noise.sampling.moments import sampled_moments
from headwright.result import to_numpy
from headwright.types import Array

# Promised for values at most 1 away from their centre; a result that misses it says so.
PROMISED_MEAN, PROMISED_COVARIANCE = 1e-9, 1e-8
# Up to so many keys the arrays come to the host, and the double integral between heads is taken
DIRECT = 4096
LARGEST = 1e150  # the square of it is still a number
# A sampled covariance is reported with this many standard errors.
SIGMAS = 5.0
MIXING = 4 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class _Head:
    """One distinct head: the rows that share its query, their mix together, and its moments."""

    rows: list[int]
    mix: float
    moments: HeadMoments


def exact_moments(problem: Problem, *, seed: int = 0) -> Moments:
    """Exact moments; `seed` is used only where the covariance between heads has to be sampled."""
    if problem.law.shared is not None:
        raise InputError(
            wanted="independent keys for the exact method",
            got=repr(problem.keys),
            attempt='method="sampled" takes correlated keys',
        )
    m, s = logits_law(problem)
    values = problem.values if isinstance(m[0], type(problem.values)) else to_numpy(problem.values)
    with np.errstate(over="ignore", invalid="ignore"):
        heads = [_head(problem, rows, (m, s), values) for rows in _distinct(problem)]
    largest = max(h.moments.spread for h in heads)
    if largest > LARGEST:
        raise InputError(
            wanted=f"values at most {LARGEST:g} apart, so that their covariance is a number",
            got=f"{largest:.3g}",
            attempt="divide V by a power of ten: the covariance goes with its square",
        )
    pairs = [(g, h, _pair(problem, (m, s), g, h)) for g, h in combinations(heads, 2)]
    mean = _mixed([(h.mix, h.moments.mean) for h in heads])
    covariance = _mixed([(h.mix**2, h.moments.covariance) for h in heads])
    weights = _mixed([(h.mix, h.moments.weights_mean) for h in heads])
    variance = _mixed(
        [(h.mix**2, h.moments.weights_square - h.moments.weights_mean**2) for h in heads]
    )
    for g, h, pair in pairs:
        if pair is not None:
            covariance = covariance + g.mix * h.mix * like(
                pair.covariance + pair.covariance.T, covariance
            )
            variance = variance + 2 * g.mix * h.mix * like(pair.weights, variance)
    if problem.value_noise is not None:
        covariance = covariance + value_covariance(problem, variance + weights**2)
    result = _result(
        problem,
        heads,
        (mean, covariance, weights, variance),
        _errors(heads, pairs),
        _misses(heads, pairs),
    )
    return (
        result
        if all(pair is not None for *_, pair in pairs)
        else _sampled_covariance(problem, result, seed)
    )


def _head(problem: Problem, rows: list[int], law: tuple[list, list], values: Array) -> _Head:
    m, s = (x[rows[0]] for x in law)
    found = with_rounding(logits_moments(m, s, values), problem.law, rows[0], m=m)
    return _Head(rows, float(sum(problem.mix[h] for h in rows)), found)


def _mixed(terms: list[tuple[float, Array]]) -> Array:
    """`sum_h factor_h x_h`; one head with factor 1 is passed on as it is."""
    (factor, total), *others = terms
    total = total if factor == 1.0 else factor * total
    for factor, x in others:
        total = total + factor * x
    return total


def logits_law(problem: Problem) -> tuple[list[Array], list[Array]]:
    """Means and deviations per head in double precision; a masked key has mean minus infinity and
    no noise, and so has one that is further below the others than a double can say.

    Few keys come to the host; many stay where they are, unless their library has no double
    precision."""
    xp, law, mask = problem.xp, problem.law, problem.mask
    stay = problem.values.shape[0] > DIRECT and has_double(problem.values)

    def take(x: Array) -> Array:
        return x if stay else to_numpy(x)

    lib = xp if stay else np
    means, deviations = [], []
    for h in range(problem.heads):
        m, s = take(law.means[h, ...]), lib.sqrt(take(law.variances[h, ...]))
        if mask is not None:
            m = lib.where(take(mask[h, ...]), m, lib.full_like(m, -np.inf))
        if float(lib.min(m)) == -np.inf:
            s = lib.where(m == -np.inf, 0.0 * s, s)
        means.append(m)
        deviations.append(s)
    return means, deviations


def _distinct(problem: Problem) -> list[list[int]]:
    """Heads grouped by equal query, bias and mask."""
    groups: dict[bytes, list[int]] = {}
    rows = (problem.queries, problem.bias, problem.mask)
    for h in range(problem.heads):
        name = b"".join(
            to_numpy(x[h, ...]).tobytes() for x in rows if x is not None and problem.heads > 1
        )
        groups.setdefault(name, []).append(h)
    return list(groups.values())


def _pair(problem: Problem, law: tuple[list, list], g: _Head, h: _Head) -> PairMoments | None:
    """Covariance of two heads; None where the double integral is out of reach."""
    cross = to_numpy(problem.law.cross[g.rows[0], h.rows[0], ...]).astype(float)
    if problem.mask is not None:
        cross = cross * to_numpy(problem.mask[g.rows[0], ...] & problem.mask[h.rows[0], ...])
    n, v = problem.values.shape
    rounding = pair_rounding(problem.law, (g.rows[0], h.rows[0]), (g.moments, h.moments))
    if not cross.any():
        return PairMoments(np.zeros((v, v)), np.zeros(n), rounding)
    if n > DIRECT:
        return None
    m, s = (np.stack([x[g.rows[0]], x[h.rows[0]]]) for x in law)
    tables = integral(m[0], s[0]), integral(m[1], s[1])
    V = to_numpy(problem.values).astype(float, copy=False)
    found = pair_moments(*tables, PairLaw(m, s, cross), V, heads=(g.moments, h.moments))
    return None if found is None else replace(found, error=found.error + rounding)


def _errors(heads: list[_Head], pairs: list[tuple]) -> tuple[float, float, float]:
    """Bounds for values of their real size: mean, covariance, and the weights (whose size is one)."""
    mean, covariance, weights = 0.0, 0.0, 0.0
    for h in heads:
        one, size = h.moments, abs(h.mix)
        # Adding up the heads rounds each by a few units of its own size, which may cancel in the
        # sum.
        mean += size * (one.first * one.spread + MIXING * _largest(one.mean))
        covariance += size**2 * (one.second * one.spread**2 + MIXING * _largest(one.covariance))
        # Of the variance E[alpha^2] - E[alpha]^2, and of the mean weight.
        weights += size**2 * (one.second + 2 * one.first) + size * one.first
    for g, h, pair in pairs:
        if pair is not None:
            both = 2 * abs(g.mix * h.mix) * pair.error
            covariance += both * g.moments.spread * h.moments.spread
            weights += both
    return mean, covariance, weights


def _largest(array: Array) -> float:
    return float(compat.array_namespace(array).max(abs(array)))


def _misses(heads: list[_Head], pairs: list[tuple]) -> list[str]:
    """Which of the promises are not kept, for values at most 1 away from their centre."""
    first = max(h.moments.first for h in heads)
    second = max(
        [h.moments.second for h in heads] + [pair.error for *_, pair in pairs if pair is not None]
    )
    kept = {"mean": first <= PROMISED_MEAN, "covariance": second <= PROMISED_COVARIANCE}
    return [name for name, fine in kept.items() if not fine]


def _result(
    problem: Problem,
    heads: list[_Head],
    results: tuple,
    errors: tuple[float, float, float],
    misses: list[str],
) -> Moments:
    """The record, in the library, on the device and in the precision of the values."""
    xp, values = problem.xp, problem.values
    of = {row: head.moments for head in heads for row in head.rows}

    def back(x: Array) -> Array:
        return xp.asarray(x, dtype=values.dtype, device=compat.device(values))

    with np.errstate(over="ignore", under="ignore"):
        mean, covariance, weights, variance = (back(x) for x in results)
    info = xp.finfo(values.dtype)
    stored = [
        float(info.eps) * _largest(x) + float(info.smallest_normal)
        for x in (mean, covariance, weights)
    ]
    mean_error, covariance_error, weights_error = (
        e + x for e, x in zip(errors, stored, strict=True)
    )
    if problem.value_noise is not None:
        covariance_error += weights_error * float(xp.max(xp.abs(problem.value_noise)))
    return Moments(
        mean=mean,
        covariance=covariance,
        weights_mean=weights,
        weights_variance=xp.clip(variance, min=0.0),
        error=max(mean_error, covariance_error, weights_error),
        method="exact",
        status=f"inaccurate {' and '.join(misses)}" if misses else "done",
        message="the error bound is larger than promised; the numbers are good to `error`"
        if misses
        else "",
        mean_error=mean_error,
        covariance_error=covariance_error,
        heads_mean=_stack(xp, [back(of[h].mean) for h in range(problem.heads)]),
        heads_weights_mean=_stack(xp, [back(of[h].weights_mean) for h in range(problem.heads)]),
    )


def _stack(xp: Any, rows: list[Array]) -> Array:
    return rows[0][None, ...] if len(rows) == 1 else xp.stack(rows)


def _sampled_covariance(problem: Problem, exact: Moments, seed: int) -> Moments:
    """Mean and weights stay exact; covariances come from sampling, with their own error."""
    drawn = sampled_moments(problem, seed=seed)
    error = SIGMAS * drawn.error
    return replace(
        exact,
        covariance=drawn.covariance,
        weights_variance=drawn.weights_variance,
        error=max(exact.error, error),
        covariance_error=error,
        status="sampled covariance",
        message="two heads are correlated through too many keys for the double integral; "
        f"the covariance between heads is sampled, {SIGMAS:g} standard errors stated",
    )
