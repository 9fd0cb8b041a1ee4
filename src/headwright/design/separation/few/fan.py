"""In few dimensions qhull finds the hull of all keys faster than anything here decides one key. Its
answer is taken as a guess and proven, all keys at once; what cannot be proven is left open.

Inside: the facets and an apex within the hull make a fan of simplices. If they leave no gap, points
clearly behind all facets are inside (`cover`). Others are looked for in the simplex of the facet
they seem to lie behind, and where that is not theirs, in its neighbours (`simplices`); on a facet
whole numbers decide, or rounding (`on_facets`). Outside: corners, which have to win (`corners`).
"""

from __future__ import annotations

import numpy as np

from headwright.design.separation.few import corners as at_corners
from headwright.design.separation.few.cover import Cover, covering
from headwright.design.separation.few.facets import Facets, hull_of, without_flat
from headwright.design.separation.few.on_facets import Grid, distance_to
from headwright.design.separation.few.simplices import ABOVE, Apex, coordinates
from headwright.types import Array, Float, Int, Query

# Facets per corner of random keys on a sphere. Hulls with more of them grow like n^(d/2), and from
# d = 7 on all hulls have too many: at d = 8 qhull takes 20 s for a thousand keys.
_FACETS_PER_CORNER = {1: 1, 2: 1, 3: 2, 4: 7, 5: 30, 6: 150}
# Up to here facets cannot outnumber the keys by much, and qhull runs to its end at once.
_HARMLESS = 3
# Elsewhere it is stopped after this many corners, looked at, and run again with four times as many.
_FIRST_CORNERS = 64
_GROWTH = 4
# Facets that qhull makes in the time that `pursuit` takes for one key, and for one that lies on a
# facet, where rational arithmetic decides; and in a gigabyte.
_FACETS_PER_KEY = 50
_FACETS_PER_EXACT_KEY = 500
_MOST_FACETS = 1_000_000
# From this share of facets in one plane with a neighbour on, simplices without flat ones are worth
# a second hull.
_DIVIDED = 1 / 16
# Walls that a point may cross on the way to its simplex.
_MOST_STEPS = 32
_AT_ONCE = 1 << 20  # numbers in a block of products


