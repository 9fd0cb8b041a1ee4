"""One Gaussian logit under the Laplace transform. With y = x + s g, g ~ N(0, 1), everything the
exact moments need is a positive expectation, so nothing is lost to cancellation or to finite
differences:

    phi = E exp(-e^y)      gap = 1 - phi = E[-expm1(-e^y)]      a_k = E[e^{ky} exp(-e^y)]
    psi = ln phi           r = -psi' = a_1 / phi      w = psi'' + psi'^2 - psi' = a_2 / phi

Small s: the trapezoid rule in g, whose error is that of a Gaussian and of an analytic function,
both below 1e-16 at the steps chosen. Large s: the same expectations seen from L = ln Exp(1), phi =
E_L Phi((L - x)/s), on one fixed double-exponential rule, so the cost does not grow with s.
(Rejected: Gauss-Hermite, which needs hundreds of nodes already at s = 5.) NumPy on the host: these
tables are small, the array API has no erfc.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from headwright.types import Float, HostPerKey, HostTable

# Deviations up to a bound share one rule: the trapezoid rule in g up to 3, then a rule in L.
_CLASSES = (0.0, 0.5, 1.0, 2.0, 3.0, 6.0, 12.0)
# Steps of the rule in L up to 6, up to 12 and beyond: a wide normal law is smooth at every L, and
# where a step is felt first, ten deviations out, no weight is above 1e-20.
_WIDE_STEPS = (0.06, 0.1, 0.2)
_NARROW = len(_CLASSES) + 1 - len(_WIDE_STEPS)  # classes of the rule in g
_CHUNK = 1 << 16  # nodes x points per temporary: stays in cache
# e^{-750} and a normal density at 39 deviations are no numbers.
_UNDERFLOW = 750.0
_SIGMAS = 39.0
_NORMAL_LAW = 2.5  # what a normal law with its density costs beside an exponential
LARGEST_EXPONENT = 300.0  # of e^y: exp(-e^y) has long been zero, and e^{2y} is still a number
SMALLEST_PHI = 1e-300
# Relative error of every expectation below (tests confront it with 30 digits).
ACCURACY = 1e-13
_ROOT_TWO_PI = float(np.sqrt(2 * np.pi))

Ratio = Float[np.ndarray, "*u n"]
Ratios = Float[np.ndarray, "k u n"]
Points = Float[np.ndarray, "p"]
Column = Float[np.ndarray, "p 1"]
Rule = tuple[np.ndarray, np.ndarray]  # nodes and weights


@dataclass(frozen=True)
class Transform:
    """`psi` and the ratios `a_k / phi`, k = 1 .. top, at points x (rows) of logits (columns)."""

    psi: Ratio
    ratios: tuple[Ratio, ...]

    @property
    def r(self) -> Ratio:
        """a_1 / phi = -psi'"""
        return self.ratios[0]

    @property
    def w(self) -> Ratio:
        """a_2 / phi = psi'' + psi'^2 - psi'"""
        return self.ratios[1]


def transform(x: HostTable, s: HostPerKey, *, top: int = 2) -> Transform:
    """psi and ratios at `x[k, i]` for logits of deviation `s[i]`."""
    gap, a = expectations(x, s, top=top)
    return logarithmic(gap, a)


def logarithmic(gap: HostTable, a: Ratios) -> Transform:
    """ln phi and the ratios a_k / phi from the expectations."""
    phi = np.maximum(a[0], SMALLEST_PHI)
    # ln(1 - gap) where gap is small and well known, ln(phi) where phi is.
    from_gap = np.log1p(-np.minimum(gap, 0.5))
    psi = np.where(gap < 0.5, from_gap, np.log(phi))
    # Where phi underflows the product of all phi is zero as well: such a point carries no weight.
    inverse = np.where(a[0] > SMALLEST_PHI, 1.0 / phi, 0.0)
    return Transform(psi=psi, ratios=tuple(a[1:] * inverse))


def effort(s: HostPerKey) -> HostPerKey:
    """What one point costs at each deviation, in exponentials."""
    narrow = [float(normal_rule(c)[0].size) for c in range(_NARROW)]
    wide = [_NORMAL_LAW * gumbel_rule(step)[0].size for step in _WIDE_STEPS]
    return np.array(narrow + wide)[class_of(s)]


def seen(s: Float[np.ndarray, "*n"]) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
    """Beyond these x everything underflows: a logit of deviation s is never (always) above -x."""
    left = -(_UNDERFLOW + _SIGMAS * s)
    right = np.log(_UNDERFLOW) + _SIGMAS * s
    return left, right


