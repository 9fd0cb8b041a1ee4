"""Tables of L = ln Phi - psi - psi' of some keys and of its derivatives, on pairs of nodes: from
the separable terms where they converge fast enough, else by a sum over the first logit of what is
left of the second one. (Keys of extreme deviations are conditioned by `bivariate`.)

With e what the terms of 1 + eta = Phi / (phi phi') leave out, L is off by e g, g = 1 / (1 + eta),
to first order; its derivatives follow by Leibniz' rule. Where 1 + eta >= o and |eta| <= m,

    g <= 1 / o,    |dg| <= |d eta| / o^2,    |dd'g| <= |dd' eta| / o^2 + 2 |d eta| |d' eta| / o^3,

and by the sizes of eta all of that is at most a product of functions of u and u'.
"""

from __future__ import annotations

import numpy as np

from headwright.noise.head.nodes import Nodes
from headwright.noise.head.transform import transform
from headwright.noise.heads.bivariate import bivariate
from headwright.noise.heads.block import Block, Expansion, SomeKeys
from headwright.noise.heads.hermite import OnPoints, Points, points_of_rule
from headwright.noise.heads.pair import TINY, PairLaw, ratio
from headwright.noise.heads.sums import KeyTables, Sizes
from headwright.types import Float, HostPerKey, Int

_LEAST = 0.25  # of 1 + eta, for the terms to be of use
# Steps for products of two functions, whose spectrum falls more slowly than that of either.
_FINER = 0.5
_POINTS = 1 << 19  # in work at once where one logit is given
_KNOWN = 1e-15  # Phi of a logit given the other is known to some roundings of a number of size 1

Grids = tuple[Nodes, Nodes]