class Fan:
    """What qhull said about points and was proven. `open` are the points not proven to be inside,
    `rounded` those of the others that are only within rounding of it; `complete` says that the hull
    seen last is that of all points."""

    def __init__(self, points: Float[Array, "n d"], *, rounding: Float[Array, "n"]) -> None:
        """Distances from a point up to its `rounding` do not count."""
        n, d = points.shape
        self.open = np.ones(n, bool)
        self.rounded = np.zeros(n, bool)
        self.complete = False
        self.noise = float(rounding.max())
        self.usable = d in _FACETS_PER_CORNER and n > d + 1
        if not self.usable:
            return
        self.points = points
        self.rounding = rounding
        columns = np.array(points.T, order="C")  # a copy, along which NumPy is faster than across
        columns -= columns.mean(axis=1, keepdims=True)
        # Powers of two: exact, and no coordinate counts less for being small.
        largest = np.maximum(columns.max(axis=1), -columns.min(axis=1))
        self.scale = np.ldexp(1.0, -np.frexp(np.where(largest > 0, largest, 1.0))[1])
        self.X = np.ascontiguousarray((columns * self.scale[:, None]).T)
        self.size = float(np.sqrt(np.einsum("nd,nd->n", self.X, self.X).max())) * ABOVE
        self.grid = Grid.of(points)
        self.apex: Apex | None = None
        self.covers: list[Cover] = []
        # Of points that were proven inside: their cover, or their simplex with coordinates.
        self.cover = np.full(n, -1, np.int8)
        self.simplex = np.zeros((n, d), np.int32)
        self.shares = np.zeros((n, d + 1))
        self._unfold(None if d <= _HARMLESS else _FIRST_CORNERS)

    def finish(self, left: Int[Array, "left"]) -> None:
        """Unfold further while that is cheaper than to pursue the points that are left."""
        most_corners = _FIRST_CORNERS
        while self.usable and not self.complete:
            each = _FACETS_PER_EXACT_KEY if self._in_planes() else _FACETS_PER_KEY
            waiting = int(self.open[left].sum())
            if self._next_facets() > min(waiting * each, _MOST_FACETS):
                return
            most_corners *= _GROWTH
            self._unfold(most_corners)

    def _next_facets(self) -> int:
        count, d = self.facets.corners.shape
        harmless = count <= _FACETS_PER_CORNER[d] * len(np.unique(self.facets.corners))
        return count * (_GROWTH if harmless else _GROWTH ** (d // 2))

    def _in_planes(self) -> bool:
        """Do many keys lie in one plane, so that qhull had to divide facets?"""
        return bool(self.facets.divided().mean() >= _DIVIDED)

    def _unfold(self, most_corners: int | None) -> None:
        """Ask qhull for the hull of the open points, and prove what lies inside."""
        open_points = np.flatnonzero(self.open)
        facets = hull_of(self.X, open_points, most_corners)
        if facets is None:
            self.usable = False
            return
        self.facets = facets
        if self.apex is None:
            named = np.unique(facets.corners)
            self.apex = Apex.within(self.X, size=self.size, corners=named)
        fan = self._without_flat(self.apex)
        asked = np.setdiff1d(open_points, np.unique(fan.corners), assume_unique=True)
        asked = self._uncovered(self.apex, fan, asked)
        facet, height = _located(self.apex, fan, asked)
        stopped = most_corners is not None and most_corners < len(open_points)
        self.complete = not (stopped and (height > ABOVE).any())
        self._prove(self.apex, fan, asked, facet)

    def _without_flat(self, apex: Apex) -> Facets:
        """The facets; or, where many were cut out of larger ones, simplices over the corners that
        win among them."""
        facets = self.facets
        if not self._in_planes():
            return facets
        named = np.unique(facets.corners)
        won, _ = self._won(named, among=named)
        return without_flat(self.X, named[won], apex.point) or facets

    def _uncovered(self, apex: Apex, fan: Facets, asked: Int[Array, "a"]) -> Int[Array, "u"]:
        """Prove what lies clearly behind all facets, if they are few and leave no gap. The rest."""
        cover = covering(apex, fan) if len(fan.corners) <= len(asked) else None
        if cover is None:
            return asked
        inside = cover.holds(asked)
        self.open[asked[inside]] = False
        self.cover[asked[inside]] = len(self.covers)
        self.covers.append(cover)
        return asked[~inside]

    def _prove(
        self, apex: Apex, fan: Facets, asked: Int[Array, "a"], facet: Int[Array, "a"]
    ) -> None:
        """Mark the points that certainly lie in the simplex of their facet, or on the facet. Others
        walk across the wall they are behind; facets in one plane look alike from afar."""
        lot = np.random.default_rng(0)
        for _ in range(_MOST_STEPS):
            used, which = np.unique(facet, return_inverse=True)
            corners = fan.corners[used]
            lam, error = coordinates(apex, asked, corners, which)
            room = 1 - lam.sum(axis=1)
            lowest = lam.min(axis=1)
            edge = lam.shape[1] * error
            inside = (lowest > error) & (room > edge)
            self._mark(asked[inside], corners[which[inside]], lam[inside], room[inside])

            at = np.flatnonzero((lowest >= -error) & (np.abs(room) <= edge))
            exact = self.grid.combined(asked[at], corners, which[at], lam[at])
            on = exact.any(axis=1)
            self._mark(asked[at[on]], corners[which[at[on]]], exact[on], np.zeros(on.sum()))
            self._mark_rounded(asked[at[~on]], corners[which[at[~on]]], lam[at[~on]])
            # In a flat simplex coordinates say nothing; any wall leads out of it.
            behind = np.flatnonzero((lowest < -error) | np.isinf(error))
            if len(behind) == 0:
                return
            asked = asked[behind]
            # By lot, so that no point walks in a circle.
            wall = (lam[behind] * lot.random((len(behind), lam.shape[1]))).argmin(axis=1)
            facet = fan.neighbours[facet[behind], wall]

    def _mark(
        self,
        points: Int[Array, "a"],
        corners: Int[Array, "a d"],
        lam: Float[Array, "a d"],
        room: Float[Array, "a"],
    ) -> None:
        self.open[points] = False
        self.simplex[points] = corners
        self.shares[points, :-1] = lam
        self.shares[points, -1] = room

    def _mark_rounded(
        self, points: Int[Array, "a"], corners: Int[Array, "a d"], lam: Float[Array, "a d"]
    ) -> None:
        """The points within rounding of their facet."""
        if self.noise == 0 or len(points) == 0:
            return
        weights = np.maximum(lam, 0.0)
        allowed = np.maximum(self.rounding[points], self.rounding[corners].max(axis=1))
        near = distance_to(self.points, points, corners, weights) <= allowed
        self._mark(points[near], corners[near], weights[near], np.zeros(near.sum()))
        self.rounded[points[near]] = True

    def winners(self) -> dict[int, Query]:
        """Queries on the points under which corners of the hull beat all other points, by more than
        rounding of any kind."""
        corners = np.unique(self.facets.corners)
        won, queries = self._won(corners, among=np.arange(len(self.X)))
        return dict(zip(corners[won].tolist(), queries[won] * self.scale, strict=True))

    def _won(
        self, corners: Int[Array, "c"], *, among: Int[Array, "m"]
    ) -> tuple[Int[Array, "w"], Float[Array, "c d"]]:
        """Positions of the corners that beat all others among some points (themselves included),
        and all queries."""
        queries = at_corners.normal_sums(self.facets, corners)
        in_keys = queries * self.scale
        noise = self.noise * np.sqrt(np.einsum("cd,cd->c", in_keys, in_keys)) * ABOVE
        places = np.searchsorted(among, corners)
        return at_corners.wins(self.X[among], corners=places, queries=queries, noise=noise), queries

    def combination(self, point: int) -> tuple[list[int], Float[Array, "r"]]:
        """A point proven inside as a convex combination of others: their numbers, and weights."""
        assert self.apex is not None
        if self.cover[point] >= 0:
            corners, lam = self.covers[self.cover[point]].simplex(point)
            on_apex = max(1 - lam.sum(), 0.0)
        else:
            corners = self.simplex[point]
            *lam, on_apex = self.shares[point]
        weights = np.zeros(len(self.X))
        weights[self.apex.corners] = self.apex.weights * on_apex
        weights[corners] += lam
        # A corner of the first hull may be the apex's and yet lie inside the last one.
        weights[point] = 0
        rows = np.flatnonzero(weights)
        return rows.tolist(), weights[rows] / weights[rows].sum()


def _located(
    apex: Apex, fan: Facets, asked: Int[Array, "a"]
) -> tuple[Int[Array, "a"], Float[Array, "a"]]:
    """The facet behind which each point lies as seen from the apex, and how far out: 1 is on the
    facet. In float32: only a guess."""
    heights = -(fan.normals @ apex.point + fan.offsets)
    # An apex on a facet cannot see what lies behind it.
    seen = np.where(heights > 0, heights, np.inf)
    Y = (fan.normals / seen[:, None]).astype(np.float32).T
    X = apex.seen(asked).astype(np.float32)
    facet = np.zeros(len(asked), int)
    height = np.zeros(len(asked))
    step = max(1, _AT_ONCE // Y.shape[1])
    for first in range(0, len(asked), step):
        products = X[first : first + step] @ Y
        top = products.argmax(axis=1)
        facet[first : first + step] = top
        height[first : first + step] = products[np.arange(len(top)), top]
    return facet, height
