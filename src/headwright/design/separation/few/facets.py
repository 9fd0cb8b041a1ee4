"""Facets as qhull gives them: a guess, which others prove.

Keys in one plane (lattices, cubes) are the hard case: qhull divides such a facet into simplices of
which some are flat, and from a flat one no coordinates can be told. `without_flat` moves corners
away from an inner point c by factors 1 + tiny, drawn at random. Then no more than d corners lie in
a plane, so all facets are simplices; and since a factor leaves a corner on its ray from c, the
simplices between c and the unmoved corners still fill all directions, and none is flat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from headwright.types import Array, Bool, Float, Int, Keys, Query

# Far below the angles of what is not meant to be in one plane, far above rounding.
_TINY_MOVE = 1e-8
# Unit normals this close belong to one plane.
_ONE_PLANE = 1e-9


@dataclass(frozen=True)
class Facets:
    """Of a hull: the keys at their `corners`, and planes `normals . x + offsets = 0` with the hull
    on the negative side. `neighbours[f, i]` is the facet across from corner i."""

    corners: Int[Array, "f d"]
    neighbours: Int[Array, "f d"]
    normals: Float[Array, "f d"]
    offsets: Float[Array, "f"]

    def divided(self) -> Bool[Array, "f"]:
        """Facets in one plane with a neighbour: qhull cut them out of a larger one."""
        across = self.normals[self.neighbours] - self.normals[:, None]
        return (np.abs(across).max(axis=2) < _ONE_PLANE).any(axis=1)


def hull_of(X: Keys, points: Int[Array, "p"], most_corners: int | None = None) -> Facets | None:
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
    return _asked(X[points], points, options)


def without_flat(X: Keys, corners: Int[Array, "c"], inner: Query) -> Facets | None:
    """The hull of these corners in simplices none of which is flat as seen from the inner point."""
    factors = 1 + _TINY_MOVE * np.random.default_rng(0).random((len(corners), 1))
    return _asked(inner + (X[corners] - inner) * factors, corners, "Qt")


def _asked(places: Keys, names: Int[Array, "p"], options: str) -> Facets | None:
    try:
        hull = ConvexHull(places, qhull_options=options)
    except (QhullError, ValueError):
        return None
    planes = hull.equations
    return Facets(names[hull.simplices], hull.neighbors, planes[:, :-1], planes[:, -1])
