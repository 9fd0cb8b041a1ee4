"""Random keys: the length of the cheapest query, predicted from N, q and d with nothing fitted.

Off the differences inside S the wanted keys are one point at height h, h^2 = (d-q+1) / (d q), and
every other key is a Gaussian vector with variance 1/d per direction. A query of length r at an
angle with cosine c to that point gives the set the logit r c h. For the others, Gordon's comparison
(in its tight form for convex problems, arXiv:1408.4837) replaces the best choice of the d - q
remaining directions by one vector e of corrections:

    least leak at (r, c):   min_e  ln sum_i exp(r g_i / sqrt(d) - e_i) - r c h,
                            |e|^2 <= r^2 (1 - c^2) (d - q) / d,        g_i standard normal,

and the price is the least r at which some c brings this to ln(q eps / (1 - eps)). As r grows it
asks only whether sum (g_i - kappa)_+^2 fits into the budget: sets can be selected if d > d*,

    d* = min_kappa  q (1 + kappa^2) + (N - q) E (g - kappa)_+^2,

the threshold at which random polytopes lose their faces (arXiv:math/0607364, arXiv:1303.6672).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr, ndtri, wrightomega

from headwright.types import Array, Float

Nodes = Float[Array, "k"]

# The largest logits count one by one, the many small ones in bins.
_LARGEST = 256
_BINS = 256
_COSINES = np.linspace(0.02, 0.9999, 30)
_LONGEST = 1e6


@lru_cache(maxsize=4096)
def threshold(N: int, q: int) -> float:
    """d*: where half of all sets can be selected."""

    def needed(kappa: float) -> float:
        density = math.exp(-(kappa**2) / 2) / math.sqrt(2 * math.pi)
        # E (g - kappa)_+^2
        excess = (1 + kappa**2) * float(ndtr(-kappa)) - kappa * density
        return q * (1 + kappa**2) + (N - q) * excess

    least: Any = minimize_scalar(needed, bounds=(0.0, 10.0), method="bounded")
    return float(least.fun)


@lru_cache(maxsize=4096)
def predicted_norm(N: int, q: int, d: int, leak: float = 0.1) -> float:
    """The length of the cheapest query on random keys; infinite where none is expected."""
    if d <= threshold(N, q):
        return math.inf
    nodes, counts = _normal_sample(N - q)
    wanted = math.log(q) + math.log(leak) - math.log1p(-leak)

    def excess(log_length: float) -> float:
        least = _least_leak(math.exp(log_length), (q, d), nodes, counts)
        return least - wanted

    longest = math.log(_LONGEST)
    if excess(longest) > 0:
        return math.inf
    log_length: Any = brentq(excess, math.log(0.01), longest, xtol=1e-6)
    return math.exp(log_length)


def _least_leak(r: float, shape: tuple[int, int], nodes: Nodes, counts: Nodes) -> float:
    """The least leak over all cosines; it has one minimum, met first on a grid."""
    q, d = shape
    height = math.sqrt((d - q + 1) / (d * q))
    logits = r / math.sqrt(d) * nodes

    def leak(cosine: float) -> float:
        sine = math.sqrt(1 - cosine**2)
        budget = r * sine * math.sqrt((d - q) / d)
        return _corrected(logits, counts, budget) - r * cosine * height

    tried = [leak(cosine) for cosine in _COSINES]
    best = int(np.argmin(tried))
    around = (_COSINES[max(best - 1, 0)], _COSINES[min(best + 1, len(tried) - 1)])
    refined: Any = minimize_scalar(leak, bounds=around, method="bounded")
    return min(float(refined.fun), tried[best])


def _corrected(logits: Nodes, counts: Nodes, budget: float) -> float:
    """min_e ln sum exp(logits - e) with |e| <= budget.

    Where it is least, e_i = c exp(logits_i - e_i), so e = omega(logits + ln c) with Wright's omega,
    and ln c is where the length of e meets the budget.
    """

    def too_long(log_c: float) -> float:
        e = wrightomega(logits + log_c)
        return math.sqrt(float(counts @ e**2)) - budget

    low = math.log(budget / counts.sum()) - float(logits.max()) - 1
    high = low + 10
    while too_long(high) < 0:
        high += 10 + budget
    log_c: Any = brentq(too_long, low, high, xtol=1e-9)
    e = wrightomega(logits + log_c)
    rest = logits - e
    top = float(rest.max())
    return top + math.log(float(counts @ np.exp(rest - top)))


def _normal_sample(n: int) -> tuple[Nodes, Nodes]:
    """n normal numbers at their quantiles, and how many each stands for."""
    alone = min(n, _LARGEST)
    largest = ndtri(1 - (np.arange(alone) + 0.5) / n)
    others = n - alone
    bins = min(others, _BINS)
    middles = (np.arange(bins) + 0.5) / max(bins, 1) * (others / n)
    nodes = np.concatenate([largest, ndtri(middles)])
    return nodes, np.concatenate([np.ones(alone), np.full(bins, others / max(bins, 1))])
