"""Infinite sharpness: the queries keep their directions and grow without bound, and every head
becomes a race.

A head's weight goes to the key with the largest `q . k_i`; fixed keys that tie share it (by their
biases, which matter for nothing else here). Heads that point the same way have the same winner,
heads whose logits are uncorrelated win independently; this file takes a problem apart along these
lines, `contest.py` settles the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.keys import GaussianKeys, LogitsLaw
from headwright.noise.limit.joint_winners import TIE, leading, settle, tie_tolerances
from headwright.noise.moments import Moments, in_precision
from headwright.noise.problem import Problem, as_given, in_double, problems, value_covariance
from headwright.noise.sampling.moments import SAMPLES
from headwright.result import to_numpy
from headwright.types import Array, Bool, Float


@dataclass(frozen=True)
class Winners:
    """Who wins at infinite sharpness: `probabilities[h, i]`, the `noiseless` winners, and
    `flip[h]`, the probability that none of these wins."""

    probabilities: Float[Array, "h n"]
    noiseless: Bool[Array, "h n"]
    flip: Float[Array, "h"]
    error: float


def winners(
    q: Any, keys: Any, *, scale: float = 1.0, bias: Any = None, mask: Any = None
) -> Winners:
    """The winner of every head of `q`, `(d,)` or `(h, d)`, when the queries grow without bound."""
    keys = keys if hasattr(keys, "logits_law") else GaussianKeys(keys)
    extras = {"bias": bias, "mask": mask, "value_noise": None}
    none = compat.array_namespace(keys.means).zeros_like(keys.means[:, :1])
    (given,) = problems(q, keys, none, mix=None, scale=scale, extras=extras)
    problem = in_double(given)
    xp = problem.xp
    each = [limit_moments(_some(problem, [h])) for h in range(problem.heads)]
    probabilities = xp.concat([one.heads_weights_mean for one in each])
    law = leading(problem)
    means, tie = law.means, tie_tolerances(problem, law)[:, None]
    means = (
        means
        if problem.mask is None
        else xp.where(problem.mask, means, xp.full_like(means, -xp.inf))
    )
    first = means >= xp.max(means, axis=1, keepdims=True) - tie
    flip = xp.sum(xp.where(first, xp.zeros_like(probabilities), probabilities), axis=1)
    probabilities, first, flip = (as_given(x, given.values) for x in (probabilities, first, flip))
    return Winners(probabilities, first, flip, max(one.error for one in each))


def limit_moments(problem: Problem, *, samples: Any = SAMPLES, seed: int = 0) -> Moments:
    """Moments at infinite sharpness; `heads_weights_mean` are the winners' probabilities. `samples`
    and `seed` serve only heads whose joint law has no exact route."""
    given, problem = problem, in_double(problem)
    distinct, which = _distinct(problem)
    groups = list(_independent(distinct))
    parts = [settle(_some(distinct, group), samples=samples, seed=seed) for group in groups]
    xp, order = problem.xp, np.argsort(np.concatenate(groups))[which]

    def heads(name: str) -> Array:
        return xp.concat([getattr(part, name) for part in parts])[
            xp.asarray(order, device=compat.device(problem.values)), ...
        ]

    weights, variance = sum(p.weights_mean for p in parts), sum(p.weights_variance for p in parts)
    noise = value_covariance(problem, variance + weights * weights)
    found = Moments(
        mean=sum(p.mean for p in parts),
        covariance=sum((p.covariance for p in parts), start=noise),
        weights_mean=weights,
        weights_variance=variance,
        error=sum(p.error for p in parts),
        method="limit",
        message="; ".join(sorted({p.message for p in parts})),
        mean_error=sum(p.mean_error for p in parts),
        covariance_error=sum(p.covariance_error for p in parts),
        heads_mean=heads("heads_mean"),
        heads_weights_mean=heads("heads_weights_mean"),
    )
    return in_precision(found, given.values)


def _some(problem: Problem, heads: list[int]) -> Problem:
    """Only these heads, without the noise on the values (which is added once, at the end)."""
    pick = problem.xp.asarray(heads, device=compat.device(problem.values))
    rows = {name: getattr(problem, name) for name in ("queries", "mix", "bias", "mask")}
    rows = {name: None if x is None else x[pick, ...] for name, x in rows.items()}
    return replace(problem, value_noise=None, **rows)


def _distinct(problem: Problem) -> tuple[Problem, list[int]]:
    """Heads that point the same way always have the same winner: one head with their mixing weights
    added."""
    Q = to_numpy(problem.queries)
    size = np.linalg.norm(Q, axis=1, keepdims=True)
    rows = [Q / np.where(size > 0, size, 1.0)]
    rows += [to_numpy(x).astype(float) for x in (problem.bias, problem.mask) if x is not None]
    rows = np.hstack(rows)
    same = [
        int(np.argmax(np.abs(rows[: h + 1] - rows[h]).max(axis=1) <= TIE * problem.precision))
        for h in range(len(Q))
    ]
    first = sorted(set(same))
    xp, mix = problem.xp, problem.mix
    owner = xp.asarray(
        np.array(same)[None, :] == np.array(first)[:, None], device=compat.device(mix)
    )
    added = xp.sum(xp.where(owner, mix[None, :], xp.zeros_like(mix)), axis=1)
    return replace(_some(problem, first), mix=added), [first.index(h) for h in same]


def _independent(problem: Problem) -> Iterator[list[int]]:
    """Groups of heads that no key correlates with each other."""
    linked = (
        _linked(leading(problem), problem.precision)
        if problem.heads > 1
        else np.ones((1, 1), dtype=bool)
    )
    left = set(range(problem.heads))
    while left:
        group, new = set(), {min(left)}
        while new:
            group |= new
            new = {int(j) for i in new for j in np.flatnonzero(linked[i])} - group
        left -= group
        yield sorted(group)


def _linked(law: LogitsLaw, precision: float) -> Bool[np.ndarray, "h h"]:
    if law.shared is not None:
        return np.ones((law.means.shape[0],) * 2, dtype=bool)
    cross, s = to_numpy(law.cross), np.sqrt(to_numpy(law.variances))
    return np.any(np.abs(cross) > TIE * precision * s[:, None] * s[None, :], axis=2)
