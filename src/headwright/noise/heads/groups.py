"""Which keys are summed together, and on which nodes: keys of about the same deviations and weight,
the heaviest on all nodes, the others on few (`few_nodes`).

What few nodes miss is measured on the extreme keys of a group, relative to what their correlations
do. A key may be extreme in both heads, where others are in one: therefore twice as much is stated.
Keys that took no part in the choice of the nodes are measured too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.noise import budget
from headwright.noise.head.nodes import Nodes
from headwright.noise.head.tabulated import Integrand, tabulate_on
from headwright.noise.heads.block import Block, Measure, NodesOfHead, SomeKeys
from headwright.noise.heads.few_nodes import Choice, FewNodes
from headwright.noise.heads.hermite import (
    longest_step,
    points_of_rule,
    table_error,
)
from headwright.noise.heads.pair import TINY, PairLaw, PerHeadOfPair
from headwright.noise.heads.rule import Side, rough_psi
from headwright.noise.heads.sums import BothNodes, KeyTables, on_all_pairs
from headwright.noise.heads.tables import Grids, key_tables
from headwright.types import Float, HostPerKey

# Upper ends of classes of deviations: the rule for g is as fine as the widest logit asks for.
_WIDTHS = (0.5, 1.0, 2.0)
# Narrower logits, whose tables are full of rounding, are apart by a factor of so much.
_NARROW = 2.0**-6
_NARROWER = 8.0
_FIRST = 32  # keys of the first group of a class, on all nodes
_GROWTH = 3  # how much larger the next group is
_OTHERS = 4  # keys of a group that are measured without being extreme
_TABLES = 1 << 17  # entries of the tables of one block: they stay in cache
# Few nodes are tried for these errors, relative to a key, of the functions they are chosen for.
_LOOSEST = 1e-6
_TIGHTEST = 1e-12
_TIGHTER = 0.1
_BOTH = 2.0  # a key may be extreme in both heads


@dataclass(frozen=True)
class Missed:
    """What few nodes miss of psi and r of either head (for each unit of E[alpha]), and of the
    tables of L (for each unit of effect)."""

    psi: tuple[NodesOfHead, NodesOfHead]
    r: tuple[NodesOfHead, NodesOfHead]
    tables: Float[np.ndarray, "4 u w"]

    def seen(self, measure: Measure, effect: float) -> float:
        """In the covariance, all keys of a group together having this effect: of L itself, and of
        Psi, which multiplies all there is."""
        densities = zip(self.psi, measure.slope, strict=True)
        of_psi = sum(float(psi @ density) for psi, density in densities)
        return effect * (measure.of_tables(self.tables) + of_psi)


@dataclass(frozen=True)
class Group:
    """Some keys on few nodes; `missed` is None where these are all nodes. The rule for g has points
    no further apart than `longest`."""

    keys: SomeKeys
    longest: float
    nodes: BothNodes
    missed: Missed | None

    @property
    def pairs(self) -> int:
        """Of nodes."""
        return self.nodes[0].count * self.nodes[1].count

    @property
    def bytes(self) -> int:
        """That are kept of it."""
        return 16 * self.keys.size * (self.pairs + sum(one.count for one in self.nodes))

    def grids(self, whole: Grids) -> Grids:
        """Its nodes."""
        return self.nodes[0].of(whole[0]), self.nodes[1].of(whole[1])

    def measure(self, whole: Measure, *, of_bounds: bool = False) -> Measure:
        """On its nodes; of bounds, which need not be smooth, so that they stay bounds."""
        a, b = (few.absolute if of_bounds else few for few in self.nodes)
        value = (a.gathered(whole.value[0]), b.gathered(whole.value[1]))
        slope = (a.gathered(whole.slope[0]), b.gathered(whole.slope[1]))
        return Measure(value, slope)

    def blocks(self, law: PairLaw) -> list[SomeKeys]:
        """Keys whose tables stay in cache."""
        points = points_of_rule(float(law.s[:, self.keys].max()), self.longest)
        each = max(self.pairs, points * max(one.count for one in self.nodes))
        return np.array_split(self.keys, -(-self.keys.size * each // _TABLES))


@dataclass(frozen=True)
class Plan:
    """Groups of keys, and the others, which do not correlate the heads (`alone`) or have no series;
    `share` is what the right end of the rule may miss."""

    sides: tuple[Side, Side]
    groups: list[Group]
    measure: Measure
    others: SomeKeys
    alone: tuple[Integrand, Integrand]
    share: float

    @property
    def size(self) -> int:
        """Bytes that are kept of all groups."""
        return sum(group.bytes for group in self.groups)

    def table_error(self, law: PairLaw) -> float:
        """The relative error of the tables of one logit, of the worst group."""
        widest = (float(law.s[:, group.keys].max()) for group in self.groups)
        errors = map(table_error, (group.longest for group in self.groups), widest)
        return max(errors, default=0.0)

    @property
    def grids(self) -> Grids:
        return self.sides[0].nodes, self.sides[1].nodes


def planned(
    law: PairLaw,
    keys: SomeKeys,
    both: tuple[Side, Side],
    *,
    norms: PerHeadOfPair,
    share: float,
) -> Plan:
    """Which keys are summed on which nodes; `norms` are E[alpha^2]^(1/2)."""
    groups = _grouped(law, keys, norms)
    alone = np.ones(law.c.size, dtype=bool)
    alone[keys] = False
    others = np.flatnonzero(alone)
    cut = []
    known = []
    density = []
    seen = []
    for side, m, s in zip(both, law.m, law.s, strict=True):
        rough, r = rough_psi(m, s, groups, side.nodes.u)
        one = _others(m[others], s[others], side.nodes)
        rough += one.total
        nodes = side.enough(rough, share / 4)
        end = nodes.nodes.u.size
        cut.append(nodes)
        known.append(Integrand(nodes.nodes, one.total[:end], one.r[:end]))
        slope = nodes.nodes.weight * np.exp(rough[:end])
        density.append(slope)
        seen.append(slope * (r + one.r.sum(axis=1))[:end])
    measure = Measure((seen[0], seen[1]), (density[0], density[1]))

    grids = (cut[0].nodes, cut[1].nodes)
    wanted = _Wanted.of(law, norms, len(groups))
    placed = [_on_few_nodes(law, keys, grids, measure, wanted=wanted) for keys in groups]
    return Plan((cut[0], cut[1]), placed, measure, others, (known[0], known[1]), share)


@dataclass(frozen=True)
class _Wanted:
    """How good things have to be: `tables` and few `nodes` relative to what all correlations do,
    the `share` of the error that one group may have; `norms` are E[alpha^2]^(1/2)."""

    tables: float
    nodes: float
    share: float
    norms: PerHeadOfPair

    @staticmethod
    def of(law: PairLaw, norms: PerHeadOfPair, groups: int) -> _Wanted:
        # |E[dc/dz_i dc'/dz'_i]| <= 4 ||alpha_i|| ||alpha'_i||
        effect = max(4 * float(np.abs(law.c) @ norms.prod(axis=0)), TINY)
        share = budget.PAIR_NODES / max(groups, 1)
        tolerance = min(_LOOSEST, budget.PAIR_NODES / effect)
        return _Wanted(budget.PAIR_TABLES / effect, tolerance, share, norms)


def _others(m: HostPerKey, s: HostPerKey, grid: Nodes) -> Integrand:
    """The keys that do not correlate the heads."""
    if m.size:
        return tabulate_on(grid, m, s)
    return Integrand(grid, np.zeros(grid.u.size), np.zeros((grid.u.size, 0)))


def _grouped(law: PairLaw, keys: SomeKeys, norms: PerHeadOfPair) -> list[SomeKeys]:
    """Keys of one class of deviations, by their weights: `norms` are E[alpha^2]^(1/2)."""
    widest = np.searchsorted(_WIDTHS, law.s[:, keys].max(axis=0))
    narrowest = np.minimum(law.s[:, keys].min(axis=0), _NARROW)
    narrow = np.ceil(np.log(narrowest / _NARROW) / np.log(_NARROWER))
    heaviest = norms[:, keys].max(axis=0)
    ranks = np.lexsort((-heaviest, narrow, widest))
    order = keys[ranks]
    classes = np.stack([widest, narrow])[:, ranks]
    changes = np.any(np.diff(classes, axis=1) != 0, axis=0)
    groups = []
    for alike in np.split(order, np.flatnonzero(changes) + 1) if keys.size else []:
        ends = np.cumsum(_FIRST * _GROWTH ** np.arange(32))
        groups += np.split(alike, ends[ends < alike.size])
    return groups


def _on_few_nodes(
    law: PairLaw, keys: SomeKeys, grids: Grids, measure: Measure, *, wanted: _Wanted
) -> Group:
    """The nodes of a group: as few as do."""
    longest = longest_step(float(law.s[:, keys].max()), wanted.tables)
    everywhere = (FewNodes.all(grids[0].u.size), FewNodes.all(grids[1].u.size))
    if keys.size <= _FIRST:
        return Group(keys, longest, everywhere, None)
    extreme = _extreme(law, keys)
    between = np.setdiff1d(keys[:: -(-keys.size // _OTHERS)], extreme)
    u = (grids[0].u, grids[1].u)
    some = Block.of(law, np.concatenate([extreme, between]), u, longest=longest)
    measured = _Measured.of(some, measure, wanted.nodes)
    weights = [a + b for a, b in zip(measure.value, measure.slope, strict=True)]
    choices = [
        Choice.of(one, extreme.size, seen) for one, seen in zip(some.heads, weights, strict=True)
    ]
    effect = 4 * float(np.abs(law.c[keys]) @ wanted.norms[:, keys].prod(axis=0))
    tolerance = _LOOSEST
    while tolerance > _TIGHTEST:
        a, b = (choice.nodes(tolerance) for choice in choices)
        if a.is_all and b.is_all:
            break
        missed = measured.missed((a, b), measure)
        if missed.seen(measure, effect) <= wanted.share:
            return Group(keys, longest, (a, b), missed)
        tolerance *= _TIGHTER
    return Group(keys, longest, everywhere, None)


def _extreme(law: PairLaw, keys: SomeKeys) -> SomeKeys:
    """The heaviest and lightest, widest and narrowest keys of either head, and the most
    correlated."""
    chosen = []
    for m, s in zip(law.m[:, keys], law.s[:, keys], strict=True):
        raised = m + s * s / 2
        chosen += [m.argmax(), m.argmin(), raised.argmax(), s.argmax(), s.argmin()]
    correlation = law.c[keys] / law.s[:, keys].prod(axis=0)
    chosen += [correlation.argmax(), correlation.argmin()]
    return np.unique(keys[chosen])


@dataclass(frozen=True)
class _Measured:
    """Some keys on all nodes, their tables, and what their correlations do."""

    block: Block
    tables: KeyTables
    effect: HostPerKey

    @staticmethod
    def of(block: Block, measure: Measure, tolerance: float) -> _Measured:
        """Tables as good as the tolerance, relative to the effect."""
        effect = np.maximum(block.effect(measure), TINY)
        share = tolerance * float(effect.sum())
        tables, _ = key_tables(block, block.expanded(measure, share), share=share)
        return _Measured(block, tables, effect)

    def missed(self, nodes: BothNodes, measure: Measure) -> Missed:
        """On few nodes."""
        psi = []
        r = []
        for one, few, density in zip(self.block.heads, nodes, measure.slope, strict=True):
            weight = np.maximum(one.logit.r @ density, TINY)[:, None]
            for table, into in ((one.logit.psi, psi), (one.logit.r, r)):
                off = np.abs(table - few.on_all(table[:, few.places]))
                into.append(_BOTH * np.max(off / weight, axis=0))
        pairs = np.ix_(nodes[0].places, nodes[1].places)
        largest = []
        for table in self.tables:
            off = table - on_all_pairs(table[:, *pairs], nodes)
            largest.append(_BOTH * np.max(np.abs(off) / self.effect[:, None, None], axis=0))
        return Missed((psi[0], psi[1]), (r[0], r[1]), np.stack(largest))
