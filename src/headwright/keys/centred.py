"""The law of the logits as the engines take it: in double precision, without what all logits of a
head have in common, and with bounds on what rounding has done to it.

A shift common to all logits changes no weight, but it costs digits. So each head's means are
counted from its largest. The plain product is taken where its rounding is small enough; else the
compensated one, on the host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import array_api_compat as compat
import numpy as np

from headwright import inputs
from headwright.arrays import like as in_library
from headwright.keys import covariance as parts_of
from headwright.keys.covariance import Part
from headwright.keys.law import CentredLaw
from headwright.keys.products import UNIT, accurate_product, gamma, product, two_sum
from headwright.result import to_numpy
from headwright.types import Array, Bool, Float, Heads, Keys

# An error e of all logits moves a mean by 2 e and a covariance by 12 e, for values at most 1 from
# their centre: this much of it is a fiftieth of the accuracy that is promised for the mean.
ENOUGH = 1e-11


@dataclass(frozen=True)
class Means:
    """Of the logits: counted from `shift`, with the overlaps `q . mu` that radial noise needs, and
    errors of both."""

    means: Float[Array, "h n"]
    shift: Float[Array, "h"]
    error: Float[Array, "h _n"]
    overlaps: Float[Array, "h n"]
    overlaps_error: Float[Array, "h _n"]


@dataclass(frozen=True)
class Logits:
    """What is asked: `scale * (k_i . q_h) + bias_hi`. The largest mean is looked for among the keys
    `seen`."""

    queries: Heads
    scale: float
    bias: Float[Array, "h n"] | None
    seen: Bool[Array, "h n"] | None


def centred_law(ask: Logits, mu: Keys, longest: float, parts: tuple[Part, ...]) -> CentredLaw:
    """`longest` bounds the lengths of the keys' means `mu`. The queries are in double precision and
    decide the library; the keys may have another precision."""
    Q, scale = ask.queries, ask.scale
    xp = compat.array_namespace(Q)
    parts = tuple(replace(part, array=_precise(part, Q)) for part in parts)
    with np.errstate(over="ignore", invalid="ignore"):
        found = _plain(ask, mu, longest)
        if not bool(xp.all(found.error <= ENOUGH)):
            found = _compensated(ask, mu)
        none = xp.zeros((Q.shape[0], 1), dtype=Q.dtype, device=compat.device(Q))
        rounding = [part.rounding(Q, found.overlaps_error) for part in parts]
        amplitude, root = (
            abs(scale) * sum(terms, start=none) for terms in zip((0.0, 0.0), *rounding, strict=True)
        )

    def total(terms: list[Array], *shape: int) -> Array:
        zeros = xp.zeros(shape, dtype=Q.dtype, device=compat.device(Q))
        added = sum(terms[1:], start=terms[0]) if terms else zeros
        return inputs.finite(
            "covariance of the logits", added if scale == 1.0 else added * scale * scale
        )

    h, n = found.means.shape
    with np.errstate(over="ignore", invalid="ignore"):
        variances = total([part.variances(Q, found.overlaps) for part in parts], h, n)
    return CentredLaw(
        means=found.means,
        variances=variances,
        _cross=lambda: total([part.cross(Q, found.overlaps) for part in parts], h, h, n),
        shift=found.shift,
        means_error=found.error,
        relative=(2 * Q.shape[1] + 16 + _columns(parts)) * UNIT,
        amplitude_error=amplitude,
        root_error=root,
    )


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
    return max(
        (part.array.shape[2] for part in parts if isinstance(part, parts_of.Factors)), default=0
    )


def _plain(ask: Logits, mu: Keys, longest: float) -> Means:
    """|error of a logit| <= |scale| gamma_d ||k|| ||q|| + a few units of every number that was
    added."""
    xp, d = compat.array_namespace(ask.queries), int(ask.queries.shape[1])
    overlaps = product(
        ask.queries, xp.asarray(_moved(mu, ask.queries), device=compat.device(ask.queries))
    )
    means = overlaps if ask.scale == 1.0 else overlaps * ask.scale
    means = means if ask.bias is None else means + ask.bias
    lengths = xp.linalg.vector_norm(ask.queries, axis=1, keepdims=True)
    overlaps_error = gamma(d + 4) * longest * lengths
    highest = xp.max(means, axis=1, keepdims=True)
    size = xp.maximum(highest, -xp.min(means, axis=1, keepdims=True))
    if ask.bias is not None:
        size = size + xp.max(xp.abs(ask.bias), axis=1, keepdims=True)
    top = highest if ask.seen is None else xp.max(_among(ask.seen, means), axis=1, keepdims=True)
    error = abs(ask.scale) * overlaps_error + 8 * UNIT * size
    return Means(means - top, top[:, 0], error, overlaps, overlaps_error)


def _compensated(ask: Logits, mu: Keys) -> Means:
    """The same to twice the digits; the largest mean is taken off before the last rounding."""
    exact = accurate_product(ask.queries, mu, ask.scale)
    high, low = exact.high, exact.low
    if ask.bias is not None:
        high, cut = two_sum(high, to_numpy(ask.bias).astype(float))
        low = low + cut
    inputs.finite("mean logits", high)
    seen = high if ask.seen is None else _among(to_numpy(ask.seen), high)
    top = np.argmax(seen, axis=1)[:, None]
    high_top, low_top, error_top = (
        np.take_along_axis(x, top, axis=1) for x in (high, low, exact.error)
    )
    means, cut = two_sum(high, -high_top)
    low_apart = low - low_top
    rest = cut + low_apart
    # Every sum above that is not exact, and the last one, each rounded by at most a unit of its
    # size.
    sums = (low, low_top, low_apart, rest, means)
    error = exact.error + error_top + 2 * UNIT * sum(np.abs(x) for x in sums)
    # The largest is at zero by definition, and a difference beyond the range of doubles is a key
    # without any weight.
    np.put_along_axis(error, top, 0.0, axis=1)
    reached = np.isfinite(means)
    means = np.where(reached, means + rest, -np.inf)
    error = np.where(reached, error, 0.0)
    found = (means, high_top[:, 0], error, exact.plain, exact.plain_error)
    return Means(*(in_library(x, ask.queries) for x in found))


def _among(seen: Array, means: Array) -> Array:
    xp = compat.array_namespace(means)
    return xp.where(seen, means, xp.full_like(means, -xp.inf))
