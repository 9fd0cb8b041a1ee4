"""Simplices around an apex that leave no gap: then one of them holds a point x behind all facets,
and none has to be looked for. With `y . (v - c) = 1` on the corners v of a facet, x is inside if

    y . (x - c) <= 1   for all facets.

No gap: suppose that across each wall of each simplex (c and all corners but one) another simplex
has that wall, on the other side. The union of their cones from c is closed. It is also open but for
the cones of two corners fewer, which are too thin to separate any directions from others: inside a
cone that is clear, and on a wall the neighbour goes on. So it is everything.

Most points lie in a ball around c that touches no facet; the products for the rest are in float32,
and count above their error bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headwright.design.proofs.float_bounds import gamma
from headwright.design.separation.few.facets import Facets
from headwright.design.separation.few.simplices import ABOVE, Apex, Inverses
from headwright.types import Array, Bool, Float, Int

_BLOCK = 4096  # simplices at a time
_AT_ONCE = 1 << 20  # numbers in a block of products
_UNIT32 = 2.0**-24


@dataclass(frozen=True)
class Cover:
    """Facets proven to leave no gap around the apex: their `heights` y, no longer than `longest`
    and known up to `error`."""

    apex: Apex
    facets: Facets
    heights: Float[Array, "f d"]
    error: Float[Array, "f"]
    longest: Float[Array, "f"]

    def holds(self, points: Int[Array, "p"]) -> Bool[Array, "p"]:
        """Which points are certainly inside."""
        x = self.apex.seen(points)
        lengths = np.sqrt(np.einsum("pd,pd->p", x, x)) * ABOVE + self.apex.blur
        inside = lengths * self.longest.max() < 1
        far = np.flatnonzero(~inside)
        inside[far] = self._highest(x[far], lengths[far]) < 1
        return inside

    def _highest(self, x: Float[Array, "p d"], lengths: Float[Array, "p"]) -> Float[Array, "p"]:
        """Upper bounds on the largest `y . (x - c)`. The bound on the error is two more
        coordinates."""
        d = x.shape[1]
        float32 = (d + 10) * _UNIT32
        wide = [self.heights, float32 * self.longest + self.error, self.apex.blur * self.longest]
        Y = np.column_stack(wide).astype(np.float32)
        X = np.column_stack([x, lengths, np.ones(len(x))]).astype(np.float32).T
        highest = np.zeros(len(x), np.float32)
        step = max(1, _AT_ONCE // len(Y))
        for first in range(0, len(x), step):
            highest[first : first + step] = (Y @ X[:, first : first + step]).max(axis=0)
        return highest

    def simplex(self, point: int) -> tuple[Int[Array, "d"], Float[Array, "d"]]:
        """The simplex that holds a point, by its corners, and the point's coordinates in it."""
        x = self.apex.seen(np.array([point]))[0]
        deepest = -np.inf
        corners = self.facets.corners[0]
        lam = np.zeros(len(x))
        for part in _parts(len(self.heights)):
            inverses = Inverses.of(self.apex, self.facets.corners[part])
            found = np.einsum("d,fde->fe", x, inverses.Z)
            best = found.min(axis=1).argmax()
            if found[best].min() > deepest:
                deepest = found[best].min()
                corners = self.facets.corners[part][best]
                lam = found[best]
        return corners, np.maximum(lam, 0.0)


def covering(apex: Apex, facets: Facets) -> Cover | None:
    """The facets with their heights, if they provably leave no gap around the apex."""
    across = _across(facets)
    if across is None:
        return None
    count, d = facets.corners.shape
    heights = np.empty((count, d))
    error = np.empty(count)
    for part in _parts(count):
        inverses = Inverses.of(apex, facets.corners[part])
        if not _on_the_other_side(apex, inverses, across[part]):
            return None
        # y = M^-1 1, and |Z - M^-1| <= |Z M - I| |M^-1|
        heights[part] = inverses.Z.sum(axis=2)
        off = inverses.defect * inverses.bound + gamma(d + 2) * inverses.lengths
        error[part] = off * np.sqrt(d) * ABOVE
    longest = np.linalg.norm(heights, axis=1) * ABOVE + error
    return Cover(apex, facets, heights, error, longest)


def _parts(count: int) -> Iterator[slice]:
    return (slice(first, first + _BLOCK) for first in range(0, count, _BLOCK))


def _across(facets: Facets) -> Int[Array, "f d"] | None:
    """The corner of the neighbour across each wall that is not on the wall; None unless neighbours
    share all corners of their wall, and no more."""
    own = facets.corners
    theirs = own[facets.neighbours]
    # Corner k of the neighbour across wall i is the facet's own corner j: [f, i, k, j].
    same = theirs[..., None] == own[:, None, None, :]
    shared = same.any(axis=3)
    d = own.shape[1]
    on_wall = ~np.eye(d, dtype=bool)
    if not (same.any(axis=2) == on_wall).all() or not (shared.sum(axis=2) == d - 1).all():
        return None
    return theirs[~shared].reshape(own.shape)


def _on_the_other_side(apex: Apex, inverses: Inverses, across: Int[Array, "f d"]) -> bool:
    """Is coordinate i of the corner across wall i certainly negative?

    |w Z - w M^-1| <= |w| |Z M - I| |M^-1|"""
    d = across.shape[1]
    w = apex.seen(across)
    lam = np.einsum("fik,fki->fi", w, inverses.Z)
    lengths = np.sqrt(np.einsum("fik,fik->fi", w, w)) * ABOVE
    off = inverses.defect * inverses.bound + gamma(d + 4) * inverses.lengths
    error = lengths * off[:, None] + (apex.blur * inverses.bound)[:, None]
    return bool((lam < -error * ABOVE).all())