def key_tables(block: Block, found: Expansion, *, share: float) -> tuple[KeyTables, Sizes]:
    """The tables of all keys of a block, and bounds of their errors. Keys of which the terms leave
    out most are not taken from them, so that all others together miss no more than `share`."""
    bound = Sizes.zero((block.heads[0].u.size, block.heads[1].u.size))
    eta = _eta(block, found)
    least = 1.0 + eta.L.min(axis=(1, 2)) - _largest_error(block, found)
    largest = _largest(block)
    by_slopes = (1.0 + 2.0 * largest / least) / least**2  # 1 / o^2 + 2 m / o^3
    # About how much more than 1 + eta its logarithm is off.
    seen = found.left_out * (1.0 / least + by_slopes * largest)
    good = least >= _LEAST
    order = np.argsort(np.where(good, seen, np.inf))
    good[order] &= np.cumsum(np.where(good, seen, 0.0)[order]) <= share
    slow = np.flatnonzero(~good)
    each = _points_for_each(block, slow)
    pieces = min(slow.size, -(-slow.size * each // _POINTS))
    for some in np.array_split(slow, pieces) if slow.size else []:
        for table, rows in zip(eta, _given(block, some), strict=True):
            table[some] = rows
    left_out = np.where(good, np.abs(block.rho) ** (found.count + 1), 0.0)
    sizes = [one.size for one in block.heads]
    bound.add(left_out / least, *found.rest)
    by_size = [rest.times(size) for rest, size in zip(found.rest, sizes, strict=True)]
    bound.add(left_out * np.abs(block.rho) * by_slopes, *by_size)
    return _logarithms(eta), bound


def conditioned(law: PairLaw, keys: SomeKeys, grids: Grids) -> KeyTables:
    """Tables of keys that no terms are made for."""
    found = [_by_conditioning(law, int(i), grids) for i in keys]
    return KeyTables(*(np.stack(column) for column in zip(*found, strict=True)))


def _eta(block: Block, found: Expansion) -> KeyTables:
    """eta and its derivatives from the terms."""
    rows = np.concatenate(found.a, axis=2) * block.powers(found.count)
    columns = np.concatenate(found.b, axis=2)
    by_key = np.ascontiguousarray(rows.transpose(1, 2, 0))
    product = by_key @ np.ascontiguousarray(columns.transpose(1, 0, 2))
    count, width = (terms.value.shape[2] for terms in (found.a, found.b))
    return KeyTables(
        product[:, :count, :width],
        product[:, count:, :width],
        product[:, :count, width:],
        product[:, count:, width:],
    )


def _given(block: Block, some: Int[np.ndarray, "k"]) -> KeyTables:
    """eta and its derivatives, the second logit given the first: with q = 1 - f and q'(u', g) what
    is left of the second one, phi phi' eta = E[(q - E q) q'(u', g)]; d phi = -r phi."""
    first, second = block.heads
    points = Points.of(first.u, first.m[some], first.s[some], longest=_FINER * block.longest)
    rho = block.rho[some]
    rest = _rest(block, some)
    shifted = second.m[some][:, None] + (second.s[some] * rho)[:, None] * points.g
    deviations = np.repeat(rest, points.g.size)
    left = Points.of(second.u, shifted.ravel(), deviations, longest=block.longest)
    shape = (some.size, points.g.size, second.u.size)
    q = left.mean_q(np.ones((left.g.size, 1))).reshape(shape)
    d = left.mean_slope.reshape(shape)

    phis = first.logit.phi[some][:, :, None] * second.logit.phi[some][:, None, :]
    phis = np.maximum(phis, TINY)
    r = first.logit.r[some][:, :, None]
    r_ = second.logit.r[some][:, None, :]
    p, dp = (_centred(table, points.root) for table in (points.q, points.slope))
    eta, by_u, by_w, by_both = (
        (rows @ columns) / phis for rows, columns in ((p, q), (dp, q), (p, d), (dp, d))
    )
    # Where phi phi' is gone rounding is all there is of eta, and may leave less than nothing of
    # Phi = phi phi' (1 + eta).
    seen = np.maximum(eta, np.minimum(_KNOWN / phis, 1.0) - 1.0)
    return KeyTables(
        seen, by_u + r * eta, by_w + r_ * eta, by_both + r * by_w + r_ * by_u + r * r_ * eta
    )


def _centred(table: OnPoints, root: Float[np.ndarray, "g"]) -> OnPoints:
    """Less its mean, times the weights; it comes times their `root`."""
    return (table - (table @ root)[:, :, None] * root) * root


def _rest(block: Block, some: Int[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
    """The deviation of the second logit, the first one given."""
    rho = block.rho[some]
    return block.heads[1].s[some] * np.sqrt(1.0 - rho * rho)


def _points_for_each(block: Block, some: Int[np.ndarray, "k"]) -> int:
    """That `_given` takes for a key."""
    first, second = block.heads
    outer = points_of_rule(float(first.s.max()), _FINER * block.longest)
    inner = points_of_rule(float(_rest(block, some).max(initial=0.0)), block.longest)
    return outer * second.u.size * inner


def _logarithms(eta: KeyTables) -> KeyTables:
    """ln(1 + eta) and its derivatives."""
    inverse = 1.0 / (1.0 + eta.L)
    by_u = eta.by_u * inverse
    by_w = eta.by_w * inverse
    by_both = eta.by_both * inverse
    by_both -= by_u * by_w
    return KeyTables(np.log1p(eta.L), by_u, by_w, by_both)


def _largest_error(block: Block, found: Expansion) -> HostPerKey:
    """Of 1 + eta, on any pair of nodes."""
    first, second = (rest.value.max(axis=1) for rest in found.rest)
    return np.abs(block.rho) ** (found.count + 1) * first * second


def _largest(block: Block) -> HostPerKey:
    """A bound of |eta| on any pair of nodes."""
    x, y = (one.size.value.max(axis=1) for one in block.heads)
    return np.abs(block.rho) * x * y


def _by_conditioning(law: PairLaw, i: int, grids: Grids) -> KeyTables:
    """One key, its second logit given the first."""
    m = law.m[:, i]
    s = law.s[:, i]
    table = bivariate(grids, m, s, c=float(law.c[i]), top=1)
    first = transform(grids[0].u[:, None] + m[:1], s[:1], top=1)
    second = transform(grids[1].u[:, None] + m[1:], s[1:], top=1)
    L = np.log(np.maximum(table[0, 0], TINY)) - first.psi - second.psi.T
    rho = ratio(table, 1, 0)
    rho_ = ratio(table, 0, 1)
    by_both = ratio(table, 1, 1) - rho * rho_
    return KeyTables(L, first.r - rho, second.r.T - rho_, by_both)
