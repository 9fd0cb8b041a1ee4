"""Two heads correlated through many keys. With L_i = ln Phi_i - psi_i - psi'_i, which is what the
correlation of the two logits of key i does, and values C, D counted from the mean of either head,

    Cov[c, c'] = int int e^{Psi + Psi'} ((e^E - 1) R S' + e^E (R_1 S' + R S_1' + R_1 S_1' + T)),
    E = sum_i L_i,   R_1 = -sum_i C_i dL_i,   S_1 = -sum_i D_i d'L_i,   T = sum_i C_i D_i' dd'L_i

where Psi, R and Psi', S are those of either head alone, and d, d' derivatives by u and u'. Nothing
cancels, so that everything need be known only as well as the heads depend on each other.

Light keys: L_i is nearly a sum of few products of a function of u and one of u' (`hermite`), so
that sums over keys are products of matrices, and no table has an entry for each key and pair of
nodes. The others, which are few, have one each (`tables`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headwright.noise import budget
from headwright.noise.head.integral import HeadMoments
from headwright.noise.head.nodes import Nodes
from headwright.noise.head.tabulated import Integrand, tabulate_on
from headwright.noise.heads.block import Block, Measure, OneHead
from headwright.noise.heads.hermite import (
    NARROW,
    Logit,
    OnNodes,
    around,
    table_error,
)
from headwright.noise.heads.pair import TINY, KeyNumbers, PairLaw, PairMoments, correlated, effects
from headwright.noise.heads.rule import Side, allowed, lattice_step, sides, spread
from headwright.noise.heads.sums import LIGHT, Light, OnPairs, Sums, scaled
from headwright.noise.heads.tables import Heavy, conditioned, heavy_tables
from headwright.result import to_numpy
from headwright.types import Float, HostPerKey, HostPerNode, HostValues

# Deviations of logits that are taken in Hermite polynomials; a few others may be there.
NARROWEST = 1e-7
WIDEST = 4.0
_FEW = 64
_KEYS = 512  # of one block: their tables stay in cache
_HEAVY = 5e8  # bytes the tables of all keys that are not light may take
_KEPT = 3e8  # bytes of separable terms that are kept, not made again
_MEMORY = 1.2e9  # bytes of the tables of all keys on the nodes of one head
ROUNDING = 1e-15
_WINDOW = 60  # neighbours on the lattice, about

Both = tuple[HostValues, HostValues]


def series_moments(
    law: PairLaw, V: HostValues, *, heads: tuple[HeadMoments, HeadMoments]
) -> PairMoments | None:
    """Covariance of two heads; None where the deviations do not suit the lattice, or too many keys
    are not light."""
    # Only differences of logits count.
    law = replace(law, m=law.m - law.m.max(axis=1, keepdims=True))
    weights = np.stack([to_numpy(h.weights_mean) for h in heads])
    keys, ignored = correlated(law, weights)
    spreads = [spread(h) for h in heads]
    share = allowed(spreads)
    suited = np.all((law.s[:, keys] >= NARROWEST) & (law.s[:, keys] <= WIDEST), axis=0)
    both = sides(law.m, law.s, share=share)
    if both is None or np.count_nonzero(~suited) > _FEW or not _fits(keys.size, both):
        return None

    values = (V - to_numpy(heads[0].mean), V - to_numpy(heads[1].mean))
    longest = lattice_step(law.c, heads)
    blocks = _blocks(law, keys[suited], both, longest)
    alone = _alone(law, blocks, both, values=values, share=share)
    parts = _split([block.some(slice(None), alone.counts) for block in blocks], alone.measure)
    if parts.heavy_keys * 32 * np.prod(alone.counts) > _HEAVY:
        return None
    unsuited = keys[~suited]
    sums, summed = _summed(parts, alone, law, values)
    if unsuited.size:
        heavy = conditioned(law, unsuited, alone.grids)
        sums.add_tables(unsuited, heavy.tables, values)
        summed.append(heavy)
    found = _combined(alone, sums, summed, values=values, table_error=table_error(longest))

    missed = [side.missed(total, count) for side, total, count in alone.ends]
    rule = missed[1] * spreads[0] + missed[0] * spreads[1] + missed[0] * missed[1]
    # Derivatives are differences of q at points s apart.
    narrower = np.maximum(law.s.min(axis=0), NARROWEST)
    rounding = np.sum(effects(law, weights)[keys] * (ROUNDING / narrower[keys] ** 2))
    error = ignored + rule + found.error + rounding + 4 * sum(h.first for h in heads)
    return replace(found, error=float(error))


def _fits(keys: int, both: tuple[Side, Side]) -> bool:
    """Do the tables of all keys fit?"""
    longest = max(side.nodes.u.size for side in both)
    return keys * 8 * (5 * longest + 2 * _WINDOW) <= _MEMORY


def _blocks(law: PairLaw, keys: KeyNumbers, both: tuple[Side, Side], longest: float) -> list[Block]:
    """Keys of about the same deviations; neighbours have about the same weight."""
    octaves = np.floor(np.log2(np.maximum(law.s, NARROW / 2)))
    order = keys[np.lexsort((law.m[:, keys].sum(axis=0), *octaves[:, keys]))]
    changes = np.any(np.diff(octaves[:, order], axis=1) != 0, axis=0)
    blocks = []
    for alike in np.split(order, np.flatnonzero(changes) + 1) if keys.size else []:
        pieces = np.array_split(alike, -(-alike.size // _KEYS))
        blocks += [_block(law, piece, both, longest) for piece in pieces]
    return blocks


def _block(law: PairLaw, keys: KeyNumbers, both: tuple[Side, Side], longest: float) -> Block:
    heads = []
    for side, m, s in zip(both, law.m[:, keys], law.s[:, keys], strict=True):
        lattice = around(side.nodes.u, side.nodes.step, m, s, longest=longest)
        heads.append(OneHead(s, lattice, Logit.of(lattice)))
    correlation = law.c[keys] / (law.s[0, keys] * law.s[1, keys])
    return Block(keys, np.clip(correlation, -1.0, 1.0), (heads[0], heads[1]))


@dataclass(frozen=True)
class _Alone:
    """Both heads as if no key correlated them, on as many nodes (`counts`) as are needed: R and r
    of the keys that do not (`others`); `ends` is what the rule leaves out is measured by."""

    measure: Measure
    counts: tuple[int, int]
    grids: tuple[Nodes, Nodes]
    R: tuple[np.ndarray, np.ndarray]
    others: KeyNumbers
    r: tuple[np.ndarray, np.ndarray]
    ends: list[tuple[Side, HostPerNode, int]]


def _alone(
    law: PairLaw, blocks: list[Block], both: tuple[Side, Side], *, values: Both, share: float
) -> _Alone:
    in_blocks = np.zeros(law.c.size, dtype=bool)
    for block in blocks:
        in_blocks[block.keys] = True
    others = np.flatnonzero(~in_blocks)
    found = []
    for h, side in enumerate(both):
        one = _others(law.m[h, others], law.s[h, others], side.nodes)
        total = one.total + sum(block.heads[h].logit.psi.sum(axis=0) for block in blocks)
        r_sum = one.r.sum(axis=1) + sum(block.heads[h].logit.r.sum(axis=0) for block in blocks)
        R = one.r @ values[h][others]
        for block in blocks:
            R += block.heads[h].logit.r.T @ values[h][block.keys]
        count = side.last(total, share / 4)
        density = side.nodes.weight[:count] * np.exp(total[:count])
        u = side.nodes.u[:count]
        grid = Nodes(u, side.nodes.weight[:count], side.nodes.step, True)
        end = (side, total, count)
        found.append((density, r_sum[:count], count, grid, R[:count], one.r[:count].T, end))
    density, r_sum, counts, grids, R, r, ends = zip(*found, strict=True)
    return _Alone(Measure(density, r_sum), counts, grids, R, others, r, list(ends))


def _others(m: HostPerKey, s: HostPerKey, grid: Nodes) -> Integrand:
    """The keys that do not correlate the heads."""
    if m.size:
        return tabulate_on(grid, m, s)
    return Integrand(grid, np.zeros(grid.u.size), np.zeros((grid.u.size, 0)))


@dataclass(frozen=True)
class _Parts:
    """The keys by what they take, and how much all do together, as it is seen."""

    light: list[Block]
    heavy: list[Block]
    effect: float

    @property
    def heavy_keys(self) -> int:
        return sum(block.keys.size for block in self.heavy)

    @property
    def keys(self) -> int:
        return self.heavy_keys + sum(block.keys.size for block in self.light)


def _split(blocks: list[Block], measure: Measure) -> _Parts:
    """Light keys are those of which second orders in eta may be left out, all together."""
    second = []
    first = []
    largest = []
    for block in blocks:
        x, y = (one.size for one in block.heads)
        rho = np.abs(block.rho)
        second.append(rho**2 / 2 * measure.of(x.times(x), y.times(y)))
        first.append(rho * measure.of(x, y))
        largest.append(rho * x.value.max(axis=1) * y.value.max(axis=1))
    if not blocks:
        return _Parts([], [], 0.0)
    order = np.argsort(np.concatenate(second))
    allowed = np.cumsum(np.concatenate(second)[order]) <= budget.PAIR_SECOND_ORDER
    light = np.zeros(order.size, dtype=bool)
    light[order] = allowed
    light &= np.concatenate(largest) <= LIGHT

    parts = _Parts([], [], float(np.concatenate(first).sum()))
    begin = 0
    for block in blocks:
        mine = light[begin : begin + block.keys.size]
        begin += block.keys.size
        a, b = (one.lattice.nodes for one in block.heads)
        for chosen, into in ((mine, parts.light), (~mine, parts.heavy)):
            if chosen.all():
                into.append(block)
            elif chosen.any():
                into.append(block.some(np.flatnonzero(chosen), (a, b)))
    return parts


def _summed(
    parts: _Parts, alone: _Alone, law: PairLaw, values: Both
) -> tuple[Sums, list[Light | Heavy]]:
    """Sums over all keys on all pairs of nodes."""
    sums = Sums.zero(alone.counts, values[0].shape[1])
    rough = budget.PAIR_PRODUCTS / max(parts.effect, TINY)
    keys: list[Light | Heavy] = []
    room = _KEPT
    for block in parts.light:
        part = block.keys.size / parts.keys
        found = block.expanded(alone.measure, budget.PAIR_TERMS * part, rough * part)
        light = Light(block, found.count, scaled(found, block))
        sums.add_light(light, found, values)
        room -= light.bytes
        keys.append(light if room > 0 else light._replace(terms=None))
    for block in parts.heavy:
        share = budget.PAIR_TERMS * block.keys.size / parts.keys
        found = block.expanded(alone.measure, share, np.inf)
        for heavy, bound in heavy_tables(block, found, law, grids=alone.grids, share=share):
            sums.add_tables(heavy.keys, heavy.tables, values)
            sums.left_out.table[:] += bound.table
            keys.append(heavy)
    return sums, keys


def _combined(
    alone: _Alone,
    sums: Sums,
    parts: list[Light | Heavy],
    *,
    values: Both,
    table_error: float,
) -> PairMoments:
    """The integral over all pairs of nodes, and what was left out of it."""
    apart = np.outer(*alone.measure.density)
    W = apart * np.exp(sums.exponent)
    gained = apart * np.expm1(sums.exponent)
    C, D = values
    R, S = alone.R
    covariance = R.T @ gained @ S
    covariance += np.tensordot(sums.R * W, sums.S, axes=([1, 2], [1, 2]))
    weights = np.zeros(C.shape[0])
    weights[alone.others] = _bilinear(alone.r[0], gained, alone.r[1])
    products = 0.0
    for part in parts:
        keys = part.keys
        seen = part.seen(W)
        covariance -= (seen.by_w @ R).T @ D[keys]
        covariance -= C[keys].T @ (seen.by_u @ S)
        covariance += (C[keys] * seen.by_both[:, None]).T @ D[keys]
        r, r_ = part.r
        own = _bilinear(r, gained, r_) + seen.by_both
        crossed = np.sum(r * seen.by_w, axis=1) + np.sum(r_ * seen.by_u, axis=1)
        weights[keys] = own - crossed + seen.product
        products = max(products, seen.product_error)
    return PairMoments(covariance, weights, products + _left_out(alone, sums, W, table_error))


def _bilinear(x: OnNodes, W: OnPairs, y: Float[np.ndarray, "n w"]) -> HostPerKey:
    """x_i' W y_i for each key."""
    return np.sum((x @ W) * y, axis=1)


def _left_out(alone: _Alone, sums: Sums, W: OnPairs, table_error: float) -> float:
    """How much the errors of L_i, of its derivatives and of the products R_1 S_1' do, for values at
    most 1 from their centre."""
    L, by_u, by_w, by_both = sums.sizes.table
    rows, columns = alone.measure.r_sum
    R = rows[:, None] + by_u
    S = columns + by_w
    e, e_by_u, e_by_w, e_by_both = sums.left_out.table
    terms = e * (R * S + 2 * by_both) + e_by_u * S + e_by_w * R + e_by_both
    _, rough_by_u, rough_by_w, _ = sums.rough.table
    products = rough_by_u * by_w + rough_by_w * by_u
    everything = L * R * S + by_u * S + by_w * R + by_both
    seen = np.exp(e) * terms + products + table_error * everything
    return float(np.sum(W * seen))
