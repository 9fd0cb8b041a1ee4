"""How the expected squared error changes with the queries: what robust design descends along.

    f = E || sum_h mix_h c_h - t ||^2 = |t|^2 - 2 t . sum_h mix_h E[c_h] + sum_gh mix_g mix_h E[c_g
    . c_h]

f sees the queries only through the means `scale mu_i . q_h`, the variances `scale^2 q_h' Sigma_i
q_h` and the covariances `scale^2 q_g' Sigma_i q_h` of the logits; its derivatives with respect to
those are exact integrals (`head_gradient`, `pair_gradient`). Independent heads need no double
integral even here: for them d E[c_g . c_h] / d Cov(z_gi, z_hi) = (dE[c_g]/dm_gi) . (dE[c_h]/dm_hi).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from headwright.noise.gradient.head import HeadTable, LogitsGradient, head_gradient, head_table
from headwright.noise.gradient.pair import PairGradient, pair_gradient
from headwright.noise.heads.pair import PairLaw, correlated
from headwright.noise.problem import Problem, problems
from headwright.result import to_numpy
from headwright.types import Float

# Step of the double integrals: off by at most 1e-8, and half the nodes of the finer one.
_PAIR_STEP = 0.45


def squared_error(
    queries: Any,
    keys: Any,
    values: Any,
    target: Any,
    *,
    mix: Any = None,
    scale: float = 1.0,
    bias: Any = None,
) -> tuple[float, Float[np.ndarray, "h d"], Float[np.ndarray, "h"]]:
    """`E ||sum_h mix_h c_h - target||^2` and its gradients with respect to queries `(h, d)` and mix
    `(h,)`.

    On the host and in double precision; two heads correlated through many keys cost a double
    integral.
    """
    extras = {"bias": bias, "mask": None, "value_noise": None}
    (problem,) = problems(queries, keys, values, mix=mix, scale=scale, extras=extras)
    mix_, V = to_numpy(problem.mix).astype(float), to_numpy(problem.values).astype(float)
    # Values counted from their average: sum_h mix_h c_h - t does not change when t moves with them.
    centre = V.mean(axis=0)
    V, t = V - centre, np.asarray(target, dtype=float) - mix_.sum() * centre
    law = problem.law
    m, s = to_numpy(law.means).astype(float), np.sqrt(to_numpy(law.variances).astype(float))
    heads = [head_table(m[h], s[h]) for h in range(problem.heads)]
    means = np.stack([head.weights @ V for head in heads])
    pairs = _pairs(problem, heads, (m, s), V)
    # Second moments E[c_g . c_h]: the product of the means where the heads are independent.
    second = means @ means.T
    for (g, h), pair in pairs.items():
        second[g, h] = second[h, g] = pair.value
    by_logit = []
    for h, head in enumerate(heads):
        others = [g for g in range(len(heads)) if g != h and (min(g, h), max(g, h)) not in pairs]
        linear = 2 * mix_[h] * (mix_[others] @ means[others] - t)
        second[h, h], gradient = head_gradient(head, V, linear, mix_[h] ** 2)
        by_logit.append(gradient)
    value = float(t @ t - 2 * t @ (mix_ @ means) + mix_ @ second @ mix_)
    # t moved by -(sum mix) centre, hence the last term.
    by_mix = 2 * (second @ mix_ - means @ t) + 2 * centre @ (mix_ @ means - t)
    return value, _by_query(problem, heads, by_logit, pairs, V), by_mix


def _pairs(
    problem: Problem, heads: list[HeadTable], law: tuple, V: np.ndarray
) -> dict[tuple[int, int], PairGradient]:
    """The pairs of heads that are not independent."""
    found = {}
    for g, h in combinations(range(len(heads)), 2):
        cross = to_numpy(problem.law.cross[g, h, ...]).astype(float)
        m, s = (np.stack([x[g], x[h]]) for x in law)
        keys, _ = correlated(PairLaw(m, s, cross), np.stack([heads[g].weights, heads[h].weights]))
        if keys.size:
            first, second = (head_table(m[i], s[i], step=_PAIR_STEP) for i in (0, 1))
            found[g, h] = pair_gradient(first, second, cross, V)
    return found


def _by_query(
    problem: Problem, heads, by_logit: list[LogitsGradient], pairs: dict, V
) -> Float[np.ndarray, "h d"]:
    """The chain rule through means, variances and covariances of the logits."""
    mix, Q = to_numpy(problem.mix).astype(float), to_numpy(problem.queries).astype(float)
    slopes = [head.slopes(V) for head in heads] if len(heads) > 1 else []
    by_cross = {}
    for g, h in combinations(range(len(heads)), 2):
        both = 2 * mix[g] * mix[h]
        if (g, h) in pairs:
            pair = pairs[g, h]
            for at, part in ((g, pair.first), (h, pair.second)):
                by_logit[at] = by_logit[at] + LogitsGradient(
                    both * part.means, both * part.variances
                )
            by_cross[g, h] = both * pair.covariances
        else:
            by_cross[g, h] = both * (slopes[g] * slopes[h]).sum(axis=1)
    mu = to_numpy(problem.keys.means).astype(float)
    grad = np.stack([problem.scale * gradient.means @ mu for gradient in by_logit])
    for h, gradient in enumerate(by_logit):
        grad[h] += 2 * problem.scale * problem.scale * _pull(problem, gradient.variances, Q[h])
    for (g, h), weights in by_cross.items():
        grad[g] += problem.scale * problem.scale * _pull(problem, weights, Q[h])
        grad[h] += problem.scale * problem.scale * _pull(problem, weights, Q[g])
    return grad


def _pull(problem: Problem, weights: np.ndarray, q: np.ndarray) -> np.ndarray:
    """`sum_i weights_i Sigma_i q` by polarisation: 4 q' Sigma e = (q + e)' Sigma (q + e) - (q - e)'
    Sigma (q - e)."""
    size = np.linalg.norm(q) or 1.0
    step = size * np.eye(q.size)
    law = problem.keys.logits_law(np.concatenate([q + step, q - step]))
    plus, minus = np.split(to_numpy(law.variances) @ weights, 2)
    return (plus - minus) / (4 * size)
