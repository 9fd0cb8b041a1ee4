"""Who wins. At a corner of a hull the sum of the unit normals of its facets is a query, which has
to beat all keys: for each corner, those in neighbourhoods that its query might not leave behind."""

from __future__ import annotations

import numpy as np

from headwright.design.proofs.float_bounds import TINY, gamma
from headwright.design.separation.few.facets import Facets
from headwright.design.separation.few.simplices import ABOVE
from headwright.types import Array, Float, Int, Keys, Query

# Pairs of query and key that are not worth dividing; keys that are not.
_FEW_PAIRS = 1 << 16
_FEW_KEYS = 64
_BLUR = 1e-9  # of the size of the points: far above rounding, added to the radius of a part


def normal_sums(facets: Facets, corners: Int[Array, "c"]) -> Float[Array, "c d"]:
    """For each corner."""
    place = np.searchsorted(corners, facets.corners).ravel()
    d = facets.normals.shape[1]
    normals = np.repeat(facets.normals, d, axis=0)
    sums = [np.bincount(place, weights=column, minlength=len(corners)) for column in normals.T]
    return np.stack(sums, axis=1)


def wins(
    X: Keys, *, corners: Int[Array, "c"], queries: Float[Array, "c d"], noise: Float[Array, "c"]
) -> Int[Array, "w"]:
    """Positions of the corners whose query beats all other rows of X by more than `noise` and
    rounding of any kind."""
    Q = queries
    own = np.einsum("cd,cd->c", Q, X[corners])
    lengths = np.sqrt(np.einsum("cd,cd->c", Q, Q)) * ABOVE
    size = np.sqrt(np.einsum("nd,nd->n", X, X).max()) * ABOVE
    # Rounding of both points, of both products and of a query brought to unit length.
    bar = own - 2 * gamma(X.shape[1] + 8) * size * lengths - noise
    rivals = np.zeros(len(corners), int)
    # Most keys lie in a ball around the middle that all queries leave behind.
    middle = np.full(len(X), 1 / len(X)) @ X
    inner = ((bar - Q @ middle) / np.maximum(lengths, TINY)).min() - _BLUR * size
    waiting = [(np.flatnonzero(_distances(X, middle) >= inner), np.arange(len(corners)))]
    while waiting:
        part, near = waiting.pop()
        here = X[part]
        if len(part) * len(near) > _FEW_PAIRS:
            centre = here.mean(axis=0)
            radius = _distances(here, centre).max() + _BLUR * size
            near = near[Q[near] @ centre + radius * lengths[near] >= bar[near]]
            if len(part) > _FEW_KEYS and len(part) * len(near) > _FEW_PAIRS:
                waiting += [(half, near) for half in _halves(here, part)]
                continue
        scores = Q[near] @ here.T
        rivals[near] += np.count_nonzero(scores >= bar[near, None], axis=1)
    return np.flatnonzero(rivals == 1)  # itself


def _distances(X: Keys, centre: Query) -> Float[Array, "n"]:
    apart = X - centre
    return np.sqrt(np.einsum("nd,nd->n", apart, apart))


def _halves(here: Keys, part: Int[Array, "p"]) -> tuple[Int[Array, "h"], Int[Array, "h"]]:
    """Divided along the widest coordinate."""
    widest = int((here.max(axis=0) - here.min(axis=0)).argmax())
    middle = len(part) // 2
    order = np.argpartition(here[:, widest], middle)
    return part[order[:middle]], part[order[middle:]]
