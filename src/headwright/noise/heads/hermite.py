"""One logit in Hermite polynomials. With f(y) = exp(-e^y), y = x + s g and h_k the normalised
Hermite polynomials,

    P_k(x) = E[h_k(g) f(y)] / phi(x) = s^k phi^(k)(x) / (sqrt(k!) phi(x)),

and two logits of correlation rho depend on each other by (Mehler's formula)

    Phi(x, x') / (phi phi') = 1 + sum_{k >= 1} rho^k P_k(x) P'_k(x').

Parseval's identity tells what is left out when the sum ends at K, without computing it:

    sum_{k > K} P_k^2 = Var f / phi^2 - sum_{k <= K} P_k^2,

and likewise for the derivatives, which are the coefficients of (f' - (phi'/phi) f) / phi. All
expectations are trapezoid sums over g, with one rule for all logits at hand: its coefficients are a
product of matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from headwright.noise.head.nodes import Nodes
from headwright.types import Float, HostPerKey, HostPerNode, Int

# Steps of g, in deviations, and of y = x + s g at most, shorter ones where tables matter more.
_PER_DEVIATION = 0.6
STEPS = (0.6, 0.45, 0.4, 0.36, 0.3)
_REACH = 8.0  # how far g goes; e^y tilts the density to the right
_TILTED = 3.0
# Orders that the rule for g sees: the spectrum of the density times h_k, x^k e^{-x^2/2} / sqrt(k!),
# is then below 1e-12 at x = 2 pi / step.
_MOST = 96
_SEEN = 7.0  # times 1 / step^2
_TOGETHER = 10  # orders that are one product of matrices
_FIXED = 1e-8  # a smaller deviation is none
_LARGEST_EXPONENT = 300.0  # of e^y, see `transform`
_ROUNDING = 1e-15
_ON_THE_RIGHT = 8.0  # the relative error of tables, over that of the mean of e^y f
_SMALLEST_PHI = 1e-100  # its square is still a number

OnNodes = Float[np.ndarray, "n u"]
OnPoints = Float[np.ndarray, "n u g"]
Which = Int[np.ndarray, "_k"] | slice


@dataclass(frozen=True)
class Points:
    """What stands at the points u + m + s g of some logits: q = 1 - f and q' = e^y f, times the
    roots of the weights of the points; and phi, the mean of f."""

    g: Float[np.ndarray, "g"]
    root: Float[np.ndarray, "g"]
    phi: OnNodes
    q: OnPoints
    slope: OnPoints

    @staticmethod
    def of(u: HostPerNode, m: HostPerKey, s: HostPerKey, *, longest: float) -> Points:
        """For points u + m and a rule whose points lie no further apart than `longest`."""
        g, weight = _rule(float(s.max()), longest)
        # Rounding of u + m is the same for every g.
        e = np.exp(np.minimum(u + m[:, None], _LARGEST_EXPONENT))
        minus_e = e[:, :, None] * -np.exp(s[:, None] * g)[:, None, :]
        root = np.sqrt(weight)
        q = np.expm1(minus_e)
        q *= -root
        f = np.exp(minus_e)
        f *= root
        phi = _summed(f, root[:, None])[:, :, 0]
        minus_e *= f
        return Points(g, root, phi, q, slope=np.negative(minus_e, out=minus_e))

    def mean_q(self, functions: Float[np.ndarray, "g _k"]) -> Float[np.ndarray, "n u _k"]:
        """E[q h] for some functions h of g."""
        return _summed(self.q, self.root[:, None] * functions)

    @property
    def most(self) -> int:
        """Orders that the rule for g sees."""
        step = float(self.g[1] - self.g[0])
        return min(_MOST, int(_SEEN / step**2))

    @property
    def mean_slope(self) -> OnNodes:
        """E[q']"""
        return _summed(self.slope, self.root[:, None])[:, :, 0]


def _summed(table: OnPoints, weights: Float[np.ndarray, "g _k"]) -> Float[np.ndarray, "n u _k"]:
    """Over g, under several weights, as one product of matrices."""
    n, u, points = table.shape
    return (table.reshape(n * u, points) @ weights).reshape(n, u, -1)


def points_of_rule(widest: float, longest: float) -> int:
    """How many points `Points.of` takes for each logit and node."""
    return _rule(widest, longest)[0].size


def _rule(widest: float, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """Points g and their weights, for deviations up to `widest`."""
    if widest <= _FIXED:
        return np.zeros(1), np.ones(1)
    step = min(_PER_DEVIATION, longest / widest)
    left = np.ceil(_REACH / step)
    right = np.ceil((_REACH + min(widest, _TILTED)) / step)
    g = step * np.arange(-left, right + 1)
    weight = np.exp(-0.5 * g * g)
    return g, weight / weight.sum()


def table_error(step: float, widest: float) -> float:
    """The relative error of all tables from points so far apart, for deviations up to `widest`
    (tests compare `transform`).

    Aliasing is the spectrum of exp(-e^y), which falls like e^{-pi |xi| / 2}, beyond 2 pi / step,
    but blurred by that of the density, e^{(pi/2)^2 / (2 s^2)} times. (Below s = step / 0.6 points
    move closer, which counts for more.) On the right, where phi is small, it is relatively larger.
    """
    s = max(widest, step / _PER_DEVIATION)
    blurred = float(np.exp(np.pi**2 / (8 * s * s)))
    return _ON_THE_RIGHT * blurred * Nodes(np.zeros(1), np.zeros(1), step, True).alias(1) + 1e-10


def longest_step(widest: float, error: float) -> float:
    """The longest one with tables as good as that, or the shortest."""
    return next((step for step in STEPS if table_error(step, widest) <= error), STEPS[-1])


@dataclass(frozen=True)
class Logit:
    """psi = ln phi and r = -psi'; `size` squared is the sum of all P_k^2, `slope` squared that of
    all derivatives squared."""

    psi: OnNodes
    phi: OnNodes
    r: OnNodes
    size: OnNodes
    slope: OnNodes

    @staticmethod
    def of(points: Points) -> Logit:
        q = points.mean_q(np.ones((points.g.size, 1)))[:, :, 0]
        d = points.mean_slope
        qq, qd, dd = (
            np.einsum("nug,nug->nu", x, y)
            for x, y in (
                (points.q, points.q),
                (points.q, points.slope),
                (points.slope, points.slope),
            )
        )
        phi = np.maximum(points.phi, _SMALLEST_PHI)
        r = d / phi
        # Var f, and E[(r f + f')^2] with f = 1 - q; rounding must not make them smaller.
        variance = (1.0 + _ROUNDING) * qq - q * q
        sloped = r * r * (1.0 - 2.0 * q + qq) - 2.0 * r * (d - qd) + dd
        sloped += _ROUNDING * (r * r + dd)
        return Logit(
            psi=np.where(q < 0.5, np.log1p(-np.minimum(q, 0.5)), np.log(phi)),
            phi=phi,
            r=r,
            size=np.sqrt(np.maximum(variance, 0.0)) / phi,
            slope=np.sqrt(np.maximum(sloped, 0.0)) / phi,
        )

    def terms(self, points: Points, s: HostPerKey) -> Iterator[tuple[OnNodes, OnNodes]]:
        """P_k and its derivative, k = 1, 2, ...: s P_k' = sqrt(k + 1) P_{k+1} - P_1 P_k."""
        deviation = 1.0 / s[:, None]
        coefficients = self._coefficients(points)
        first = next(coefficients)
        P = first
        for k in count(1):
            following = next(coefficients)
            slope = np.sqrt(k + 1) * following
            slope -= first * P
            slope *= deviation
            yield P, slope
            P = following

    def _coefficients(self, points: Points) -> Iterator[OnNodes]:
        """P_1, P_2, ..."""
        inverse = -1.0 / self.phi
        g = points.g
        before = np.zeros_like(g)
        now = np.ones_like(g)
        for k in count(0, _TOGETHER):
            functions = []
            for order in range(k, k + _TOGETHER):
                # sqrt(k + 1) h_{k+1} = g h_k - sqrt(k) h_{k-1}
                after = (g * now - np.sqrt(order) * before) / np.sqrt(order + 1)
                functions.append(after)
                before = now
                now = after
            means = points.mean_q(np.stack(functions, axis=1))
            for order in range(_TOGETHER):
                yield means[:, :, order] * inverse
