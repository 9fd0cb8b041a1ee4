"""Where to integrate over u = ln t, and how finely.

Trapezoid rule with step h. In one realisation the integrand of alpha_a is alpha_a times e^{v - e^v} with
v = u + ln S, whatever S is; its Fourier transform is a Gamma function, so the rule is off by a factor

    1 + eps,   |eps| <= 2 sum_j |Gamma(1 + 2 pi i j / h)|            (second moments: Gamma(2 + 2 pi i j / h))

for every law of the logits: a bound known before anything is computed. A long range (large noise) is graded: a
key still alive at distance D left of the right end has a deviation of at least about D / 17, so steps may grow
with D and the number of nodes grows like ln(range). The Gamma bound does not cover that grading, therefore the
caller compares with every second node. (Rejected: a uniform lattice, 50,000 nodes at deviation 1,000.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import loggamma, logsumexp, ndtri

from headwright.noise.transform import transform
from headwright.types import Float

STEP = 1 / 3
_NEGLIGIBLE = 1e-14  # mass beyond either end
_LEVEL = -float(np.log(_NEGLIGIBLE)) + 4.0  # e^{-_LEVEL}: the product of all phi is gone, its derivatives too
_UNIFORM = 120.0  # ranges up to this length are not graded
_BEND = 50.0  # distance from the right end at which a graded step has grown by the factor sqrt 2


@dataclass(frozen=True)
class Nodes:
    """Nodes `u`, their `weight`, and whether the Gamma bound holds (`uniform`)."""

    u: Float[np.ndarray, "u"]
    weight: Float[np.ndarray, "u"]
    step: float
    uniform: bool

    def alias(self, order: int) -> float:
        """Largest relative error of the rule for alpha (order 1) or alpha^2 (order 2), uniform nodes."""
        j = np.arange(1, 4)
        return float(2 * np.exp(loggamma(order + 2j * np.pi * j / self.step).real).sum())


def nodes(
    m: Float[np.ndarray, "n"], s: Float[np.ndarray, "n"], count: Float[np.ndarray, "n"], *, step: float = STEP
) -> Nodes:
    """Nodes for independent logits N(m_i, s_i^2), the i-th occurring `count_i` times."""
    low, high = _trim(*_bounds(m, s, count), m, s, count)
    return _lay(low, high, step)


def _bounds(m, s, count) -> tuple[float, float]:
    """Ends that are certainly wide enough: beyond them at most `_NEGLIGIBLE` of the mass."""
    # phi_i <= exp(-e^{x - zs}) + P(g < -z): one key alone already makes the product vanish at `high`.
    z = -ndtri(_NEGLIGIBLE / 10)
    high = float(np.min(np.log(_LEVEL) + z * s - m))
    # 1 - phi_i <= e^{x + s^2/2}; for wide keys better 1 - phi_i <= e^{-c} + P(s g > -x - c).
    share = _NEGLIGIBLE / (2 * count.sum())
    z, c = -ndtri(share), -np.log(share)
    narrow = s < 2 * z
    low = np.inf
    if narrow.any():
        low = np.log(_NEGLIGIBLE) - logsumexp((m + s * s / 2)[narrow], b=count[narrow])
    if not narrow.all():
        low = min(low, float(np.min((-c - z * s - m)[~narrow])))
    return float(low), max(high, float(low) + 1.0)


def _trim(low: float, high: float, m, s, count) -> tuple[float, float]:
    """The same ends, moved inwards to what a coarse look at Psi allows."""
    u = np.linspace(low, high, 24)
    total = transform(u[:, None] + m, s, top=0).psi @ count
    left = np.flatnonzero(total > -_NEGLIGIBLE)
    right = np.flatnonzero(total < -_LEVEL)
    return float(u[left[-1]]) if left.size else low, float(u[right[0]]) if right.size else high


def _lay(low: float, high: float, step: float) -> Nodes:
    if high - low <= _UNIFORM:
        u = np.arange(high, low - step, -step)[::-1]
        return Nodes(u, np.full(u.size, step), step, True)
    # u = high - b sinh(t / b), the trapezoid rule in t; one unit step beyond t = 0 closes the right end.
    t = np.arange(-1.0, _BEND * np.arcsinh((high - low) / _BEND) + step, step)[::-1]
    u = high - _BEND * np.sinh(t / _BEND)
    return Nodes(u, step * np.cosh(t / _BEND), step, False)
