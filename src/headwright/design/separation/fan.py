"""In few dimensions qhull finds the hull of all keys faster than anything here decides one key. Its
answer is taken as a guess and proven, all keys at once; what cannot be proven is left open.

Inside: the facets (d corners each) and an apex c within the hull make a fan of simplices. A key x
lies in that of the facet with the largest `y . (x - c)`, where `y . (v - c) = 1` on its corners v,
and the proof is

    x - c = sum_i lam_i (v_i - c),   lam_i > 0,   sum lam_i < 1,

with coordinates that clear the largest error of their computation. The apex is a combination of
corners with uneven weights, so that few keys of a lattice lie between two simplices; those on a
facet, where sum lam_i = 1, are decided in whole numbers if they have few digits.

Corners: the sum of the unit normals of its facets is a query, which has to win on all keys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from headwright.design.proofs.float_bounds import gamma
from headwright.design.separation.exact_rows import Grid
from headwright.types import Array, Float, Int, Keys, Query

# Facets per corner of random keys on a sphere. Hulls with more of them grow like n^(d/2), and from
# d = 7 on all hulls have too many: at d = 8 qhull takes 20 s for a thousand keys.
_FACETS_PER_CORNER = {1: 1, 2: 1, 3: 2, 4: 7, 5: 30, 6: 150}
# Up to here facets cannot outnumber the keys by much, and qhull runs to its end at once.
_HARMLESS = 3
# Elsewhere it is stopped after this many corners, looked at, and run again with four times as many.
_FIRST_CORNERS = 64
_GROWTH = 4
# Facets that qhull makes in the time that `pursuit` takes for one key; and in a gigabyte.
_FACETS_PER_KEY = 50
_MOST_FACETS = 1_000_000
# Walls that a point may cross on the way to its simplex.
_MOST_STEPS = 32
# Corners whose combination is the apex: enough for it to lie well inside.
_APEX_CORNERS = 64
# Keys in a neighbourhood, and pairs of query and key that are not worth dividing into them.
_NEIGHBOURS = 64
_FEW_PAIRS = 1 << 22
_AT_ONCE = 1 << 20  # numbers in a block of products
_BLUR = 1e-9  # of the size of the points: far above rounding, added to the radius of a part
_ABOVE = 1 + 1e-6  # room for the rounding of a norm or of a bound itself


@dataclass(frozen=True)
class Facets:
    """Of a hull: the keys at their `corners`, and planes `normals . x + offsets = 0` with the hull
    on the negative side. `neighbours[f, i]` is the facet across from corner i."""

    corners: Int[Array, "f d"]
    neighbours: Int[Array, "f d"]
    normals: Float[Array, "f d"]
    offsets: Float[Array, "f"]


class Fan:
    """What qhull said about points and was proven. `open` are the points not proven to be inside,
    `complete` says that the hull seen last is that of all points."""

    def __init__(self, points: Float[Array, "n d"], *, resolution: float) -> None:
        n, d = points.shape
        self.open = np.ones(n, bool)
        self.complete = False
        self.usable = d in _FACETS_PER_CORNER and n > d + 1
        if not self.usable:
            return
        X = points - points.mean(axis=0)
        # Powers of two: exact, and no coordinate counts less for being small.
        largest = np.abs(X).max(axis=0)
        self.scale = np.ldexp(1.0, -np.frexp(np.where(largest > 0, largest, 1.0))[1])
        self.X = X * self.scale
        self.size = float(np.linalg.norm(self.X, axis=1).max()) * _ABOVE
        self.noise = resolution * float(np.linalg.norm(points, axis=1).max()) * _ABOVE
        self.grid = Grid.of(points)
        self.simplex = np.zeros((n, d), np.int32)
        self.shares = np.zeros((n, d + 1))
        self._unfold(None if d <= _HARMLESS else _FIRST_CORNERS)

    def finish(self, left: Int[Array, "left"]) -> None:
        """Unfold further while that is cheaper than to pursue the points that are left."""
        corners = _FIRST_CORNERS
        while self.usable and not self.complete:
            waiting = int(self.open[left].sum())
            if self._next_facets() > min(waiting * _FACETS_PER_KEY, _MOST_FACETS):
                return
            corners *= _GROWTH
            self._unfold(corners)

    def _next_facets(self) -> int:
        count, d = self.facets.corners.shape
        harmless = count <= _FACETS_PER_CORNER[d] * len(np.unique(self.facets.corners))
        return count * (_GROWTH if harmless else _GROWTH ** (d // 2))

    def _unfold(self, most_corners: int | None) -> None:
        """Ask qhull for the hull of the open points, and prove what lies inside."""
        open_points = np.flatnonzero(self.open)
        facets = _facets(self.X, open_points, most_corners)
        if facets is None:
            self.usable = False
            return
        self.facets = facets
        corners = np.unique(facets.corners)
        if most_corners is None or most_corners == _FIRST_CORNERS:
            self._choose_apex(corners)
        asked = np.setdiff1d(open_points, corners, assume_unique=True)
        facet, height = self._located(asked)
        stopped = most_corners is not None and most_corners < len(open_points)
        self.complete = not (stopped and (height > _ABOVE).any())
        self._prove(asked, facet)

    def _choose_apex(self, corners: Int[Array, "v"]) -> None:
        some = np.linspace(0, len(corners) - 1, min(len(corners), _APEX_CORNERS))
        self.apex_corners = corners[some.astype(int)]
        weights = np.random.default_rng(0).uniform(0.5, 1.5, len(some))
        self.apex_weights = weights / weights.sum()
        self.apex = self.apex_weights @ self.X[self.apex_corners]

    def _located(self, asked: Int[Array, "a"]) -> tuple[Int[Array, "a"], Float[Array, "a"]]:
        """The facet behind which each point lies as seen from the apex, and how far out: 1 is on
        the facet. In float32: only a guess."""
        heights = -(self.facets.normals @ self.apex + self.facets.offsets)
        # An apex on a facet cannot see what lies behind it.
        seen = np.where(heights > 0, heights, np.inf)
        Y = (self.facets.normals / seen[:, None]).astype(np.float32).T
        X = (self.X[asked] - self.apex).astype(np.float32)
        facet = np.zeros(len(asked), int)
        height = np.zeros(len(asked))
        step = max(1, _AT_ONCE // Y.shape[1])
        for first in range(0, len(asked), step):
            products = X[first : first + step] @ Y
            top = products.argmax(axis=1)
            facet[first : first + step] = top
            height[first : first + step] = products[np.arange(len(top)), top]
        return facet, height

    def _prove(self, asked: Int[Array, "a"], facet: Int[Array, "a"]) -> None:
        """Mark the points that certainly lie in the simplex of their facet, or exactly on the
        facet. Others walk across the wall they are behind; facets in one plane look alike from
        afar."""
        lot = np.random.default_rng(0)
        for _ in range(_MOST_STEPS):
            lam, error = self._coordinates(asked, facet)
            room = 1 - lam.sum(axis=1)
            lowest = lam.min(axis=1)
            edge = lam.shape[1] * error
            inside = (lowest > error) & (room > edge)
            shares = np.column_stack([lam, room])
            corners = self.facets.corners[facet]
            on_facet = np.flatnonzero((lowest >= -error) & (np.abs(room) <= edge))
            exact = self.grid.combined(asked[on_facet], corners[on_facet], lam[on_facet])
            inside[on_facet] = exact.any(axis=1)
            shares[on_facet, :-1] = exact
            shares[on_facet, -1] = 0.0

            proven = asked[inside]
            self.open[proven] = False
            self.simplex[proven] = corners[inside]
            self.shares[proven] = shares[inside]
            # In a flat simplex coordinates say nothing; any wall leads out of it.
            behind = np.flatnonzero((lowest < -error) | np.isinf(error))
            if len(behind) == 0:
                return
            asked = asked[behind]
            # By lot, so that no point walks in a circle.
            wall = (lam[behind] * lot.random((len(behind), lam.shape[1]))).argmin(axis=1)
            facet = self.facets.neighbours[facet[behind], wall]

    def _coordinates(
        self, asked: Int[Array, "a"], facet: Int[Array, "a"]
    ) -> tuple[Float[Array, "a d"], Float[Array, "a"]]:
        """lam with `lam M = x - c`, where the rows of M are v_i - c; and the largest error of a
        coordinate and of their sum's d-th part: with Z near the inverse of M,

        |lam - exact| <= |M^-1| |lam M - (x - c)|,   |M^-1| <= 2 |Z|  if  |Z M - I| <= 1/2."""
        d = self.X.shape[1]
        used, which = np.unique(facet, return_inverse=True)
        M = self.X[self.facets.corners[used]] - self.apex
        flat = np.linalg.det(M) == 0
        M[flat] = np.eye(d)
        Z = np.linalg.inv(M)
        # Every row of M, and every x - c, is known up to this: the weights of c, their sum, and the
        # products.
        blur = gamma(2 * len(self.apex_corners) + 10) * self.size
        lengths = np.linalg.norm(Z, axis=(1, 2)) * _ABOVE
        defect = np.linalg.norm(Z @ M - np.eye(d), axis=(1, 2)) * _ABOVE
        defect += lengths * (gamma(d + 2) * np.linalg.norm(M, axis=(1, 2)) * _ABOVE + d * blur)
        inverse = np.where(flat | (defect > 0.5), np.inf, 2 * lengths)

        x = self.X[asked] - self.apex
        lam = np.einsum("ad,ade->ae", x, Z[which])
        residual = np.einsum("ae,aed->ad", lam, M[which]) - x
        total = np.abs(lam).sum(axis=1) + 1
        rounding = (2 * gamma(d + 4) * self.size + blur) * total
        missed = np.linalg.norm(residual, axis=1) * _ABOVE + rounding
        return lam, inverse[which] * missed * _ABOVE + gamma(d + 4) * total

    def winners(self) -> dict[int, Query]:
        """Queries on the points under which corners of the hull beat all other points, by more than
        rounding of any kind."""
        corners = np.unique(self.facets.corners)
        Q = self._normal_sums()[corners]
        own = np.einsum("vd,vd->v", Q, self.X[corners])
        lengths = np.linalg.norm(Q, axis=1)
        in_keys = Q * self.scale
        # Rounding of both points, of both products and of a query brought to unit length.
        needed = 2 * gamma(self.X.shape[1] + 8) * self.size * lengths * _ABOVE
        needed += self.noise * np.linalg.norm(in_keys, axis=1)
        bar = own - needed
        rivals = np.zeros(len(corners), int)
        for part in _neighbourhoods(self.X, pairs=len(corners) * len(self.X)):
            centre = self.X[part].mean(axis=0)
            radius = np.linalg.norm(self.X[part] - centre, axis=1).max() + _BLUR * self.size
            near = np.flatnonzero(Q @ centre + radius * lengths >= bar)
            scores = Q[near] @ self.X[part].T
            rivals[near] += np.count_nonzero(scores >= bar[near, None], axis=1)
        wins = rivals == 1  # itself
        return dict(zip(corners[wins].tolist(), in_keys[wins], strict=True))

    def _normal_sums(self) -> Float[Array, "n d"]:
        corners = self.facets.corners.ravel()
        n, d = self.X.shape
        normals = np.repeat(self.facets.normals, d, axis=0)
        sums = [np.bincount(corners, weights=column, minlength=n) for column in normals.T]
        return np.stack(sums, axis=1)

    def combination(self, point: int) -> tuple[list[int], Float[Array, "r"]]:
        """A point proven inside as a convex combination of others: their numbers, and weights."""
        *lam, on_apex = self.shares[point]
        weights = np.zeros(len(self.X))
        weights[self.apex_corners] = self.apex_weights * on_apex
        weights[self.simplex[point]] += lam
        # A corner of the first hull may be the apex's and yet lie inside the last one.
        weights[point] = 0
        rows = np.flatnonzero(weights)
        return rows.tolist(), weights[rows] / weights[rows].sum()


def _facets(X: Keys, points: Int[Array, "p"], most_corners: int | None) -> Facets | None:
    """The hull of these points according to qhull, after adding so many corners; None if it fails,
    as on flat points."""
    if X.shape[1] == 1:
        x = X[points, 0]
        ends = points[[x.argmin(), x.argmax()]]
        normals = np.array([-1.0, 1.0])
        other = np.array([[1], [0]])
        return Facets(ends[:, None], other, normals[:, None], -normals * X[ends, 0])
    stop = "" if most_corners is None else f" TA{most_corners}"
    options = ("Qt Qx" if X.shape[1] > 4 else "Qt") + stop
    try:
        hull = ConvexHull(X[points], qhull_options=options)
    except QhullError:
        return None
    planes = hull.equations
    return Facets(points[hull.simplices], hull.neighbors, planes[:, :-1], planes[:, -1])


def _neighbourhoods(X: Keys, *, pairs: int) -> list[Int[Array, "p"]]:
    """All points in parts that lie close together, halved along their widest coordinate; one part
    where there are only a few pairs."""
    parts = [np.arange(len(X))]
    if pairs <= _FEW_PAIRS:
        return parts
    while len(parts[0]) > _NEIGHBOURS:
        parts = [half for part in parts for half in _halves(X, part)]
    return parts


def _halves(X: Keys, part: Int[Array, "p"]) -> tuple[np.ndarray, np.ndarray]:
    widest = int(np.ptp(X[part], axis=0).argmax())
    middle = len(part) // 2
    order = np.argpartition(X[part, widest], middle)
    return part[order[:middle]], part[order[middle:]]
