"""Which keys can ever win? For every key a query that puts it above all others, or a proof that
none does.

Stages, each settling what it can prove and passing on the rest: copies are grouped and unused
dimensions removed (`hull`), qhull's facets settle almost all keys in few dimensions (`few`) and
matrix products in many (`screens`), a working-set method the hard ones (`pursuit`), and rational
arithmetic those on the boundary (`separate.verdict`). No stage concludes from its own failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from headwright import inputs
from headwright.design.proofs.proof import Combination
from headwright.design.separation import hull
from headwright.design.separation.few.fan import Fan
from headwright.design.separation.placed import Placement, combination
from headwright.design.separation.pursuit import KeyTable, Pursuit, pursue
from headwright.design.separation.record import Inside, PointVerdicts, Reach, SetReach
from headwright.design.separation.screens import PrincipalAxes, Screen
from headwright.design.separation.separate import (
    Selectable,
    everything,
    keys_and_resolution,
    restored,
    set_of_keys,
    verdict,
)
from headwright.errors import InputError
from headwright.types import Array, Float, Keys, Query

Progress = Callable[[int, int], None]


def reach(
    K: Any,
    *,
    sets: Iterable[Any] | None = None,
    tolerance: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reach | SetReach:
    """Decide for every key of `K` (n, d), or for every set of keys in `sets`, whether some query
    makes it win.

    Distances below `tolerance` times the size of the keys count as rounding, not as geometry
    (default: 8 units of the dtype's rounding; 0 judges the numbers as stored). `seed` draws working
    sets and never changes a verdict. `progress(done, total)` is called as keys are decided.

    >>> hw.design.reach([[1, 0], [0, 1], [-1, -1], [0, 0]]).reachable
    array([ True,  True,  True, False])
    """
    K, resolution = keys_and_resolution(K, tolerance)
    report = progress or (lambda done, total: None)
    columns = hull.used_columns(K, resolution=resolution)
    rounding = resolution * np.sqrt(np.einsum("nd,nd->n", K, K))
    if sets is not None:
        members = _members(sets, len(K))
        # Keys that are all equal use no coordinate; sets are compared on one all the same.
        used = columns if len(columns) else np.zeros(1, int)
        placement = Placement(used, np.arange(len(K)))
        table = KeyTable.of(placement.points(K), rounding=rounding, seed=seed)
        return _sets(K, members, placement, table=table, report=report)

    seen = K if len(columns) == K.shape[1] else np.ascontiguousarray(K[:, columns])
    placement = Placement(columns, hull.copies(seen))
    at_points = rounding[placement.distinct]
    found = _keys(placement.points(K), rounding=at_points, seed=seed, report=report)
    return Reach.of(K, placement=placement, found=found, resolution=resolution)


def _members(sets: Any, n: int) -> list[tuple[int, ...]]:
    if not isinstance(sets, Iterable) or getattr(sets, "ndim", 1) == 0:
        raise InputError(
            wanted="a list of sets of keys",
            got=inputs.shown(sets),
            attempt="sets=[[0, 1], [2]]",
        )
    return [set_of_keys(S, n) for S in sets]


def _keys(
    points: Float[Array, "p r"], *, rounding: Float[Array, "p"], seed: int, report: Progress
) -> PointVerdicts:
    """Verdicts on distinct points, none of whose coordinates is wasted, with the distance from each
    that counts as rounding."""
    total = len(points)
    if total == 1:
        report(1, 1)
        return PointVerdicts(points[0])
    fan = Fan(points, rounding=rounding)
    report(total - int(fan.open.sum()), total)
    axes = PrincipalAxes.of(*hull.second_moments(points))
    won, hard = _screened(points, axes, fan, report)
    pursuits = _Pursuits(points, rounding, seed, axes)
    verdicts: dict[int, Selectable] = {}
    for pursuit in pursue(pursuits.of(hard), block=_block(*points.shape)):
        verdicts[pursuit.S[0]] = verdict(pursuit)
        report(total - len(hard) + len(verdicts), total)
    if fan.open.all():
        return PointVerdicts(axes.mean, won, verdicts)
    inside = Inside(~fan.open, partial(_proof, fan, pursuits))
    return PointVerdicts(axes.mean, won, verdicts, inside)


@dataclass(frozen=True)
class _Pursuits:
    """How a pursuit of one point begins; the table that all share is made for the first."""

    points: Float[Array, "p r"]
    rounding: Float[Array, "p"]
    seed: int
    axes: PrincipalAxes

    @cached_property
    def table(self) -> KeyTable:
        return KeyTable.of(self.points, rounding=self.rounding, seed=self.seed)

    def of(self, points: Iterable[int]) -> Iterator[Pursuit]:
        return (Pursuit(self.table, (j,), self.axes.whitened_query(self.points[j])) for j in points)


def _proof(fan: Fan, pursuits: _Pursuits, point: int) -> Combination:
    """Of a point that the fan proved to be inside: a pursuit spreads the weight over more keys,
    which makes a sharper ceiling; what the fan found is there if it fails."""
    pursuit = next(pursue(pursuits.of([point])))
    found = verdict(pursuit).proof
    if found is not None and (found.exact or fan.rounded[point]):
        return found
    points = pursuits.points
    proof = combination(points, outside=fan.combination(point), inside=((point,), np.ones(1)))
    return replace(proof, exact=not fan.rounded[point])


def _screened(
    points: Float[Array, "p r"], axes: PrincipalAxes, fan: Fan, report: Progress
) -> tuple[dict[int, Query], list[int]]:
    """Queries of points that won with another one than `k - mean`, and the points that no screen
    settled. The screen's copy of the keys, half as large as they are, ends with this function."""
    total = len(points)
    if fan.complete:
        won = fan.winners()
        hard = [int(j) for j in np.flatnonzero(fan.open) if int(j) not in won]
        report(total - len(hard), total)
        return won, hard

    screen = Screen(points, axes, noise=fan.noise)
    left = screen.self_test(fan.open)
    report(total - len(left), total)
    fan.finish(screen.order[left])
    won = fan.winners() if fan.complete else {}
    left = np.array([p for p in left if fan.open[j := screen.order[p]] and j not in won], int)
    report(total - len(left), total)
    won |= {int(screen.order[p]): axes.query(y) for p, y in screen.reflections(left).items()}
    hard = [int(j) for j in screen.order[left] if int(j) not in won]
    report(total - len(hard), total)
    return won, hard


def _block(n: int, d: int) -> int:
    """Pursuits at a time: their working sets (4 d rows of d numbers) and their scores (n numbers)
    may each take half the memory of the keys."""
    return int(np.clip(min(n // (8 * d), d // 2), 4, 128))


def _sets(
    K: Keys,
    members: Sequence[tuple[int, ...]],
    placement: Placement,
    *,
    table: KeyTable,
    report: Progress,
) -> SetReach:
    mean = table.K.mean(axis=0)
    verdicts = []
    for S in members:
        if len(S) == len(K):
            found = everything(K.shape[1])
        else:
            pursuit = next(pursue([Pursuit(table, S, table.K[S[0]] - mean)]))
            found = restored(verdict(pursuit), K, placement)
        verdicts.append(found)
        report(len(verdicts), len(members))
    return SetReach(sets=tuple(members), verdicts=tuple(verdicts))