def class_of(s: np.ndarray) -> np.ndarray:
    """Which rule serves each deviation."""
    return np.searchsorted(_CLASSES, s, side="left")


def expectations(x: np.ndarray, s: np.ndarray, *, top: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """`gap` and `a_0 .. a_top` at points x of logits whose deviations s go with their last axes."""
    left, right = seen(s)
    undecided = (x > left) & (x < right)
    # Everywhere else a logit is surely above -x, or surely below.
    gap = np.where(x < 0.0, 0.0, 1.0)
    a = np.zeros((top + 1, *x.shape))
    a[0] = 1.0 - gap

    which = class_of(s)
    for c in np.flatnonzero(np.bincount(which.ravel())).tolist():
        mine = undecided & (which == c)
        deviations = np.broadcast_to(s, x.shape)[mine]
        found = _in_chunks(x[mine], deviations, c, top)
        gap[mine] = found[0]
        a[:, mine] = found[1:]
    return gap, a


def _in_chunks(x: Points, s: Points, c: int, top: int) -> Float[np.ndarray, "k p"]:
    """Gap and a_0 .. a_top, one after the other, at points (x, s) of one class."""
    narrow = c < _NARROW
    rule = normal_rule(c) if narrow else gumbel_rule(_WIDE_STEPS[c - _NARROW])
    by_rule = _by_logit if narrow else _by_gumbel
    found = np.empty((top + 2, x.size))
    size = max(1, _CHUNK // len(rule[0]))
    for start in range(0, x.size, size):
        part = slice(start, start + size)
        by_rule(x[part, None], s[part, None], rule, found[:, part])
    return found


@lru_cache(maxsize=_NARROW)
def normal_rule(c: int) -> Rule:
    """Trapezoid nodes and weights for g ~ N(0, 1), fine enough for every s of class c."""
    widest = _CLASSES[c]
    if widest == 0:
        return np.zeros(1), np.ones(1)
    # Step h: aliasing exp(-2 pi^2/h^2) from the density and exp(-pi^2/(s h)) from exp(-e^y).
    h = min(0.4, 0.2 / widest)
    # To the left the density decides; to the right it is tilted by e^{sg}, which moves it by s.
    left = np.ceil(9.5 / h)
    right = np.ceil((9.5 + widest) / h)
    g = np.arange(-left, right + 1) * h
    weight = np.exp(-g * g / 2)
    return g, weight / weight.sum()


def _by_logit(x: Column, s: Column, rule: Rule, found: Float[np.ndarray, "k p"]) -> None:
    """Expectations over g: narrow logits."""
    g, weight = rule
    e = s * g
    e += x
    np.minimum(e, LARGEST_EXPONENT, out=e)
    np.exp(e, out=e)
    np.negative(e, out=e)
    f = np.expm1(e)
    found[0] = f @ -weight
    np.exp(e, out=f)
    found[1] = f @ weight
    sign = 1.0
    for k in range(2, len(found)):
        f *= e
        sign = -sign
        found[k] = f @ (sign * weight)


@lru_cache(maxsize=len(_WIDE_STEPS))
def gumbel_rule(step: float = _WIDE_STEPS[0]) -> Rule:
    """Nodes l and weights of the density e^{l - e^l} of L = ln Exp(1), by l = t - e^{-t} and the
    trapezoid rule in t."""
    t = np.arange(-4.0, 3.9, step)
    node = t - np.exp(-t)
    slope = 1.0 + np.exp(-t)
    density = np.exp(node - np.exp(node))
    weight = step * slope * density
    return node, weight / weight.sum()


def _by_gumbel(x: Column, s: Column, rule: Rule, found: Float[np.ndarray, "k p"]) -> None:
    """Expectations over L: wide logits."""
    node, weight = rule
    t = (node - x) / s
    # phi = E_L Phi((L - x)/s), 1 - phi = E_L Phi((x - L)/s): low points need the one, high points
    # the other.
    low = x[:, 0] < -1.0
    side = ndtr(np.where(low[:, None], -t, t)) @ weight
    other = 1.0 - side
    found[0] = np.where(low, side, other)
    found[1] = np.where(low, other, side)
    # a_k = int e^{kl - e^l} N(l; x, s) dl
    t *= t
    t *= -0.5
    density = np.exp(t, out=t)
    orders = np.arange(len(found) - 2)[:, None]
    powers = weight * np.exp(orders * node)
    found[2:] = (density @ powers.T).T / (_ROOT_TWO_PI * s[:, 0])
