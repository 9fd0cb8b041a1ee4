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

# s up to the bound shares one trapezoid rule; beyond the last one the rule in L takes over.
_CLASSES = (0.0, 0.5, 1.0, 2.0, 3.0)
_BEYOND = len(_CLASSES)
_CHUNK = 1 << 18  # nodes x points per temporary: stays in cache
# e^{-750} and a normal density at 39 deviations are no numbers.
_UNDERFLOW = 750.0
_SIGMAS = 39.0
_NORMAL_LAW = 2.5  # what a normal law with its density costs beside an exponential
_LARGEST_EXPONENT = 300.0  # of e^y: exp(-e^y) has long been zero, and e^{2y} is still a number
_SMALLEST_PHI = 1e-300
# Relative error of every expectation below (tests confront it with 30 digits).
ACCURACY = 1e-13

Ratio = Float[np.ndarray, "*u n"]
Ratios = Float[np.ndarray, "k u n"]
Expectations = tuple[HostTable, Ratios]  # gap, and a_0 .. a_top
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
    phi = np.maximum(a[0], _SMALLEST_PHI)
    # ln(1 - gap) where gap is small and well known, ln(phi) where phi is.
    from_gap = np.log1p(-np.minimum(gap, 0.5))
    psi = np.where(gap < 0.5, from_gap, np.log(phi))
    # Where phi underflows the product of all phi is zero as well: such a point carries no weight.
    inverse = np.where(a[0] > _SMALLEST_PHI, 1.0 / phi, 0.0)
    return Transform(psi=psi, ratios=tuple(a[1:] * inverse))


def effort(s: HostPerKey) -> HostPerKey:
    """What one point costs at each deviation, in exponentials."""
    sizes = [float(_normal_rule(c)[0].size) for c in range(_BEYOND)]
    sizes.append(_NORMAL_LAW * gumbel_rule()[0].size)
    return np.array(sizes)[_class_of(s)]


def seen(s: Float[np.ndarray, "*n"]) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
    """Beyond these x everything underflows: a logit of deviation s is never (always) above -x."""
    left = -(_UNDERFLOW + _SIGMAS * s)
    right = np.log(_UNDERFLOW) + _SIGMAS * s
    return left, right


def _class_of(s: HostPerKey) -> np.ndarray:
    """Which rule serves each deviation."""
    return np.searchsorted(_CLASSES, s, side="left")


def expectations(x: HostTable, s: HostPerKey, *, top: int = 2) -> Expectations:
    """`gap` and `a_0 .. a_top` at `x[k, i]` for logits of deviation `s[i]`."""
    gap = np.empty(x.shape)
    a = np.empty((top + 1, *x.shape))
    which = _class_of(s)

    for c in np.unique(which):
        mine = np.flatnonzero(which == c)
        points = x[:, mine]
        deviations = np.broadcast_to(s[mine], points.shape)
        some_gap, some_a = _in_chunks(points.ravel(), deviations.ravel(), int(c), top)
        gap[:, mine] = some_gap.reshape(points.shape)
        a[:, :, mine] = some_a.reshape(top + 1, *points.shape)
    return gap, a


def _in_chunks(x: np.ndarray, s: np.ndarray, c: int, top: int) -> tuple[np.ndarray, np.ndarray]:
    """The expectations at points (x, s) of one class."""
    gap = np.empty(x.size)
    a = np.empty((top + 1, x.size))

    left, right = seen(s)
    never = x < left
    always = x > right
    gap[never] = 0.0
    gap[always] = 1.0
    a[:, never | always] = 0.0
    a[0, never] = 1.0

    # Low points need 1 - phi, high points phi: one transcendental function per node decides both.
    narrow = c < _BEYOND
    low = x + (s * s / 2 if narrow else 0.0) < -1.0
    rule = _normal_rule(c) if narrow else gumbel_rule()
    by_rule = _by_logit if narrow else _by_gumbel
    size = max(1, _CHUNK // len(rule[0]))
    for side, decided in ((True, never), (False, always)):
        ids = np.flatnonzero((low == side) & ~decided)
        for start in range(0, ids.size, size):
            part = ids[start : start + size]
            found = by_rule(x[part], s[part], rule, top=top, low=side)
            gap[part], a[:, part] = found
    return gap, a


@lru_cache(maxsize=_BEYOND)
def _normal_rule(c: int) -> Rule:
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


def _by_logit(
    x: np.ndarray, s: np.ndarray, rule: Rule, *, top: int, low: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Expectations over g: narrow logits."""
    g, weight = rule
    e = s[:, None] * g
    e += x[:, None]
    np.minimum(e, _LARGEST_EXPONENT, out=e)
    np.exp(e, out=e)
    gap = None
    if low:
        f = np.expm1(-e)
        gap = -(f @ weight)
        f += 1.0
    else:
        f = np.exp(-e)

    a = np.empty((top + 1, x.size))
    for k in range(top + 1):
        a[k] = f @ weight
        if k < top:
            f *= e
    if gap is None:
        gap = 1.0 - a[0]
    return gap, a


@lru_cache(maxsize=1)
def gumbel_rule() -> Rule:
    """Nodes l and weights of the density e^{l - e^l} of L = ln Exp(1), by l = t - e^{-t} and the
    trapezoid rule."""
    h = 0.06
    t = np.arange(-4.0, 3.9, h)
    node = t - np.exp(-t)
    slope = 1.0 + np.exp(-t)
    density = np.exp(node - np.exp(node))
    weight = h * slope * density
    return node, weight / weight.sum()


def _by_gumbel(
    x: np.ndarray, s: np.ndarray, rule: Rule, *, top: int, low: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Expectations over L: wide logits."""
    node, weight = rule
    t = (node - x[:, None]) / s[:, None]
    # phi = E_L Phi((L - x)/s), 1 - phi = E_L Phi((x - L)/s)
    side = ndtr(-t if low else t) @ weight
    other = 1.0 - side

    a = np.empty((top + 1, x.size))
    a[0] = other if low else side
    # a_k = int e^{kl - e^l} N(l; x, s) dl
    norm = np.sqrt(2 * np.pi) * s[:, None]
    density = np.exp(-0.5 * t * t) / norm
    orders = np.arange(top)[:, None]
    powers = weight * np.exp(orders * node)
    a[1:] = (density @ powers.T).T
    return (side if low else other), a
