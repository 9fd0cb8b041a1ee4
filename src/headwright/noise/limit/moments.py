"""Infinite sharpness: the queries keep their directions and grow without bound, and every head
becomes a race.

A head's weight goes to the key with the largest `q . k_i`; fixed keys that tie share it (by their
biases, which matter for nothing else here). Heads that point the same way have the same winner,
heads whose logits are uncorrelated win independently; this file takes a problem apart along these
lines, `joint_winners` settles the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.attention import Scores
from headwright.keys import GaussianKeys, LogitsLaw
from headwright.noise.limit.joint_winners import TIE, joint_winners, leading, tie_tolerances
from headwright.noise.problem import Problem, Request, as_given, in_double, value_covariance
from headwright.noise.record import Moments, in_precision
from headwright.noise.sampling.normals import SAMPLES
from headwright.result import to_numpy
from headwright.types import Array, Bool, PerHead, PerHeadAndKey


@dataclass(frozen=True)
class Winners:
    """Who wins at infinite sharpness: `probabilities[h, i]`, the `noiseless` winners, and
    `flip[h]`, the probability that none of these wins."""

    probabilities: PerHeadAndKey
    noiseless: Bool[Array, "h n"]
    flip: PerHead
    error: float


def winners(
    q: Any, keys: Any, *, scale: float = 1.0, bias: Any = None, mask: Any = None
) -> Winners:
    """The winner of every head of `q`, `(d,)` or `(h, d)`, when the queries grow without bound.

    >>> from headwright.noise import winners
    >>> keys = hw.GaussianKeys([[1, 0], [0, 1]]).radial({0: 0.5})
    >>> print(winners([1, 1], keys).probabilities)
    [[0.5 0.5]]
    """
    keys = keys if hasattr(keys, "logits_law") else GaussianKeys(keys)
    no_values = compat.array_namespace(keys.means).zeros_like(keys.means[:, :1])
    original = Request(q, keys, no_values, scores=Scores(scale, bias, mask)).problem()
    problem = in_double(original)
    xp = problem.xp
    each = [limit_moments(_some(problem, [h])) for h in range(problem.heads)]
    probabilities = xp.concat([one.heads_weights_mean for one in each])

    law = leading(problem)
    means = problem.seen(law.means)
    tie = tie_tolerances(problem, law)[:, None]
    first = means >= xp.max(means, axis=1, keepdims=True) - tie
    lost = xp.where(first, xp.zeros_like(probabilities), probabilities)
    return Winners(
        probabilities=as_given(probabilities, original.values),
        noiseless=as_given(first, original.values),
        flip=as_given(xp.sum(lost, axis=1), original.values),
        error=max(one.error for one in each),
    )


def limit_moments(problem: Problem, *, samples: Any = SAMPLES, seed: int = 0) -> Moments:
    """Moments at infinite sharpness; `heads_weights_mean` are the winners' probabilities. `samples`
    and `seed` serve only heads whose joint law has no exact route."""
    double = in_double(problem)
    distinct, which = _distinct(double)
    groups = list(_independent(distinct))
    parts = [joint_winners(_some(distinct, group), samples=samples, seed=seed) for group in groups]
    xp = double.xp
    order = np.argsort(np.concatenate(groups))[which]
    order = xp.asarray(order, device=compat.device(double.values))

    def by_head(name: str) -> Array:
        """A field of all parts, in the order of the heads asked for."""
        return xp.concat([getattr(part, name) for part in parts])[order, ...]

    weights = sum(part.weights_mean for part in parts)
    variance = sum(part.weights_variance for part in parts)
    covariance = value_covariance(double, variance + weights * weights)
    for part in parts:
        covariance = covariance + part.covariance
    messages = {part.message for part in parts}
    found = Moments(
        mean=sum(part.mean for part in parts),
        covariance=covariance,
        weights_mean=weights,
        weights_variance=variance,
        error=sum(part.error for part in parts),
        method="limit",
        message="; ".join(sorted(messages)),
        mean_error=sum(part.mean_error for part in parts),
        covariance_error=sum(part.covariance_error for part in parts),
        heads_mean=by_head("heads_mean"),
        heads_weights_mean=by_head("heads_weights_mean"),
    )
    return in_precision(found, problem.values)


def _some(problem: Problem, heads: list[int]) -> Problem:
    """Only these heads, without the noise on the values (which is added once, at the end)."""
    pick = problem.xp.asarray(heads, device=compat.device(problem.values))

    def rows(array: Array | None) -> Array | None:
        return None if array is None else array[pick, ...]

    scores = problem.scores
    return replace(
        problem,
        queries=rows(problem.queries),
        mix=rows(problem.mix),
        scores=Scores(scores.scale, rows(scores.bias), rows(scores.mask)),
        value_noise=None,
    )


def _distinct(problem: Problem) -> tuple[Problem, list[int]]:
    """Heads that point the same way always have the same winner: one head with their mixing weights
    added."""
    Q = to_numpy(problem.queries)
    size = np.linalg.norm(Q, axis=1, keepdims=True)
    optional = [x for x in (problem.scores.bias, problem.scores.mask) if x is not None]
    directions = Q / np.where(size > 0, size, 1.0)
    columns = [directions, *(to_numpy(x).astype(float) for x in optional)]
    rows = np.hstack(columns)
    same = []
    for h in range(len(Q)):
        differences = np.abs(rows[: h + 1] - rows[h])
        apart = differences.max(axis=1)
        same.append(int(np.argmax(apart <= TIE * problem.precision)))

    first = sorted(set(same))
    xp = problem.xp
    mix = problem.mix
    column = np.array(first)[:, None]
    owner = np.array(same)[None, :] == column
    owner = xp.asarray(owner, device=compat.device(mix))
    owned = xp.where(owner, mix[None, :], xp.zeros_like(mix))
    added = xp.sum(owned, axis=1)
    which = [first.index(h) for h in same]
    return replace(_some(problem, first), mix=added), which


def _independent(problem: Problem) -> Iterator[list[int]]:
    """Groups of heads that no key correlates with each other."""
    linked = np.ones((1, 1), dtype=bool)
    if problem.heads > 1:
        linked = _linked(leading(problem), problem.precision)
    left = set(range(problem.heads))
    while left:
        group = set()
        new = {min(left)}
        while new:
            group |= new
            reached = {int(j) for i in new for j in np.flatnonzero(linked[i])}
            new = reached - group
        left -= group
        yield sorted(group)


def _linked(law: LogitsLaw, precision: float) -> Bool[np.ndarray, "h h"]:
    """Which heads does some key correlate?"""
    if law.shared is not None:
        return np.ones((law.means.shape[0],) * 2, dtype=bool)
    cross = to_numpy(law.cross)
    s = np.sqrt(to_numpy(law.variances))
    negligible = TIE * precision * s[:, None] * s[None, :]
    return np.any(np.abs(cross) > negligible, axis=2)
