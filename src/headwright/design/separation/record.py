"""What `reach` found: one verdict per key (or per set), with its witness or its proof made on
demand.

A key with an exact copy can never win alone: copies get equal scores from every query. Copies are
decided as a group; `reachable` is False for each of them, `status` says "shared" when the group can
win, and `groups` has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from headwright import inputs
from headwright.design.proofs.ceiling import ceiling
from headwright.design.proofs.proof import Combination
from headwright.design.separation import figures, hull
from headwright.design.separation.exact_rows import margin
from headwright.design.separation.placed import Placement, combination
from headwright.design.separation.separate import Selectable
from headwright.errors import InputError
from headwright.report import notebook
from headwright.types import Array, Bool, Float, Int, Keys, Query

STATUS = ("reachable", "shared", "unreachable", "undecided")
_REACHABLE, _SHARED, _UNREACHABLE, _ = range(len(STATUS))
_WORDS = {"selectable": "reachable", "unselectable": "unreachable", "undecided": "undecided"}


@dataclass(frozen=True)
class Witness:
    """A query of unit length under which `members` (one key, or a group of copies) beat every other
    key by at least `margin`, checked on all keys against the rounding bound; infinite when there is
    no other key. A query found in rational arithmetic stands in `rational`, as whole numbers in
    text; where float64 has too few digits for it, `margin` is not positive and `query` is only its
    rounding."""

    query: Query
    margin: float
    members: tuple[int, ...]
    rational: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Group:
    """Keys equal in every coordinate. `status` "shared": they can win, together only."""

    keys: tuple[int, ...]
    status: str


@dataclass(frozen=True)
class Inside:
    """Points proven to be inside the hull of others, and how the combination that shows it is made
    when somebody asks."""

    points: Bool[Array, "p"]
    proof: Callable[[int], Combination]


@dataclass(frozen=True)
class PointVerdicts:
    """Verdicts on distinct points, before copies and unused coordinates are put back. Points in
    none of the tables won with the query `k - mean`."""

    mean: Float[Array, "r"]
    queries: dict[int, Float[Array, "r"]] = field(default_factory=dict)
    verdicts: dict[int, Selectable] = field(default_factory=dict)
    inside: Inside | None = None

    def status(self, count: int) -> Int[Array, "p"]:
        """One position in `STATUS` per point."""
        status = np.full(count, _REACHABLE)
        if self.inside is not None:
            status[self.inside.points] = _UNREACHABLE
        for point, found in self.verdicts.items():
            status[point] = STATUS.index(_WORDS[found.status])
        return status

    def proof(self, point: int) -> Combination | None:
        known = self.verdicts.get(point)
        if known is None and self.inside is not None:
            return self.inside.proof(point)
        return None if known is None else known.proof


@dataclass(frozen=True, repr=False)
class Reach:
    """For every key: `reachable` (it can win alone) and `status`: "reachable", "shared" (only
    together with its exact copies), "unreachable" or "undecided". `dimension` is that of the keys'
    affine hull, found with `tolerance` (relative to the size of the keys)."""

    reachable: Bool[Array, "n"]
    status: tuple[str, ...]
    groups: tuple[Group, ...]
    dimension: int
    tolerance: float
    _keys: Keys
    _placement: Placement
    _found: PointVerdicts

    def __repr__(self) -> str:
        others = [
            f"; {count} {word}"
            for word, count in self.counts.items()
            if count and word != "reachable"
        ]
        won = f"{self.count} of {len(self.status)} keys can win alone"
        return f"<Reach: {won}{''.join(others)}; dimension {self.dimension}>"

    def _repr_html_(self) -> str:
        """For a notebook: the keys that cannot win alone, with the most weight they can get."""
        lost = [j for j, word in enumerate(self.status) if word != "reachable"]
        shown = lost[: notebook.MOST_ROWS]
        rows = [(f"key {j}", self.status[j], f"{self.ceiling(j):.4g}") for j in shown]
        header = ("", "status", "weight at most")
        more = len(lost) - len(shown)
        return notebook.cell(repr(self)[1:-1], rows, header=header, more=more)

    def plot(self) -> Any:
        """Keys, margins and ceilings, as a figure of matplotlib."""
        return figures.drawn(self)

    @classmethod
    def of(cls, K: Keys, *, placement: Placement, found: PointVerdicts, resolution: float) -> Reach:
        leads = placement.first == np.arange(len(K))
        point = (np.cumsum(leads) - 1)[placement.first]
        copies = np.bincount(point)
        alone = found.status(len(copies))
        together = np.where(alone == _REACHABLE, _SHARED, alone)
        status = np.where(copies > 1, together, alone)[point]
        words = np.array(STATUS, dtype=object)[status].tolist()

        shared = np.flatnonzero(copies[point] > 1)
        by_point = shared[np.argsort(point[shared], kind="stable")]
        members = by_point.tolist()
        ends = np.cumsum(copies[copies > 1]).tolist()
        groups = [tuple(members[a:b]) for a, b in pairwise([0, *ends])]
        return cls(
            reachable=status == _REACHABLE,
            status=tuple(words),
            groups=tuple(Group(keys, words[keys[0]]) for keys in groups),
            dimension=hull.dimension(K, placement.columns, resolution=resolution),
            tolerance=resolution,
            _keys=K,
            _placement=placement,
            _found=found,
        )

    @property
    def keys(self) -> Keys:
        """The keys that were judged, in float64."""
        return self._keys

    @property
    def count(self) -> int:
        """Keys that can win alone."""
        return int(self.reachable.sum())

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(self.status)
        return {word: found[word] for word in STATUS}

    def witness(self, j: int) -> Witness:
        """A query under which key j (or, if it is shared, its group) beats every other key."""
        j = inputs.index("j", j, len(self.status))
        if self.status[j] not in ("reachable", "shared"):
            raise InputError(
                wanted="a key that some query selects",
                got=f"key {j}: {self.status[j]}",
                attempt=f"proof({j})",
            )
        point, members = self._point(j)
        d = self._keys.shape[1]
        y, digits = self._winning(point, j)
        query = self._placement.lift(y, d)
        alone = len(members) == len(self.status)
        return Witness(
            query=query,
            margin=np.inf if alone else margin(self._keys, members, query),
            members=members,
            rational=None if digits is None else self._placement.lift_digits(digits, d),
        )

    def _winning(self, point: int, j: int) -> tuple[Float[Array, "r"], tuple[str, ...] | None]:
        """A query on the coordinates in use, and its digits if it was found in rationals."""
        if point in self._found.verdicts:
            known = self._found.verdicts[point]
            return np.asarray(known.query), known.rational
        if point in self._found.queries:
            return self._found.queries[point], None
        return self._keys[j, self._placement.columns] - self._found.mean, None

    def proof(self, j: int) -> Combination:
        """Key j as a convex combination of other keys: why no query selects it alone."""
        j = inputs.index("j", j, len(self.status))
        if self.status[j] in ("reachable", "undecided"):
            raise InputError(
                wanted="a key that no query selects",
                got=f"key {j}: {self.status[j]}",
                attempt=f"witness({j})",
            )
        point, members = self._point(j)
        if self.status[j] == "shared":
            others = [i for i in members if i != j]
            weights = np.full(len(others), 1 / len(others))
            found = combination(self._keys, outside=(others, weights), inside=((j,), np.ones(1)))
            return replace(found, exact=found.residual == 0)
        known = self._found.proof(point)
        assert known is not None
        return self._placement.restore(known, self._keys, (j,))

    def ceiling(self, j: int) -> float:
        """The most weight any query can put on key j alone: 1 if it can win, else what its proof
        allows."""
        j = inputs.index("j", j, len(self.status))
        return 1.0 if self.status[j] in ("reachable", "undecided") else ceiling(self.proof(j))

    def _point(self, j: int) -> tuple[int, tuple[int, ...]]:
        first = self._placement.first
        point = int(np.searchsorted(self._placement.distinct, first[j]))
        return point, tuple(np.flatnonzero(first == first[j]).tolist())


@dataclass(frozen=True, repr=False)
class SetReach:
    """For every set asked about: `reachable` (some query gives its keys equal scores above all
    others), `status` and the full verdict."""

    sets: tuple[tuple[int, ...], ...]
    verdicts: tuple[Selectable, ...]

    def __repr__(self) -> str:
        return f"<SetReach: {self.count} of {len(self.sets)} sets can win>"

    @property
    def reachable(self) -> Bool[Array, "m"]:
        return np.array([v.status == "selectable" for v in self.verdicts], dtype=bool)

    @property
    def status(self) -> tuple[str, ...]:
        return tuple(_WORDS[v.status] for v in self.verdicts)

    @property
    def count(self) -> int:
        return int(self.reachable.sum())

    def witness(self, i: int) -> Witness:
        v = self._verdict(i, "selectable", f"proof({i})")
        return Witness(np.asarray(v.query), v.margin, self.sets[i], v.rational)

    def proof(self, i: int) -> Combination:
        found = self._verdict(i, "unselectable", f"witness({i})").proof
        assert found is not None
        return found

    def ceiling(self, i: int) -> float:
        return self.verdicts[inputs.index("i", i, len(self.sets))].ceiling

    def _verdict(self, i: Any, status: str, attempt: str) -> Selectable:
        v = self.verdicts[inputs.index("i", i, len(self.sets))]
        if v.status != status:
            raise InputError(
                wanted=f"a set that is {status}", got=f"set {i}: {v.status}", attempt=attempt
            )
        return v
