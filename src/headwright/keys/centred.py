"""The law of the logits as the engines take it: in double precision, without what all logits of a
head have in common, and with bounds on what rounding has done to it.

A shift common to all logits changes no weight, but it costs digits. So each head's means are
counted from its largest. The plain product is taken where its rounding is small enough; else the
compensated one, on the host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright import inputs
from headwright.arrays import like as in_library
from headwright.attention import Scores
from headwright.keys import covariance as parts_of
from headwright.keys.correlated import CorrelatedKeys, loadings
from headwright.keys.covariance import Part
from headwright.keys.gaussian import GaussianKeys
from headwright.keys.law import CentredLaw
from headwright.keys.products import UNIT, accurate_product, gamma, product, two_sum
from headwright.result import to_numpy
from headwright.types import Array, Float, Heads, Keys, PerHead, PerHeadAndKey

# An error e of all logits moves a mean by 2 e and a covariance by 12 e, for values at most 1 from
# their centre: this much of it is a fiftieth of the accuracy that is promised for the mean.
ENOUGH = 1e-11

Errors = Float[Array, "h _n"]  # one for all keys, or one per key


@dataclass(frozen=True)
class Means:
    """Of the logits: counted from `shift`, with the overlaps `q . mu` that radial noise needs, and
    errors of both."""

    means: PerHeadAndKey
    shift: PerHead
    error: Errors
    overlaps: PerHeadAndKey
    overlaps_error: Errors


def centred_law(keys: GaussianKeys | CorrelatedKeys, queries: Heads, scores: Scores) -> CentredLaw:
    """The law of `scale * (k_i . q_h) + bias_hi`. Its largest mean is looked for among the keys
    that `scores.mask` shows. The queries are in double precision and decide the library; the keys
    may have another precision."""
    if isinstance(keys, CorrelatedKeys):
        law = _own_law(keys.keys, queries, scores)
        shared = _moved(keys.shared, queries)
        return replace(law, shared=loadings(queries, shared, scores.scale))
    return _own_law(keys, queries, scores)


def _own_law(keys: GaussianKeys, Q: Heads, scores: Scores) -> CentredLaw:
    """Of keys without shared factors."""
    xp = compat.array_namespace(Q)
    scale = scores.scale
    parts = tuple(replace(part, array=_precise(part, Q)) for part in keys.parts)
    with np.errstate(over="ignore", invalid="ignore"):
        found = _plain(Q, keys.means, scores, longest=keys.longest)
        if not bool(xp.all(found.error <= ENOUGH)):
            found = _compensated(Q, keys.means, scores)
        amplitude_error, root_error = _rounding(parts, Q, scale, found.overlaps_error)

    def total(terms: list[Array], *shape: int) -> Array:
        """The sum over the parts, scaled; it must be a number."""
        if not terms:
            return xp.zeros(shape, dtype=Q.dtype, device=compat.device(Q))
        added = sum(terms[1:], start=terms[0])
        added = added if scale == 1.0 else added * scale * scale
        return inputs.finite("covariance of the logits", added)

    h, n = found.means.shape
    operations = 2 * Q.shape[1] + 16 + _columns(parts)
    with np.errstate(over="ignore", invalid="ignore"):
        variances = total([part.variances(Q, found.overlaps) for part in parts], h, n)
    return CentredLaw(
        means=found.means,
        variances=variances,
        _cross=lambda: total([part.cross(Q, found.overlaps) for part in parts], h, h, n),
        shift=found.shift,
        means_error=found.error,
        relative=operations * UNIT,
        amplitude_error=amplitude_error,
        root_error=root_error,
    )


def _rounding(parts: tuple[Part, ...], Q: Heads, scale: float, error: Errors) -> list[Array]:
    """The two errors of `covariance`, added up over the parts."""
    xp = compat.array_namespace(Q)
    none = xp.zeros((Q.shape[0], 1), dtype=Q.dtype, device=compat.device(Q))
    of_parts = [part.rounding(Q, error) for part in parts]
    columns = zip((0.0, 0.0), *of_parts, strict=True)
    return [abs(scale) * sum(terms, start=none) for terms in columns]


def _precise(part: Part, Q: Heads) -> Array:
    """The array of a part in the library and precision of Q. Entries for every key and coordinate
    keep their precision: `product` converts them block by block."""
    xp = compat.array_namespace(Q)
    dtype = None if isinstance(part, parts_of.Diagonal) else Q.dtype
    return xp.asarray(_moved(part.array, Q), dtype=dtype, device=compat.device(Q))


def _moved(array: Array, like: Array) -> Array:
    """`array`, on the host if `like` is and in no other library."""
    return to_numpy(array) if compat.is_numpy_array(like) else array


def _columns(parts: tuple[Part, ...]) -> int:
    """The longest sum of squares that a variance is."""
    factors = [part for part in parts if isinstance(part, parts_of.Factors)]
    return max((part.array.shape[2] for part in factors), default=0)


def _plain(Q: Heads, mu: Keys, scores: Scores, *, longest: float) -> Means:
    """|error of a logit| <= |scale| gamma_d ||k|| ||q|| + a few units of every number that was
    added; `longest` bounds the lengths of the keys' means."""
    xp = compat.array_namespace(Q)
    mu = xp.asarray(_moved(mu, Q), device=compat.device(Q))
    overlaps = product(Q, mu)
    means = overlaps if scores.scale == 1.0 else overlaps * scores.scale
    means = means if scores.bias is None else means + scores.bias

    lengths = xp.linalg.vector_norm(Q, axis=1, keepdims=True)
    overlaps_error = gamma(int(Q.shape[1]) + 4) * longest * lengths
    highest = _highest(means)
    lowest = xp.min(means, axis=1, keepdims=True)
    size = xp.maximum(highest, -lowest)
    if scores.bias is not None:
        size = size + _highest(xp.abs(scores.bias))
    of_product = abs(scores.scale) * overlaps_error
    error = of_product + 8 * UNIT * size
    top = highest if scores.mask is None else _highest(_among(scores.mask, means))
    return Means(means - top, top[:, 0], error, overlaps, overlaps_error)


