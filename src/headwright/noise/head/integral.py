"""Exact mean and covariance of one head, for one query or many on the same keys. With S = sum_i
e^{z_i}, 1/S = int e^{-tS} dt and t = e^u,

    E[alpha_a]          = int r_a e^Psi du                 Psi(u) = sum_i psi(u + m_i, s_i)
    E[alpha_a^2]        = int w_a e^Psi du
    E[alpha_a alpha_b]  = int r_a r_b e^Psi du             (a != b)

so that, with values counted from any centre,

    Cov[c] = int (sum_a r_a v_a)(sum_b r_b v_b)' e^Psi du + V' diag(D) V,
    D_a    = int (w_a - r_a^2) e^Psi du >= 0.

`sum_a E[alpha_a] = 1` and `sum_b E[alpha_a alpha_b] = E[alpha_a]` are not imposed: they measure the
error. Keys of equal law are transformed once; queries are taken in blocks of about equally many
nodes, and nodes in blocks, so that memory does not grow with the number of either.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from headwright.noise import budget
from headwright.noise.head.blocks import Points, blocks_of_nodes, blocks_of_queries
from headwright.noise.head.ends import find_ends
from headwright.noise.head.laws import Laws, distinct
from headwright.noise.head.nodes import Nodes, grid
from headwright.noise.head.transform import ACCURACY
from headwright.types import Float, HostPerKey, HostValues

# Rounding and the transform's own error, relative to the size of the values.
FLOOR = 10 * ACCURACY
_SURE = 9.0  # deviations below its mean at which a logit never is
_GONE = 1e-18  # where one phi is smaller, so is the product of all

PerQuery = Float[np.ndarray, "q"]
PerLaw = Float[np.ndarray, "q k"]
PerNode = Float[np.ndarray, "q u"]
ManyLogits = Float[np.ndarray, "q n"]


@dataclass(frozen=True)
class HeadMoments:
    """One head, of one query or of many. `first` and `second` bound the error of the mean and of
    the covariance for values that are at most 1 away from the mean; `farthest` is how far they
    really are."""

    weights_mean: Any
    weights_square: Any  # E[alpha_i^2]
    mean: Any
    covariance: Any
    first: Any
    second: Any
    farthest: Any

    def of(self, query: int) -> HeadMoments:
        """One query of many."""
        return HeadMoments(
            weights_mean=self.weights_mean[query],
            weights_square=self.weights_square[query],
            mean=self.mean[query],
            covariance=self.covariance[query],
            first=float(self.first[query]),
            second=float(self.second[query]),
            farthest=float(self.farthest[query]),
        )


_FIELDS = [field.name for field in fields(HeadMoments)]


@dataclass(frozen=True)
class Integrals:
    """The integrals over u, law by law: `weights` of r, `square` of w, `own` of r^2, `pairs` of r
    sum r, all under e^Psi; the `coarse` ones take every second node. Node by node: `survivors` is
    e^Psi, `r_sum` is sum r, `density` is weight times e^Psi, `R` is sum r_a v_a."""

    nodes: Nodes
    count: PerLaw
    survivors: PerNode
    density: PerNode
    r_sum: PerNode
    R: Float[np.ndarray, "q v u"]
    weights: PerLaw
    square: PerLaw
    own: PerLaw
    pairs: PerLaw
    coarse_weights: PerLaw
    coarse_square: PerLaw
    coarse_pairs: PerLaw


def integrate(laws: Laws, places: Nodes, values: Float[np.ndarray, "q k v"]) -> Integrals:
    """One pass over the nodes; `values` are the sums of the values of each law."""
    q, k = laws.logits.m.shape
    count = laws.logits.count
    shared = laws.shared
    survivors = np.empty(places.u.shape)
    density = np.empty(places.u.shape)
    r_sum = np.empty(places.u.shape)
    R = np.empty((q, values.shape[2], places.u.shape[1]))
    by_r = np.zeros((q, k, 4))
    by_w = np.zeros((q, k, 2))
    own = np.zeros((q, k, 1))

    for part, a in blocks_of_nodes(laws.logits, places, top=2):
        phi = a[:, :, 0]
        r, w = over_phi(a)
        some = phi ** count[:, :, None] if shared else phi
        survivors[:, part] = some.prod(axis=1)
        density[:, part] = places.weight[:, part] * survivors[:, part]
        r_sum[:, part] = (count[:, None, :] @ r)[:, 0]
        np.matmul(values.transpose(0, 2, 1), r, out=R[:, :, part])
        here = density[:, part]
        # The density, that of every second node doubled, and both times the sum of r
        under = np.zeros((q, here.shape[1], 4))
        under[:, :, 0] = here
        second = part.start % 2
        under[:, second::2, 1] = 2 * here[:, second::2]
        np.multiply(under[:, :, :2], r_sum[:, part, None], out=under[:, :, 2:])
        by_r += r @ under
        by_w += w @ under[:, :, :2]
        r *= r
        own += r @ here[:, :, None]

    return Integrals(
        nodes=places,
        count=count,
        survivors=survivors,
        density=density,
        r_sum=r_sum,
        R=R,
        weights=by_r[:, :, 0],
        square=by_w[:, :, 0],
        own=own[:, :, 0],
        pairs=by_r[:, :, 2],
        coarse_weights=by_r[:, :, 1],
        coarse_square=by_w[:, :, 1],
        coarse_pairs=by_r[:, :, 3],
    )


def over_phi(a: Points) -> list[Float[np.ndarray, "q k u"]]:
    """a_k / phi, k = 1, 2, .. Where phi has gone the product of all phi has as well: such a point
    carries no weight."""
    phi = a[:, :, 0]
    inverse = np.zeros(phi.shape)
    np.divide(1.0, phi, out=inverse, where=phi > _GONE)
    return [a[:, :, order] * inverse for order in range(1, a.shape[2])]


def head_moments(m: HostPerKey, s: HostPerKey, V: HostValues) -> HeadMoments:
    """Mean and covariance of `softmax(z) V` for independent z_i ~ N(m_i, s_i^2); host arrays, every
    key by itself."""
    return many_queries(m[None, :], s[None, :], V).of(0)


@np.errstate(over="ignore")  # differences of means of 1e308
def many_queries(m: ManyLogits, s: ManyLogits, V: HostValues) -> HeadMoments:
    """The same for the logits of many queries, one in each row."""
    found = without_noise(m, V)
    noisy = np.flatnonzero(s.any(axis=1)) if m.shape[1] > 1 else np.empty(0, dtype=int)
    if not noisy.size:
        return found
    # Only differences of logits count; they are taken from the key that is most surely high.
    m = m[noisy] - np.max(m[noisy] - _SURE * s[noisy], axis=1, keepdims=True)
    laws = distinct(m, s[noisy])
    ends = find_ends(laws.coarse())
    for block in blocks_of_queries(laws.logits, ends):
        rows = noisy[block.queries]
        mine = laws.of(block.queries)
        places = grid(mine.logits, block.ends, short=block.graded)
        # Counted from the output without noise: keys that are masked then count for nothing.
        answers = _of_block(mine, places, V, found.mean[rows])
        for name in _FIELDS:
            getattr(found, name)[rows] = getattr(answers, name)
    return found


def _of_block(
    laws: Laws, places: Nodes, V: HostValues, start: Float[np.ndarray, "q v"]
) -> HeadMoments:
    """Queries that have equally many nodes; values are counted from `start`."""
    found = integrate(laws, places, laws.added(V - start[:, None, :]))

    # sum_i E[alpha_i] is not exactly one, and the mean is the centre for which int R e^Psi du = 0.
    all_weights = (found.weights * found.count).sum(axis=1, keepdims=True)
    shift = (found.R @ found.density[:, :, None])[:, :, 0] / all_weights
    mean = start + shift
    R = found.R
    R -= shift[:, :, None] * found.r_sum[:, None, :]
    C = V - mean[:, None, :]
    D = laws.to_keys(found.square - found.own)
    common = (R * found.density[:, None, :]) @ R.transpose(0, 2, 1)
    own = (C * D[:, :, None]).transpose(0, 2, 1) @ C
    first, second = errors(found)
    # E[alpha^2] >= E[alpha]^2, which rounding of a faint key may leave below zero.
    square = np.maximum(found.square, found.weights**2)
    return HeadMoments(
        weights_mean=laws.to_keys(found.weights),
        weights_square=laws.to_keys(square),
        mean=mean,
        covariance=common + own,
        first=first + budget.MOVED_MEAN * laws.moved,
        second=second + budget.MOVED_COVARIANCE * laws.moved,
        farthest=np.abs(C).max(axis=(1, 2)),
    )


def without_noise(m: ManyLogits, V: HostValues) -> HeadMoments:
    """No noise, or one key only: plain attention."""
    q, n = m.shape
    v = V.shape[1]
    top = m.argmax(axis=1)
    e = np.exp(m - m.max(axis=1, keepdims=True))
    weights = e / e.sum(axis=1, keepdims=True)

    # Counted from the value of the largest weight: what all values have in common is not rounded n
    # times.
    C = V - V[top][:, None, :]
    shift = (weights[:, None, :] @ C)[:, 0]
    C -= shift[:, None, :]
    # Sums of n terms of one size, an exponential and a few operations; C may be twice as far as the
    # farthest value is from the mean.
    rounding = np.full(q, float(np.finfo(float).eps) * (n + 8))
    return HeadMoments(
        weights_mean=weights,
        weights_square=weights**2,
        mean=V[top] + shift,
        covariance=np.zeros((q, v, v)),
        first=rounding,
        second=rounding.copy(),
        farthest=np.abs(C).max(axis=(1, 2)),
    )


def errors(found: Integrals) -> tuple[PerQuery, PerQuery]:
    """What is known about the error: the ends cut off, the rule, and the two identities that must
    hold."""

    def added(x: PerLaw) -> PerQuery:
        """Over all keys."""
        return (found.count * x).sum(axis=1)

    # 1 - e^Psi on the left, e^Psi (1 + sum r) on the right
    left = np.abs(1.0 - found.survivors[:, 0])
    right = found.survivors[:, -1] * (1.0 + found.r_sum[:, -1])
    identity = np.abs(added(found.weights) - 1.0)
    unmatched = found.pairs + found.square - found.own - found.weights
    pairs = added(np.abs(unmatched))

    first = found.nodes.alias(1)
    second = found.nodes.alias(2)
    if not found.nodes.uniform:
        # An analytic rule squares its error when the step is halved; the constant, below 0.1, is
        # taken as 3.
        half_first = added(np.abs(found.coarse_weights - found.weights))
        half_square = added(np.abs(found.coarse_square - found.square))
        half_pairs = added(np.abs(found.coarse_pairs - found.pairs))
        first = np.maximum(first, 3 * half_first**2)
        second = np.maximum(second, 3 * (half_square + half_pairs) ** 2)
        # Where the nodes happen to lie so that every second one sees little, the identity sees it,
        # and not all of it where errors of several keys have different signs.
        first = first + identity
        second = second + identity

    first = first + left + right + identity + FLOOR
    second = second + left + right + pairs + identity + FLOOR
    return first, second
