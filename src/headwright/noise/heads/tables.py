"""Keys that are not light: a table each, of L = ln Phi - psi - psi' and its derivatives on all
pairs of nodes. From the separable terms where enough of them are known, by conditioning one logit
on the other (`bivariate`) where they converge too slowly.

With e what the terms of 1 + eta = Phi / (phi phi') leave out, L is off by e g, g = 1 / (1 + eta),
to first order; its derivatives follow by Leibniz' rule. Where 1 + eta >= o and |eta| <= m,

    g <= 1 / o,    |dg| <= |d eta| / o^2,    |dd'g| <= |dd' eta| / o^2 + 2 |d eta| |d' eta| / o^3,

and by the sizes of eta all of that is at most a product of functions of u and u'.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from headwright.noise.head.nodes import Nodes
from headwright.noise.head.transform import transform
from headwright.noise.heads.bivariate import bivariate
from headwright.noise.heads.block import Block, Expansion
from headwright.noise.heads.hermite import OnNodes
from headwright.noise.heads.pair import TINY, KeyNumbers, PairLaw, ratio
from headwright.noise.heads.sums import KeyTables, OnPairs, Seen, Sizes
from headwright.types import HostPerKey, Int

_LEAST = 0.25  # of 1 + eta, for the terms to be of use
_TOGETHER = 64  # keys whose tables are made at once


class Heavy(NamedTuple):
    """Some keys, their r in either head, and their tables."""

    keys: KeyNumbers
    r: list[OnNodes]
    tables: KeyTables

    def seen(self, W: OnPairs) -> Seen:
        """Under a weight on all pairs of nodes."""
        _, by_u, by_w, by_both = self.tables
        weighted = by_u * W
        return Seen(
            by_u=weighted.sum(axis=1),
            by_w=np.einsum("kuw,uw->ku", by_w, W),
            by_both=np.tensordot(by_both, W, axes=2),
            product=np.sum(weighted * by_w, axis=(1, 2)),
            product_error=0.0,
        )


def heavy_tables(
    block: Block, found: Expansion, law: PairLaw, *, grids: tuple[Nodes, Nodes], share: float
) -> Iterator[tuple[Heavy, Sizes]]:
    """The tables of all keys of a block, some at a time, and bounds of their errors. A key of which
    the terms leave out more than `share` is not taken from them."""
    shape = (grids[0].u.size, grids[1].u.size)
    for start in range(0, block.keys.size, _TOGETHER):
        some = np.arange(start, min(start + _TOGETHER, block.keys.size))
        bound = Sizes(np.zeros((4, *shape)))
        one = _one_plus_eta(block, found, some)
        least = one.L.min(axis=(1, 2)) - _largest_error(block, found, some)
        seen = found.left_out[some] * _slack(block, some, least)
        good = (least >= _LEAST) & (seen <= share)
        tables = _logarithms(one)
        _add_bound(bound, block, found, some[good], least=least[good])
        for at in np.flatnonzero(~good):
            exact = _by_conditioning(law, int(block.keys[some[at]]), grids)
            for table, row in zip(tables, exact, strict=True):
                table[at] = row
        r = [one.logit.r[some] for one in block.heads]
        yield Heavy(block.keys[some], r, tables), bound


def conditioned(law: PairLaw, keys: KeyNumbers, grids: tuple[Nodes, Nodes]) -> Heavy:
    """Keys that no terms are made for."""
    found = [_by_conditioning(law, int(i), grids) for i in keys]
    tables = KeyTables(*(np.stack(column) for column in zip(*found, strict=True)))
    r = [
        transform(grid.u[:, None] + m[keys], s[keys], top=1).r.T
        for grid, m, s in zip(grids, law.m, law.s, strict=True)
    ]
    return Heavy(keys, r, tables)


def _one_plus_eta(block: Block, found: Expansion, some: Int[np.ndarray, "k"]) -> KeyTables:
    """1 + eta and the derivatives of eta from the terms."""
    powers = block.powers(found.count)[:, some]
    a, da = ((part[:, some] * powers).transpose(1, 2, 0) for part in found.a)
    b, db = (part[:, some].transpose(1, 0, 2) for part in found.b)
    return KeyTables(1.0 + a @ b, da @ b, a @ db, da @ db)


@np.errstate(invalid="ignore", divide="ignore")  # where the terms are not used
def _logarithms(one: KeyTables) -> KeyTables:
    """ln(1 + eta) and its derivatives."""
    by_u = one.by_u / one.L
    by_w = one.by_w / one.L
    by_both = one.by_both / one.L - by_u * by_w
    return KeyTables(np.log(one.L), by_u, by_w, by_both)


def _largest_error(block: Block, found: Expansion, some: Int[np.ndarray, "k"]) -> HostPerKey:
    """Of 1 + eta, on any pair of nodes."""
    first, second = (rest.value[some].max(axis=1) for rest in found.rest)
    return np.abs(block.rho[some]) ** (found.count + 1) * first * second


def _add_bound(
    bound: Sizes, block: Block, found: Expansion, some: Int[np.ndarray, "k"], *, least: HostPerKey
) -> None:
    """What the terms of these keys leave out of L and of its derivatives."""
    rho = np.abs(block.rho[some])
    left_out = rho ** (found.count + 1)
    x, y = (rest.some(some) for rest in found.rest)
    p, q = (one.size.some(some) for one in block.heads)
    bound.add(left_out / least, x, y)
    bound.add(left_out * rho * _by_slopes(block, some, least), x.times(p), y.times(q))


def _by_slopes(block: Block, some: Int[np.ndarray, "k"], least: HostPerKey) -> HostPerKey:
    """1 / o^2 + 2 m / o^3"""
    return (1.0 + 2.0 * _largest(block, some) / least) / least**2


def _slack(block: Block, some: Int[np.ndarray, "k"], least: HostPerKey) -> HostPerKey:
    """About how much more than 1 + eta its logarithm is off."""
    return 1.0 / least + _by_slopes(block, some, least) * _largest(block, some)


def _largest(block: Block, some: Int[np.ndarray, "k"]) -> HostPerKey:
    """A bound of |eta| on any pair of nodes."""
    x, y = (one.size.value[some].max(axis=1) for one in block.heads)
    return np.abs(block.rho[some]) * x * y


def _by_conditioning(law: PairLaw, i: int, grids: tuple[Nodes, Nodes]) -> KeyTables:
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
