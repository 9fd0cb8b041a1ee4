"""One logit in Hermite polynomials. With f(y) = exp(-e^y), y = x + s g and h_k the normalised
Hermite polynomials,

    P_k(x) = E[h_k(g) f(y)] / phi(x) = s^k phi^(k)(x) / (sqrt(k!) phi(x)),

and two logits of correlation rho depend on each other by (Mehler's formula)

    Phi(x, x') / (phi phi') = 1 + sum_{k >= 1} rho^k P_k(x) P'_k(x').

Parseval's identity tells what is left out when the sum ends at K, without computing it:

    sum_{k > K} P_k^2 = Var f / phi^2 - sum_{k <= K} P_k^2,

and likewise for the derivatives, which are the coefficients of (f' - (phi'/phi) f) / phi. All
expectations are weighted sums over one lattice, as in `head.lattice`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from numpy.polynomial.hermite_e import hermegauss

from headwright.noise.head.nodes import Nodes
from headwright.types import Float, HostPerKey, HostPerNode, Int

# Step of the lattice, in deviations, and at most: aliasing is below 1e-15 from the density times
# h_k, k up to 32, and as in the rule for u from exp(-e^y). The shorter one where tables matter.
_PER_DEVIATION = 0.6
LONGEST = 0.45
LONG = 0.3
_REACH = 7.0  # how far it goes, in deviations; to the right e^y tilts the density
_TILTED = 3.0
_LARGEST_EXPONENT = 300.0  # of e^y, see `transform`
_ROUNDING = 1e-15
_SMALLEST_PHI = 1e-100  # its square is still a number
NARROW = 2.0**-6  # the largest deviation of a narrow logit
_POINTS = 5  # for it: off by the tenth power of the deviation

OnNodes = Float[np.ndarray, "n u"]
Which = Int[np.ndarray, "_k"] | slice


@dataclass(frozen=True)
class Lattice:
    """The weights of some logits of about one deviation on the neighbours of their points, and what
    stands on the lattice around each point."""

    g: Float[np.ndarray, "w n"]
    weight: Float[np.ndarray, "w n"]
    functions: Float[np.ndarray, "f x w"]
    steps: np.ndarray
    nodes: int
    most: int = 32  # orders that the rule for g sees

    @staticmethod
    def of(u: HostPerNode, step: float, m: HostPerKey, s: HostPerKey, *, longest: float) -> Lattice:
        """For points u + m, u at equal distances, no two points further apart than `longest`."""
        finest = min(_PER_DEVIATION * s.min(), longest)
        finer = int(np.ceil(step / finest))
        h = step / finer
        widest = s.max()
        left = int(np.ceil(_REACH * widest / h))
        reach = _REACH + min(widest, _TILTED)
        right = int(np.ceil(reach * widest / h)) + finer

        # Each logit has a window of the lattice, from its mean's own place in a step.
        lowest = m.min()
        steps = np.floor((m - lowest) / step).astype(int)
        offset = m - lowest - step * steps
        apart = h * np.arange(-left, right + 1)
        g = (apart[:, None] - offset) / s
        weight = np.exp(-0.5 * g * g)
        weight /= weight.sum(axis=0)

        last = finer * (u.size - 1 + int(steps.max())) + right
        y = u[0] + lowest + h * np.arange(-left, last + 1)
        e = np.exp(np.minimum(y, _LARGEST_EXPONENT))
        functions = sliding_window_view(_functions(e), apart.size, axis=1)[:, ::finer]
        return Lattice(g, weight, np.ascontiguousarray(functions), steps, u.size)

    def restricted(self, which: Which, nodes: int) -> Lattice:
        """For some of the logits, on the first nodes."""
        g = self.g[:, which]
        weight = self.weight[:, which]
        return Lattice(g, weight, self.functions, self.steps[which], nodes)

    def mean(self, function: int, weight: Float[np.ndarray, "w n"]) -> OnNodes:
        """The weighted sums of one function at the points of each logit."""
        everywhere = weight.T @ self.functions[function].T
        row, item = everywhere.strides
        count, length = everywhere.shape
        shape = (count, length - self.nodes + 1, self.nodes)
        windows = as_strided(everywhere, shape, (row, item, item), writeable=False)
        return windows[np.arange(count), self.steps]


@dataclass(frozen=True)
class Points:
    """The same for narrow logits, for which a lattice would be too fine: by Gauss and Hermite."""

    g: Float[np.ndarray, "w 1"]
    weight: Float[np.ndarray, "w n"]
    functions: Float[np.ndarray, "f w n u"]
    most: int = _POINTS - 1

    @staticmethod
    def of(u: HostPerNode, m: HostPerKey, s: HostPerKey) -> Points:
        """For points u + m."""
        g, weight = hermegauss(_POINTS)
        share = np.repeat(weight[:, None] / weight.sum(), m.size, axis=1)
        # Rounding of u + m is the same for every g.
        e = np.exp(np.minimum(u + m[:, None], _LARGEST_EXPONENT))
        return Points(g[:, None], share, _functions(e * np.exp(s * g[:, None])[:, :, None]))

    def restricted(self, which: Which, nodes: int) -> Points:
        """For some of the logits, on the first nodes."""
        return Points(self.g, self.weight[:, which], self.functions[:, :, which, :nodes])

    def mean(self, function: int, weight: Float[np.ndarray, "w n"]) -> OnNodes:
        """The weighted sums of one function at the points of each logit."""
        return np.einsum("wn,wnu->nu", weight, self.functions[function])

    @property
    def nodes(self) -> int:
        return self.functions.shape[-1]


def table_error(step: float) -> float:
    """The relative error of all tables from a lattice with this step (tests compare
    `transform`)."""
    return 2 * Nodes(np.zeros(1), np.zeros(1), step, True).alias(1) + 1e-10


def around(
    u: HostPerNode, step: float, m: HostPerKey, s: HostPerKey, *, longest: float = LONGEST
) -> Lattice | Points:
    """The points around u + m, u at equal distances, of logits of about one deviation."""
    if s.max() <= NARROW:
        return Points.of(u, m, s)
    return Lattice.of(u, step, m, s, longest=longest)


def _functions(e: Float[np.ndarray, "*y"]) -> Float[np.ndarray, "f *y"]:
    """Of e^y: q = 1 - f and q' = e^y f, their squares and their product, and f."""
    f = np.exp(-e)
    q = -np.expm1(-e)
    slope = e * f
    return np.stack([q, slope, q * q, q * slope, slope * slope, f])


