"""Two heads correlated through many keys. With L_i = ln Phi_i - psi_i - psi'_i, which is what the
correlation of the two logits of key i does, and values C, D counted from the mean of either head,

    Cov[c, c'] = int int e^{Psi + Psi'} ((e^E - 1) R S' + e^E (R_1 S' + R S_1' + R_1 S_1' + T)),
    E = sum_i L_i,   R_1 = -sum_i C_i dL_i,   S_1 = -sum_i D_i d'L_i,   T = sum_i C_i D_i' dd'L_i

where Psi, R and Psi', S are those of either head alone, and d, d' derivatives by u and u'. Nothing
cancels, so that everything need be known only as well as the heads depend on each other.

A heavy key has tables of L_i and its derivatives on all pairs of nodes. Groups of light keys, which
are nearly all, have them on a few nodes of either head that stand for the others (`groups`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headwright.noise import budget
from headwright.noise.head.integral import HeadMoments
from headwright.noise.heads.block import Block, SomeKeys
from headwright.noise.heads.few_nodes import FewNodes
from headwright.noise.heads.groups import Group, Plan, planned
from headwright.noise.heads.hermite import OnNodes
from headwright.noise.heads.pair import PairLaw, PairMoments, correlated, effects
from headwright.noise.heads.rule import allowed, sides, spread
from headwright.noise.heads.sums import HeadSums, Kept, OnPairs, Sums, on_few_pairs
from headwright.noise.heads.tables import conditioned, key_tables
from headwright.result import to_numpy
from headwright.types import Float, HostPerKey, HostValues

# Deviations of logits that are taken in Hermite polynomials; a few others may be there.
NARROWEST = 1e-7
WIDEST = 4.0
_FEW = 64
_MEMORY = 6e8  # bytes of the tables of all keys
ROUNDING = 1e-15
_LARGEST = 300.0  # exponent of a bound that says nothing any more

Both = tuple[HostValues, HostValues]


def series_moments(
    law: PairLaw, V: HostValues, *, heads: tuple[HeadMoments, HeadMoments]
) -> PairMoments | None:
    """Covariance of two heads; None where the deviations do not suit the series, or too many keys
    are heavy."""
    # Only differences of logits count.
    law = replace(law, m=law.m - law.m.max(axis=1, keepdims=True))
    weights = np.stack([to_numpy(h.weights_mean) for h in heads])
    keys, ignored = correlated(law, weights)
    spreads = [spread(h) for h in heads]
    share = allowed(spreads)
    suited = np.all((law.s[:, keys] >= NARROWEST) & (law.s[:, keys] <= WIDEST), axis=0)
    both = sides(law.m, law.s, share=share)
    if both is None or np.count_nonzero(~suited) > _FEW:
        return None

    norms = np.sqrt(np.stack([to_numpy(h.weights_square) for h in heads]))
    plan = planned(law, keys[suited], both, norms=norms, share=share)
    if plan.size > _MEMORY:
        return None
    values = (V - to_numpy(heads[0].mean), V - to_numpy(heads[1].mean))
    summed = _summed(plan, law, values)
    if not suited.all():
        _add_conditioned(summed, plan, law, keys[~suited], values)
    found, missed = _combined(plan, summed, values=values, table_error=plan.table_error(law))

    rule = missed[1] * spreads[0] + missed[0] * spreads[1] + missed[0] * missed[1]
    # Derivatives are differences of q at points s apart.
    narrower = np.maximum(law.s.min(axis=0), NARROWEST)
    rounding = np.sum(effects(law, weights)[keys] * (ROUNDING / narrower[keys] ** 2))
    error = ignored + rule + found.error + rounding + 4 * sum(h.first for h in heads)
    return replace(found, error=float(error))


@dataclass(frozen=True)
class _Summed:
    """Sums over all keys: of either head, and of both."""

    heads: tuple[HeadSums, HeadSums]
    pairs: Sums
    kept: list[Kept]


def _summed(plan: Plan, law: PairLaw, values: Both) -> _Summed:
    """Of all groups and others."""
    v = values[0].shape[1]
    heads = [HeadSums.of(one, C[plan.others]) for one, C in zip(plan.alone, values, strict=True)]
    sizes = [grid.u.size for grid in plan.grids]
    summed = _Summed((heads[0], heads[1]), Sums.zero((sizes[0], sizes[1]), v), [])
    for group in plan.groups:
        _add_group(summed, group, plan, law, values)
    return summed


def _add_group(summed: _Summed, group: Group, plan: Plan, law: PairLaw, values: Both) -> None:
    """One group, some keys at a time."""
    weights = [0.0, 0.0]
    few = Sums.zero((group.nodes[0].count, group.nodes[1].count), values[0].shape[1])
    grids = group.grids(plan.grids)
    measure = group.measure(plan.measure)
    of_bounds = group.measure(plan.measure, of_bounds=True)
    effect = 0.0
    for keys in group.blocks(law):
        block = Block.of(law, keys, (grids[0].u, grids[1].u), longest=group.longest)
        share = budget.PAIR_TERMS / len(plan.groups) * keys.size / group.keys.size
        found = block.expanded(of_bounds, share)
        tables, bound = key_tables(block, found, share=share)
        few.add_tables(keys, tables, values)
        few.left_out.table[:] += bound.table
        for h, one in enumerate(block.heads):
            summed.heads[h].add(one.logit, group.nodes[h], values[h][keys])
        r = (block.heads[0].logit.r, block.heads[1].logit.r)
        summed.kept.append(Kept.of(keys, group.nodes, r=r, tables=tables))
        effect += float(block.effect(measure).sum())
        for h, one in enumerate(block.heads):
            weights[h] += float(np.sum(one.logit.r @ measure.slope[h]))
    summed.pairs.add_spread(few, group.nodes)
    if group.missed is not None:
        summed.pairs.left_out.table[:] += effect * group.missed.tables
        for h, one in enumerate(summed.heads):
            one.missed_psi[:] += weights[h] * group.missed.psi[h]
            one.missed_r[:] += weights[h] * group.missed.r[h]


def _add_conditioned(
    summed: _Summed, plan: Plan, law: PairLaw, keys: SomeKeys, values: Both
) -> None:
    """Keys without a series; they are among the others of the plan already."""
    tables = conditioned(law, keys, plan.grids)
    summed.pairs.add_tables(keys, tables, values)
    at = np.searchsorted(plan.others, keys)
    a, b = (one.r[:, at].T for one in plan.alone)
    nodes = (FewNodes.all(plan.grids[0].u.size), FewNodes.all(plan.grids[1].u.size))
    summed.kept.append(Kept.of(keys, nodes, r=(a, b), tables=tables))


def _combined(
    plan: Plan, summed: _Summed, *, values: Both, table_error: float
) -> tuple[PairMoments, list[float]]:
    """The integral over all pairs of nodes and what was left out of it; and what the rule of either
    head misses."""
    density = []
    missed = []
    for side, head in zip(plan.sides, summed.heads, strict=True):
        count = side.last(head.psi, plan.share / 4)
        missed.append(side.missed(head.psi, count))
        used = np.arange(head.psi.size) < count
        density.append(np.where(used, side.nodes.weight * np.exp(head.psi), 0.0))
    apart = np.outer(*density)
    E = np.where(apart > 0, summed.pairs.exponent, 0.0)
    W = apart * np.exp(E)
    gained = apart * np.expm1(E)

    C, D = values
    R, S = (head.R for head in summed.heads)
    R_1 = summed.pairs.R
    S_1 = summed.pairs.S
    covariance = R @ gained @ S.T
    covariance += np.tensordot(R_1 * W, S[:, None, :] + S_1, axes=([1, 2], [1, 2]))
    covariance += np.tensordot(R[:, :, None] * W, S_1, axes=([1, 2], [1, 2]))
    weights = np.zeros(C.shape[0])
    weights[plan.others] = _bilinear(plan.alone[0].r.T, gained, plan.alone[1].r.T)
    for kept in summed.kept:
        keys = kept.keys
        W_few = on_few_pairs(W, kept.nodes)
        by_both = kept.by_both @ W_few.ravel()
        covariance += (C[keys] * by_both[:, None]).T @ D[keys]
        own = _bilinear(kept.r, on_few_pairs(gained, kept.nodes), kept.r_)
        weights[keys] = own + kept.product @ W_few.ravel()
    error = _left_out(summed, W, table_error)
    return PairMoments(covariance, weights, error), missed


def _bilinear(x: OnNodes, W: OnPairs, y: Float[np.ndarray, "n w"]) -> HostPerKey:
    """x_i' W y_i for each key."""
    return np.sum((x @ W) * y, axis=1)


def _left_out(summed: _Summed, W: OnPairs, table_error: float) -> float:
    """How much the errors of L_i and of its derivatives do, and those of either head alone, for
    values at most 1 from their centre."""
    first, second = summed.heads
    L, by_u, by_w, by_both = summed.pairs.sizes.table
    R = first.r[:, None] + by_u
    S = second.r + by_w
    e, e_by_u, e_by_w, e_by_both = summed.pairs.left_out.table
    terms = e * (R * S + 2 * by_both) + e_by_u * S + e_by_w * R + e_by_both
    everything = L * R * S + by_u * S + by_w * R + by_both
    off = table_error + first.missed_psi[:, None] + second.missed_psi
    alone = first.missed_r[:, None] * (L * S + by_w) + second.missed_r * (L * R + by_u)
    seen = np.exp(np.minimum(e, _LARGEST)) * terms + off * everything + alone
    return float(np.sum(W * np.where(W > 0, seen, 0.0)))
