"""Which of many independent Gaussians is the largest?

    P(i wins)             = int_{x > floor} pdf_i(x) prod_{j != i} cdf_j(x) dx
    P(none exceeds floor) = prod_j cdf_j(floor)

One integral over one variable for all i at once, in logarithms. The mesh is the whole difficulty:
deviations may differ by factors of 10^12. But below the highest of all `m_j - 9 s_j` the product
vanishes, so every Gaussian that is still undecided at a distance t above that point has a deviation
of at least t / 18: panels may grow in proportion to t, and their number grows only with the
logarithm of the ratio of deviations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from headwright.types import Float, HostPerLaw

_CUT = 9.0  # standard deviations: ndtr(-9) = 1e-19
_NODES, _RULE = np.polynomial.legendre.leggauss(20)
_GROWTHS = (1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64)  # tried in turn until two agree
_GOAL = 1e-13
_NEGLIGIBLE = -44.0  # e^-44 = 8e-20
_BISECTIONS = 20
_CELLS = 2**22  # keys x nodes evaluated at a time
_LOG_ROOT_TWO_PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True)
class Race:
    """`chances` of each Gaussian, the chance `none` that no one exceeds the floor, and a bound on
    the error."""

    chances: HostPerLaw
    none: float
    error: float


def race(m: HostPerLaw, s: HostPerLaw, *, floor: float = -np.inf) -> Race:
    """Chances of `N(m_i, s_i^2)`, s > 0, to be the largest and above `floor`."""
    m = m.astype(float)
    s = s.astype(float)
    high = float(np.max(m + _CUT * s, initial=floor))
    low = float(np.max(m - _CUT * s, initial=floor))
    low = _raised(m, s, low, high)
    live = m + _CUT * s > low
    none = 0.0
    if np.isfinite(floor):
        below = log_ndtr(_standard(floor, m, s))
        none = float(np.exp(below.sum()))
    chances = np.zeros(m.shape)
    if not live.any():
        return Race(chances, none, float(ndtr(-_CUT)))

    # Distances from `low`, not positions: next to it a deviation of 1e-12 is resolved to all
    # digits.
    above = m[live] - low
    deviations = s[live]
    before = None
    error = 1.0
    for growth in _GROWTHS:
        mesh = _mesh(high - low, deviations.min() / 2, growth)
        found = _integrate(above, deviations, mesh)
        error = abs(found.sum() + none - 1.0)
        if before is not None:
            error = max(error, float(np.abs(found - before).max()))
        if before is not None and error < _GOAL:
            break
        before = found
    chances[live] = found
    return Race(chances, none, float(error))


def _standard(x: Any, m: HostPerLaw, s: HostPerLaw) -> np.ndarray:
    """`(x - m) / s`, cut where a Gaussian has long been decided and squares would overflow."""
    with np.errstate(over="ignore"):
        return np.clip((x - m) / s, -1e9, 1e9)


def _raised(m: HostPerLaw, s: HostPerLaw, low: float, high: float) -> float:
    """The highest start below which the product of all cdfs is negligible: many keys leave few
    alive."""
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if log_ndtr(_standard(middle, m, s)).sum() > _NEGLIGIBLE:
            high = middle
        else:
            low = middle
    return low


def _mesh(high: float, first: float, growth: float) -> Float[np.ndarray, "edges"]:
    """Panels that grow in proportion to their distance."""
    edges = [0.0]
    while edges[-1] < high:
        width = max(first * growth * 8, growth * edges[-1])
        edges.append(min(edges[-1] + width, high))
    return np.array(edges)


def _integrate(m: HostPerLaw, s: HostPerLaw, edges: Float[np.ndarray, "edges"]) -> HostPerLaw:
    """Chances by Gauss and Legendre's rule on the panels."""
    half = np.diff(edges)[:, None] / 2
    in_panel = half * (1 + _NODES)
    x = (edges[:-1, None] + in_panel).ravel()
    rule = (half * _RULE).ravel()
    total = np.zeros(m.shape)
    rows = max(1, _CELLS // len(m))
    for start in range(0, len(x), rows):
        t = _standard(x[start : start + rows, None], m, s)
        below = log_ndtr(t)
        # pdf_i prod_{j != i} cdf_j = (pdf_i / cdf_i) prod_j cdf_j, where every factor is an
        # exponential.
        others = below.sum(axis=1, keepdims=True) - below
        density = np.exp(others - 0.5 * t * t - _LOG_ROOT_TWO_PI) / s
        total += rule[start : start + rows] @ density
    return total
