"""How the expected squared error changes with the queries: what robust design descends along.

    f = E || sum_h mix_h c_h - t ||^2
      = |t|^2 - 2 t . sum_h mix_h E[c_h] + sum_gh mix_g mix_h E[c_g . c_h]

f sees the queries only through the means `scale mu_i . q_h`, the variances `scale^2 q_h' Sigma_i
q_h` and the covariances `scale^2 q_g' Sigma_i q_h` of the logits; its derivatives with respect to
those are exact integrals (`head_gradient`, `pair_gradient`). Independent heads need no double
integral even here: for them d E[c_g . c_h] / d Cov(z_gi, z_hi) = (dE[c_g]/dm_gi) . (dE[c_h]/dm_hi).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from headwright.attention import Scores
from headwright.errors import InputError
from headwright.keys import GaussianKeys
from headwright.noise.gradient.head import HeadTable, LogitsGradient, head_gradient, head_table
from headwright.noise.gradient.pair import PairGradient, pair_gradient
from headwright.noise.head.tabulated import PAIR_BEND
from headwright.noise.heads.pair import PairLaw, correlated
from headwright.noise.problem import Problem, Request
from headwright.result import to_numpy
from headwright.types import Float, HostPerHead, HostPerKey, HostValues

# Step of the double integrals: off by at most 1e-8, and half the nodes of the finer one.
_PAIR_STEP = 0.45

Pair = tuple[int, int]
ByQuery = Float[np.ndarray, "h d"]


@dataclass(frozen=True)
class _Moments:
    """All heads of a problem on the host, values counted from their average: the `heads` one by
    one, and the `pairs` of heads that are not independent."""

    values: HostValues
    mix: HostPerHead
    heads: list[HeadTable]
    pairs: dict[Pair, PairGradient]
    means: Float[np.ndarray, "h v"]

    def second(self) -> Float[np.ndarray, "h h"]:
        """E[c_g . c_h] of different heads: the product of the means where they are independent."""
        second = self.means @ self.means.T
        for (g, h), pair in self.pairs.items():
            second[g, h] = pair.value
            second[h, g] = pair.value
        return second

    def independent_of(self, h: int) -> list[int]:
        """The heads whose outputs do not depend on that of head h."""
        others = (g for g in range(len(self.heads)) if g != h)
        pairs = {g: (min(g, h), max(g, h)) for g in others}
        return [g for g, pair in pairs.items() if pair not in self.pairs]


def squared_error(
    queries: Any,
    keys: Any,
    values: Any,
    target: Any,
    *,
    mix: Any = None,
    scale: float = 1.0,
    bias: Any = None,
) -> tuple[float, ByQuery, HostPerHead]:
    """`E ||sum_h mix_h c_h - target||^2` and its gradients with respect to queries `(h, d)` and mix
    `(h,)`.

    On the host and in double precision; two heads correlated through many keys cost a double
    integral.
    """
    problem = Request(queries, keys, values, mix, Scores(scale, bias)).problem()
    V = to_numpy(problem.values).astype(float)
    # Values counted from their average: sum_h mix_h c_h - t does not change when t moves with them.
    centre = V.mean(axis=0)
    one = _moments(problem, V - centre)
    t = np.asarray(target, dtype=float) - one.mix.sum() * centre

    second = one.second()
    by_logit = []
    for h, head in enumerate(one.heads):
        others = one.independent_of(h)
        of_others = one.mix[others] @ one.means[others]
        linear = 2 * one.mix[h] * (of_others - t)
        square, gradient = head_gradient(head, one.values, linear, one.mix[h] ** 2)
        second[h, h] = square
        by_logit.append(gradient)
    mean = one.mix @ one.means
    squares = one.mix @ second @ one.mix
    value = float(t @ t - 2 * t @ mean + squares)
    # t moved by -(sum mix) centre, hence the last term.
    by_mix = 2 * (second @ one.mix - one.means @ t)
    by_mix = by_mix + 2 * centre @ (mean - t)
    return value, _by_query(problem, one, by_logit), by_mix


def _moments(problem: Problem, V: HostValues) -> _Moments:
    """All heads, and pairs of heads that some key correlates."""
    m = to_numpy(problem.law.means).astype(float)
    s = np.sqrt(to_numpy(problem.law.variances).astype(float))
    heads = [head_table(m[h], s[h]) for h in range(problem.heads)]
    pairs = {}
    for g, h in combinations(range(problem.heads), 2):
        cross = to_numpy(problem.law.cross[g, h, ...]).astype(float)
        both = [g, h]
        weights = np.stack([heads[g].weights, heads[h].weights])
        law = PairLaw(m[both], s[both], cross)
        keys, _ = correlated(law, weights)
        if keys.size:
            first, second = (head_table(m[i], s[i], step=_PAIR_STEP, bend=PAIR_BEND) for i in both)
            pairs[g, h] = pair_gradient(first, second, cross, V)
    means = np.stack([head.weights @ V for head in heads])
    return _Moments(V, to_numpy(problem.mix).astype(float), heads, pairs, means)


def _by_query(problem: Problem, one: _Moments, by_logit: list[LogitsGradient]) -> ByQuery:
    """The chain rule through means, variances and covariances of the logits."""
    scale = problem.scores.scale
    Q = to_numpy(problem.queries).astype(float)
    mu = to_numpy(problem.keys.means).astype(float)
    by_logit, by_cross = _with_pairs(one, by_logit)
    grad = np.stack([scale * gradient.means @ mu for gradient in by_logit])
    for h, gradient in enumerate(by_logit):
        by_variance = _covariance_product(problem, gradient.variances, Q[h])
        grad[h] += 2 * scale * scale * by_variance
    for (g, h), weights in by_cross.items():
        through_h = _covariance_product(problem, weights, Q[h])
        through_g = _covariance_product(problem, weights, Q[g])
        grad[g] += scale * scale * through_h
        grad[h] += scale * scale * through_g
    return grad


def _with_pairs(
    one: _Moments, by_logit: list[LogitsGradient]
) -> tuple[list[LogitsGradient], dict[Pair, HostPerKey]]:
    """The gradients with what pairs of heads add to them, and those with respect to the covariances
    of the logits."""
    by_logit = list(by_logit)
    slopes = [head.slopes(one.values) for head in one.heads] if len(one.heads) > 1 else []
    by_cross = {}
    for g, h in combinations(range(len(one.heads)), 2):
        twice = 2 * one.mix[g] * one.mix[h]
        pair = one.pairs.get((g, h))
        if pair is None:
            both = slopes[g] * slopes[h]
            by_cross[g, h] = twice * both.sum(axis=1)
        else:
            by_logit[g] = by_logit[g].plus(twice, pair.first)
            by_logit[h] = by_logit[h].plus(twice, pair.second)
            by_cross[g, h] = twice * pair.covariances
    return by_logit, by_cross


def _covariance_product(problem: Problem, weights: HostPerKey, q: np.ndarray) -> np.ndarray:
    """`sum_i w_i Sigma_i q`; shared factors have no such sum over keys."""
    keys = problem.keys
    if not isinstance(keys, GaussianKeys):
        raise InputError(
            wanted="independent keys for a gradient",
            got=repr(keys),
            attempt="pass a GaussianKeys without shared factors",
        )
    return to_numpy(keys.covariance_product(weights, q))