@dataclass(frozen=True)
class Logit:
    """psi = ln phi and r = -psi'; `size` squared is the sum of all P_k^2, `slope` squared that of
    all derivatives squared."""

    psi: OnNodes
    phi: OnNodes
    r: OnNodes
    size: OnNodes
    slope: OnNodes

    def restricted(self, which: Which, nodes: int) -> Logit:
        """Some of the logits, on the first nodes."""
        tables = (self.psi, self.phi, self.r, self.size, self.slope)
        return Logit(*(table[which, :nodes] for table in tables))

    @staticmethod
    def of(lattice: Lattice | Points) -> Logit:
        q, d, qq, qd, dd, phi = (lattice.mean(j, lattice.weight) for j in range(6))
        phi = np.maximum(phi, _SMALLEST_PHI)
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

    def terms(self, lattice: Lattice | Points, s: HostPerKey) -> Iterator[tuple[OnNodes, OnNodes]]:
        """P_k and its derivative, k = 1, 2, ...: s P_k' = sqrt(k + 1) P_{k+1} - P_1 P_k."""
        g = lattice.g
        inverse = -1.0 / self.phi
        deviation = 1.0 / s[:, None]
        before = lattice.weight
        now = g * before
        first = lattice.mean(0, now) * inverse
        P = first
        for k in count(1):
            # sqrt(k + 1) h_{k+1} = g h_k - sqrt(k) h_{k-1}
            root = np.sqrt(k + 1)
            after = g * now
            after -= np.sqrt(k) * before
            after /= root
            before, now = now, after
            following = lattice.mean(0, now) * inverse
            slope = root * following
            slope -= first * P
            slope *= deviation
            yield P, slope
            P = following
