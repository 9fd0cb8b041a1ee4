"""One Gaussian logit under the Laplace transform. With y = x + s g, g ~ N(0, 1), everything the
exact moments need is a positive expectation, so nothing is lost to cancellation or to finite
differences:

    phi = E exp(-e^y)      gap = 1 - phi = E[-expm1(-e^y)]      a_k = E[e^{ky} exp(-e^y)]
    psi = ln phi           r = -psi' = a_1 / phi                w = psi'' + psi'^2 - psi' = a_2 / phi

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
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import ndtr

from headwright.types import Float

# s up to the bound shares one trapezoid rule; beyond the last one the rule in L takes over.
_CLASSES = (0.0, 0.5, 1.0, 2.0, 3.0)
_NARROW, _WIDE = 0.05, 8.0  # deviations for which a lattice pays
_CHUNK = 1 << 18  # nodes x points per temporary: stays in cache
_UNDERFLOW, _SIGMAS = 750.0, 39.0  # e^{-750} and a normal density at 39 deviations are no numbers
# A normal law with its density, and a product, beside an exponential
_NORMAL_LAW, _MULTIPLY = 2.5, 1 / 30
_NEIGHBOURS = 1 << 20  # points x their neighbours on a lattice in work at once
# Relative error of every expectation below (tests confront it with 30 digits).
ACCURACY = 1e-13


@dataclass(frozen=True)
class Transform:
    """`psi` and the ratios `a_k / phi`, k = 1 .. top, at points x (rows) of logits (columns)."""

    psi: Float[np.ndarray, "*u n"]
    ratios: tuple[Float[np.ndarray, "*u n"], ...]

    @property
    def r(self) -> Float[np.ndarray, "*u n"]:
        return self.ratios[0]

    @property
    def w(self) -> Float[np.ndarray, "*u n"]:
        return self.ratios[1]


def transform(x: Float[np.ndarray, "u n"], s: Float[np.ndarray, "n"], *, top: int = 2) -> Transform:
    """psi and ratios at `x[k, i]` for logits of deviation `s[i]`."""
    return _logarithmic(*expectations(x, s, top=top))


def lattice_transform(
    start: float, step: float, count: int, *, s: Float[np.ndarray, "n"], top: int = 2
) -> Transform:
    """The same at x = start + step * (0 .. count - 1). The points x + s g are put on one finer
    lattice, where the expectation over g is a weighted sum over neighbours: as many exponentials as
    points, for all s together."""
    gap, a = np.empty((count, s.size)), np.empty((top + 1, count, s.size))
    plain = (s < _NARROW) | (s > _WIDE)
    if plain.any():
        x = np.repeat((start + step * np.arange(count))[:, None], plain.sum(), axis=1)
        gap[:, plain], a[:, :, plain] = expectations(x, s[plain], top=top)
    if not plain.all():
        few = s[~plain]
        finer, left, right = _neighbours(step, few)
        h = step / finer
        weight = np.exp(-0.5 * (h * np.arange(-left, right + 1)[:, None] / few) ** 2)
        e = np.exp(np.minimum(start + h * np.arange(-left, finer * (count - 1) + right + 1), 300.0))
        functions = np.cumprod([np.exp(-e), *[e] * top], axis=0)
        functions = np.concatenate([-np.expm1(-e)[None, :], functions])
        around = sliding_window_view(functions, len(weight), axis=1)[:, ::finer]
        weight = weight / weight.sum(axis=0)
        rows = max(1, _NEIGHBOURS // len(weight))
        for part in (slice(i, i + rows) for i in range(0, count, rows)):
            found = np.ascontiguousarray(around[:, part]) @ weight
            gap[part, ~plain], a[:, part, ~plain] = found[0], found[1:]
    return _logarithmic(gap, a)


def effort(s: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """What one point costs at each deviation, in exponentials."""
    sizes = [float(_normal_rule(c)[0].size) for c in range(len(_CLASSES))]
    sizes.append(_NORMAL_LAW * gumbel_rule()[0].size)
    return np.array(sizes)[np.searchsorted(_CLASSES, s, side="left")]


def lattice_effort(step: float, s: Float[np.ndarray, "n"]) -> float:
    """What one point of `lattice_transform` costs for all deviations together."""
    plain = (s < _NARROW) | (s > _WIDE)
    cost = float(effort(s[plain]).sum())
    if plain.all():
        return cost
    finer, left, right = _neighbours(step, s[~plain])
    return cost + finer + _MULTIPLY * 4 * (left + right) * float((~plain).sum())


def seen(s: Float[np.ndarray, "*n"]) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
    """Beyond these x everything underflows: a logit of deviation s is never, or always, above -x."""
    return -(_UNDERFLOW + _SIGMAS * s), np.log(_UNDERFLOW) + _SIGMAS * s


def _neighbours(step: float, s: Float[np.ndarray, "n"]) -> tuple[int, int, int]:
    """How much finer than `step` the lattice of x + s g is, and its points to the left and to the
    right of x: steps no larger than in `_normal_rule`, and as far as it goes."""
    finer = int(np.ceil(step / min(0.4 * s.min(), 0.2)))
    left, right = (
        int(np.ceil(reach * s.max() * finer / step)) for reach in (9.5, 9.5 + min(s.max(), 3.0))
    )
    return finer, left, right


def _logarithmic(gap: Float[np.ndarray, "u n"], a: Float[np.ndarray, "k u n"]) -> Transform:
    # ln(1 - gap) where gap is small and well known, ln(phi) where phi is.
    psi = np.where(gap < 0.5, np.log1p(-np.minimum(gap, 0.5)), np.log(np.maximum(a[0], 1e-300)))
    # Where phi underflows the product of all phi is zero as well: such a point carries no weight.
    inverse = np.where(a[0] > 1e-300, 1.0 / np.maximum(a[0], 1e-300), 0.0)
    return Transform(psi=psi, ratios=tuple(a[1:] * inverse))


def expectations(
    x: Float[np.ndarray, "u n"], s: Float[np.ndarray, "n"], *, top: int = 2
) -> tuple[Float[np.ndarray, "u n"], Float[np.ndarray, "k u n"]]:
    """`gap` and `a_0 .. a_top` at `x[k, i]` for logits of deviation `s[i]`."""
    gap, a = np.empty(x.shape), np.empty((top + 1, *x.shape))
    which = np.searchsorted(_CLASSES, s, side="left")
    for c in np.unique(which):
        mine = np.flatnonzero(which == c)
        points, deviation = x[:, mine], np.broadcast_to(s[mine], (x.shape[0], mine.size))
        rule = _by_logit if c < len(_CLASSES) else _by_gumbel
        g, b = _in_chunks(rule, points.ravel(), deviation.ravel(), int(c), top)
        gap[:, mine], a[:, :, mine] = g.reshape(points.shape), b.reshape(top + 1, *points.shape)
    return gap, a


def _in_chunks(rule, x, s, c, top):
    gap, a = np.empty(x.size), np.empty((top + 1, x.size))
    step = max(1, _CHUNK // len(gumbel_rule()[0] if c == len(_CLASSES) else _normal_rule(c)[0]))
    # Low points need 1 - phi, high points phi: one transcendental function per node decides both.
    low = x + (s * s / 2 if c < len(_CLASSES) else 0.0) < -1.0
    left, right = seen(s)
    never = x < left
    always = x > right
    gap[never] = 0.0
    gap[always] = 1.0
    a[:, never | always] = 0.0
    a[0, never] = 1.0
    for side, out in ((True, never), (False, always)):
        ids = np.flatnonzero((low == side) & ~out)
        for part in (ids[i : i + step] for i in range(0, ids.size, step)):
            gap[part], a[:, part] = rule(x[part], s[part], c, top, side)
    return gap, a


@lru_cache(maxsize=len(_CLASSES))
def _normal_rule(c: int) -> tuple[np.ndarray, np.ndarray]:
    """Trapezoid nodes and weights for g ~ N(0, 1), fine enough for every s of class c."""
    top = _CLASSES[c]
    if top == 0:
        return np.zeros(1), np.ones(1)
    # Step h: aliasing exp(-2 pi^2/h^2) from the density and exp(-pi^2/(s h)) from exp(-e^y).
    h = min(0.4, 0.2 / top)
    # To the left the density decides; to the right it is tilted by e^{sg}, which moves it by s.
    g = np.arange(-np.ceil(9.5 / h), np.ceil((9.5 + top) / h) + 1) * h
    weight = np.exp(-g * g / 2)
    return g, weight / weight.sum()


def _by_logit(x, s, c, top, low):
    g, weight = _normal_rule(c)
    e = np.exp(np.minimum(x[:, None] + s[:, None] * g, 300.0))
    if low:
        f = np.expm1(-e)
        gap = -(f @ weight)
        f += 1.0
    else:
        f = np.exp(-e)
        gap = None
    a = np.empty((top + 1, x.size))
    for k in range(top + 1):
        a[k] = f @ weight
        if k < top:
            f *= e
    return (1.0 - a[0] if gap is None else gap), a


@lru_cache(maxsize=1)
def gumbel_rule() -> tuple[np.ndarray, np.ndarray]:
    """Nodes l and weights of the density e^{l - e^l} of L = ln Exp(1), by l = t - e^{-t} and the
    trapezoid rule."""
    h = 0.06
    t = np.arange(-4.0, 3.9, h)
    node = t - np.exp(-t)
    weight = h * (1.0 + np.exp(-t)) * np.exp(node - np.exp(node))
    return node, weight / weight.sum()


def _by_gumbel(x, s, c, top, low):
    node, weight = gumbel_rule()
    t = (node - x[:, None]) / s[:, None]
    # phi = E_L Phi((L - x)/s), 1 - phi = E_L Phi((x - L)/s)
    side = ndtr(-t if low else t) @ weight
    a = np.empty((top + 1, x.size))
    a[0] = 1.0 - side if low else side
    # a_k = int e^{kl - e^l} N(l; x, s) dl
    density = np.exp(-0.5 * t * t) / (np.sqrt(2 * np.pi) * s[:, None])
    powers = weight * np.exp(np.arange(top)[:, None] * node)
    a[1:] = (density @ powers.T).T
    return (side if low else 1.0 - side), a