def _compensated(Q: Heads, mu: Keys, scores: Scores) -> Means:
    """The same to twice the digits; the largest mean is taken off before the last rounding."""
    found = accurate_product(Q, mu, scores.scale)
    high = found.high
    low = found.low
    if scores.bias is not None:
        high, cut = two_sum(high, to_numpy(scores.bias).astype(float))
        low = low + cut
    inputs.finite("mean logits", high)

    seen = high if scores.mask is None else _among(to_numpy(scores.mask), high)
    top = np.argmax(seen, axis=1)[:, None]
    high_top, low_top, error_top = (
        np.take_along_axis(x, top, axis=1) for x in (high, low, found.error)
    )
    means, cut = two_sum(high, -high_top)
    low_apart = low - low_top
    rest = cut + low_apart
    # Every sum above that is not exact, and the last one, each rounded by at most a unit of its
    # size.
    sums = (low, low_top, low_apart, rest, means)
    rounded = 2 * UNIT * sum(np.abs(x) for x in sums)
    error = found.error + error_top + rounded

    # The largest is at zero by definition, and a difference beyond the range of doubles is a key
    # without any weight.
    np.put_along_axis(error, top, 0.0, axis=1)
    reached = np.isfinite(means)
    means = np.where(reached, means + rest, -np.inf)
    error = np.where(reached, error, 0.0)
    parts = (means, high_top[:, 0], error, found.plain, found.plain_error)
    return Means(*(in_library(x, Q) for x in parts))


def _highest(array: PerHeadAndKey) -> Float[Array, "h 1"]:
    """The largest entry of each head."""
    return compat.array_namespace(array).max(array, axis=1, keepdims=True)


def _among(seen: Any, means: PerHeadAndKey) -> PerHeadAndKey:
    """Means of the keys that are seen, minus infinity elsewhere."""
    xp = compat.array_namespace(means)
    return xp.where(seen, means, xp.full_like(means, -xp.inf))
