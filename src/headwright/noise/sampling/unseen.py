"""What no draw may have seen.

A standard error is the spread of what was drawn; it knows nothing of what is too rare for that, as
when one key overtakes another once in a million. With j the key of the largest weight and any
other key i,

    alpha_i <= min(1, e^z),   z = z_i - z_j ~ N(-g, s^2).

What N draws most likely contain is z up to c = -g + t s, where N Phi(-t) = 3: of anything rarer
they miss everything in one case of twenty. Beyond it alpha_i is larger than there, which
adds about

    E[min(1, e^z) - e^c; z > c]  =  Phi(-g / s) + e^{-g + s^2 / 2} (Phi(g / s - s) - Phi(t - s))
                                    - e^c Phi(-t)

if c < 0, and nothing otherwise: the draws then contain keys that overtake. At infinite sharpness
only the first term is left.

Or z is so wide that they hardly ever find it near zero. The weights are steps then, and where a
step lies is known up to a chance of Phi(-t), however well replicates agree: scrambled points are
spread so evenly that all of them may count the same.

Many keys that are equally rare are drawn many times as often: the chance is divided by how many
keys share what is missed, and all keys of a head together count for no more than 3 / N. Squares of
weights are at most min(1, e^{2 z}): the same integrals with twice the gap and the deviation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, ndtr, ndtri

from headwright.noise.sampling.noisy_keys import NoisyKeys
from headwright.result import to_numpy
from headwright.types import Float, Int

_RARE = 3.0  # draws expected of something that one case of twenty does not contain: -ln 0.05

_FARTHEST = 1e8  # deviations: nothing is left there, and squares are numbers

PerKeyAndRest = Float[np.ndarray, "h k_plus_1"]
PerHead = Float[np.ndarray, "h"]
Numbers = Float[np.ndarray, "rare"]


class Unseen(NamedTuple):
    """What may be missing of each head: of its weights, of its mean, and of the mean square of its
    distance from the value of its leader, which the mean is `away` from; largest entries."""

    weights: PerHead
    mean: PerHead
    square: PerHead
    away: PerHead


@np.errstate(over="ignore")  # a gap of 1e300 is one that no key overtakes
def unseen(small: NoisyKeys, weights: PerKeyAndRest, samples: int, *, limit: bool) -> Unseen:
    """Of the noisy keys and the fixed rest, which have these mean weights in so many draws."""
    leader = np.argmax(weights, axis=1)
    gap, deviation = _differences(small, leader)
    apart, away = _distances(small, leader, weights)

    chance = min(_RARE / samples, 0.5)
    alone = _missed(gap, deviation, np.full(leader.size, chance), limit=limit)
    each = chance / _sharing(alone * apart)
    first = _missed(gap, deviation, each, limit=limit)
    second = _missed(2 * gap, 2 * deviation, each, limit=limit)
    farthest = np.max(np.where(first > 0.0, apart, 0.0), axis=1)
    return Unseen(
        weights=np.minimum(first.sum(axis=1), chance),
        mean=np.minimum((first * apart).sum(axis=1), chance * farthest),
        square=np.minimum((second * apart**2).sum(axis=1), chance * farthest**2),
        away=away,
    )


def _sharing(missed: PerKeyAndRest) -> PerHead:
    """How many keys of each head share what it misses: `(sum x)^2 / sum x^2`, one for one key."""
    most = missed.max(axis=1, keepdims=True)
    shares = np.divide(missed, most, out=np.zeros(missed.shape), where=most > 0.0)
    return np.maximum(shares.sum(axis=1) ** 2 / np.maximum((shares**2).sum(axis=1), 1.0), 1.0)


def _differences(
    small: NoisyKeys, leader: Int[np.ndarray, "h"]
) -> tuple[PerKeyAndRest, PerKeyAndRest]:
    """Gap and deviation between the logit of each head's leader and all others."""
    heads = np.arange(leader.size)
    means = np.hstack([to_numpy(small.means), to_numpy(small.fixed_logits)[:, None]])
    gap = means[heads, leader][:, None] - means

    own = np.sum(to_numpy(small.roots) ** 2, axis=2)
    own = np.hstack([own, np.zeros((leader.size, 1))])
    variance = own + own[heads, leader][:, None]
    if small.shared is not None:
        shared = to_numpy(small.shared)
        shared = np.concatenate([shared, np.zeros((*shared.shape[:2], 1))], axis=2)
        moved = shared - shared[heads, :, leader][:, :, None]
        variance = variance + np.sum(moved**2, axis=1)
    variance[heads, leader] = 0.0
    return gap, np.sqrt(variance)


def _missed(
    gap: PerKeyAndRest, deviation: PerKeyAndRest, chance: PerHead, *, limit: bool
) -> PerKeyAndRest:
    """What is not known of the mean weight of each key."""
    chances = np.broadcast_to(chance[:, None], gap.shape)
    t = -ndtri(chances)
    random = (deviation > 0.0) & np.isfinite(gap)
    rare = random & (gap > t * deviation)
    found = np.zeros(gap.shape)
    found[rare] = _beyond(t[rare], gap[rare], deviation[rare], limit=limit)

    reached = random & ~rare
    ratio = gap[reached] / deviation[reached]
    within_one = 2 * np.exp(-ratio * ratio / 2) / np.sqrt(2 * np.pi) / deviation[reached]
    is_step = limit | (within_one < chances[reached])
    found[reached] = np.where(is_step, chances[reached], 0.0)
    return np.minimum(found, chances)


def _beyond(t: Numbers, g: Numbers, s: Numbers, *, limit: bool) -> Numbers:
    """The integral above."""
    overtaken = ndtr(-g / s)
    if limit:
        return overtaken
    reached = ndtr(-t) * np.exp(t * s - g)
    return np.maximum(overtaken + _between(t, g, s) - reached, 0.0)


def _between(t: Numbers, g: Numbers, s: Numbers) -> Numbers:
    """`E[e^z; c < z < 0]`, by tails on either side of the largest e^z phi, none of which is a small
    difference of large numbers: s may be huge."""
    near = _tail(t, g, s)
    far = _tail(np.minimum(g / s, _FARTHEST), g, s)
    both = np.exp(s * np.minimum(s, g / s) / 2 - g) - near - far
    return np.where(s <= t, near - far, np.where(s >= g / s, far - near, both))


def _tail(x: Numbers, g: Numbers, s: Numbers) -> Numbers:
    """`e^{-g + s^2 / 2} Phi(-|x - s|)`."""
    return np.exp(s * x - g - x * x / 2) * erfcx(np.abs(x - s) / np.sqrt(2)) / 2


def _distances(
    small: NoisyKeys, leader: Int[np.ndarray, "h"], weights: PerKeyAndRest
) -> tuple[PerKeyAndRest, PerHead]:
    """The largest entries of |v_i - v_j| and of |mean - v_j|, j the leader of each head."""
    of_noisy = to_numpy(small.values)
    of_rest = to_numpy(small.fixed_values)
    apart = np.zeros(weights.shape)
    away = np.zeros(leader.size)
    for h, first in enumerate(leader.tolist()):
        # Coordinate by coordinate: no temporary of the size of the values.
        for column, rest in zip(of_noisy.T, of_rest[h], strict=True):
            values = np.append(column, rest)
            np.maximum(apart[h], np.abs(values - values[first]), out=apart[h])
            away[h] = max(away[h], abs(weights[h] @ (values - values[first])))
    return apart, away
