"""Which keys can ever win? For every key a query that puts it above all others, or a proof that
none does.

Stages, each settling what it can prove and passing on the rest: copies are grouped and unused
dimensions removed (`hull`), matrix products settle almost all keys (`screens`), a working-set
method the hard ones (`pursuit`), and rational arithmetic those on the boundary
(`separate.verdict`). No stage concludes from its own failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from headwright import inputs
from headwright.design.separation import hull
from headwright.design.separation.placed import Space
from headwright.design.separation.pursuit import Field, Pursuit, pursue
from headwright.design.separation.record import Found, Reach, SetReach
from headwright.design.separation.screens import Frame, Screen
from headwright.design.separation.separate import (
    Selectable,
    everything,
    keys_and_resolution,
    restored,
    set_of_keys,
    verdict,
)
from headwright.errors import InputError
from headwright.types import Float, Keys

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
    """
    K, resolution = keys_and_resolution(K, tolerance)
    report = progress or (lambda done, total: None)
    columns = hull.used_columns(K, resolution=resolution)
    if sets is not None:
        if not isinstance(sets, Iterable) or getattr(sets, "ndim", 1) == 0:
            raise InputError(
                wanted="a list of sets of keys",
                got=inputs.shown(sets),
                attempt="sets=[[0, 1], [2]]",
            )
        members = [set_of_keys(S, len(K)) for S in sets]
        # Keys that are all equal use no coordinate; sets are compared on one all the same.
        space = Space(columns if len(columns) else np.zeros(1, int), np.arange(len(K)))
        field = Field.of(space.points(K), resolution=resolution, seed=seed)
        return _sets(K, members, space, field=field, report=report)
    seen = K if len(columns) == K.shape[1] else np.ascontiguousarray(K[:, columns])
    space = Space(columns, hull.copies(seen))
    found = _keys(space.points(K), resolution=resolution, seed=seed, report=report)
    return Reach.of(K, space=space, found=found, resolution=resolution)


def _keys(
    points: Float[np.ndarray, "p r"], *, resolution: float, seed: int, report: Progress
) -> Found:
    """Verdicts on distinct points, none of whose coordinates is wasted."""
    total = len(points)
    if total == 1:
        report(1, 1)
        return Found(points[0])
    frame = Frame.of(*hull.second_moments(points))
    screen = Screen(points, frame)
    open_keys = screen.self_test()
    report(total - len(open_keys), total)
    won = {int(screen.order[p]): frame.query(y) for p, y in screen.reflections(open_keys).items()}
    hard = [int(j) for j in screen.order[open_keys] if int(j) not in won]
    report(total - len(hard), total)
    del screen  # its copy of the keys is as large as half the keys
    field = Field.of(points, resolution=resolution, seed=seed)
    started = (Pursuit(field, (j,), frame.whitened_query(points[j])) for j in hard)
    verdicts: dict[int, Selectable] = {}
    for pursuit in pursue(started, block=_block(*points.shape)):
        verdicts[pursuit.S[0]] = verdict(pursuit)
        report(total - len(hard) + len(verdicts), total)
    return Found(frame.mean, won, verdicts)


def _block(n: int, d: int) -> int:
    """Pursuits at a time: their working sets (4 d rows of d numbers) and their scores (n numbers)
    may each take half the memory of the keys."""
    return int(np.clip(min(n // (8 * d), d // 2), 4, 128))


def _sets(
    K: Keys, members: Sequence[tuple[int, ...]], space: Space, *, field: Field, report: Progress
) -> SetReach:
    mean, found = field.K.mean(axis=0), {}
    for number, S in enumerate(members):
        if len(S) == len(K):
            found[number] = everything(K.shape[1])
        else:
            pursuit = Pursuit(field, S, field.K[S[0]] - mean)
            found[number] = restored(verdict(next(pursue([pursuit]))), K, space)
        report(number + 1, len(members))
    return SetReach(sets=tuple(members), verdicts=tuple(found[i] for i in range(len(members))))
