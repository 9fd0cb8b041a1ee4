"""What rounding of the logits does to the moments of one head.

Let the mean of logit i be off by at most e_i and its variance by at most f_i, and values be at most
1 from their centre. dc/dz_i = alpha_i (v_i - c), which is at most 2 alpha_i (1 - alpha_i), and
expectations obey d/d(s^2) = (1/2) d^2/dm^2, so with W_i = E[alpha_i (1 - alpha_i)], to first order,

    E[c] moves by at most 2 sum_i W_i (e_i + f_i / 2),   E[c c'] by at most 12 times the same sum.

Along the way from the law we have to the exact one W_i grows at most by the factor e^{2 eta}, where
eta is the largest e_i + f_i / 2: that makes it a bound. A wide logit is better told by the distance
in total variation between the two Gaussians: it is at most 0.4 e_i / s_i + f_i / (2 s_i^2) whatever
the weights are (the second by Pinsker's inequality, for f_i <= s_i^2 / 2), and E[c] and E[c c']
move by at most twice that. Each key is counted the cheaper way, and keys out of reach, whatever
rounding did, by the weight they cannot exceed.

Of two heads, d Cov[c, c'] / d Cov(z_i, z_i') = E[(dc/dz_i)(dc'/dz_i')] is at most 4 min(W_i, W_i').

Where a whole distribution is asked for, draws are compared one by one (`largest_shift`): with the
same normal number g, no logit is off by more than e_i + |g| f_i / s_i (nor by more than e_i + |g|
sqrt(f_i)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import array_api_compat as compat
import numpy as np

from headwright.keys import CentredLaw
from headwright.keys.products import UNIT
from headwright.noise import budget
from headwright.noise.head.integral import HeadMoments
from headwright.noise.problem import Problem
from headwright.result import to_numpy
from headwright.types import Array, Bool, Float, HostPerHead, HostPerKey

Logits = Float[np.ndarray, "*h n"]  # of one head, or of several
# Values at most 1 from their centre: no mean is off by more, nor is a covariance.
TRIVIAL = 2.0
_LITTLE = 1e-11  # below this no closer look is worth a pass over the keys
_CLOSE = 0.25  # eta up to which the first-order sum is used


@dataclass(frozen=True)
class _Moved:
    """The logits of some heads on the host, and how far rounding may have moved each: its mean by
    `means_error`, its variance by `variances_error`. Keys that are not seen have mean minus
    infinity."""

    m: Logits
    s: Logits
    means_error: Logits
    variances_error: Logits

    @staticmethod
    def of(law: CentredLaw, h: int | slice, m: Array) -> _Moved:
        """Head h, or several, their means given as they were used."""
        m = to_numpy(m)
        return _Moved(
            m=m,
            s=np.sqrt(to_numpy(law.variances[h, ...])),
            means_error=np.broadcast_to(to_numpy(law.means_error[h, ...]), m.shape),
            variances_error=np.broadcast_to(to_numpy(law.cross_error(h, h)), m.shape),
        )

    def out_of_reach(self, off: Logits) -> Bool[np.ndarray, "*h n"]:
        """Keys whose weight is below e^-43 in every plausible draw, though every logit may be off
        by `off`."""
        reach = budget.REACH * self.s
        raised = np.minimum(self.s * self.s / 2, reach)
        highest = self.m + raised + 2 * off
        floor = np.max(self.m - reach - 2 * off, axis=-1, keepdims=True)
        return highest < floor - budget.DEEP


def with_rounding(head: HeadMoments, law: CentredLaw, h: int, *, m: Array) -> HeadMoments:
    """`head`, its error bounds enlarged by what rounding of the law of logits (of row h) may have
    done. `m` are the means that the head was computed from: minus infinity where a key is not seen.
    """
    known = head.first + head.second
    moved = rounding(law, h, m=m, undecided=lambda: _undecided(head), known=known)
    first = head.first + min(TRIVIAL, budget.MOVED_MEAN * moved)
    second = head.second + min(TRIVIAL, budget.MOVED_COVARIANCE * moved)
    return replace(head, first=first, second=second)


def all_with_rounding(
    heads: HeadMoments, law: CentredLaw, *, m: Float[np.ndarray, "h n"]
) -> HeadMoments:
    """The same for as many heads as there are rows."""
    rate = _one_for_all(law, slice(None))
    if rate is not None and np.all(rate <= _LITTLE):
        moved = np.exp(2 * rate) * rate
    else:
        known = heads.first + heads.second
        moved = _key_by_key(_undecided(heads), _Moved.of(law, slice(None), m), known)
    first = heads.first + np.minimum(TRIVIAL, budget.MOVED_MEAN * moved)
    second = heads.second + np.minimum(TRIVIAL, budget.MOVED_COVARIANCE * moved)
    return replace(heads, first=first, second=second)


def rounding(
    law: CentredLaw, h: int, *, m: Array, undecided: Callable[[], HostPerKey], known: float
) -> float:
    """How far rounding may have moved head h: `MOVED_MEAN` times this for its mean,
    `MOVED_COVARIANCE` times for its covariance. `undecided` are W_i or more, all together `known`
    to so much; they are asked for only where one bound for all keys is not enough."""
    rate = _one_for_all(law, slice(h, h + 1))
    if rate is not None and rate[0] <= _LITTLE:
        return float(np.exp(2 * rate[0]) * rate[0])
    moved = _key_by_key(undecided(), _Moved.of(law, h, m), np.array(known))
    return float(moved)


def _one_for_all(law: CentredLaw, heads: slice) -> HostPerHead | None:
    """The largest e_i + f_i / 2 of some heads, where one bound serves all keys."""
    errors = (law.means_error, law.amplitude_error, law.root_error)
    if any(error.shape[1] != 1 for error in errors):
        return None
    xp = compat.array_namespace(law.means)
    widest = to_numpy(xp.max(law.variances[heads, ...], axis=1))
    mean, a, b = (to_numpy(error[heads, 0]) for error in errors)
    variance = law.relative * widest + 2 * a * np.sqrt(widest)
    variance = variance + a * a + b * b
    return mean + variance / 2


def largest_shift(problem: Problem) -> HostPerHead:
    """How far rounding may have moved any logit of each head in any draw that is ever seen; keys
    out of reach, which have no weight, are left out. Arithmetic on the logits adds a few units of
    their own size."""
    means = to_numpy(problem.seen(problem.law.means))
    return np.array([_shift_of_head(problem.law, h, m) for h, m in enumerate(means)])


def _shift_of_head(law: CentredLaw, h: int, m: HostPerKey) -> float:
    """The largest shift of any logit that is in reach."""
    one = _Moved.of(law, h, m)
    f = one.variances_error
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        widest = np.maximum(one.s, np.sqrt(f))
        wider = np.where(f > 0, f / widest, 0.0)
        shift = one.means_error + budget.REACH * wider
        near = ~one.out_of_reach(shift) & np.isfinite(m)
        size = np.abs(m) + budget.REACH * one.s
    off = shift + 8 * UNIT * (1.0 + size)
    return float(off[near].max(initial=0.0))


def pair_rounding(
    law: CentredLaw, rows: tuple[int, int], heads: tuple[HeadMoments, HeadMoments]
) -> float:
    """What rounding of the covariances of logits may do to the covariance of two heads."""
    least = np.minimum(*(_undecided(head) for head in heads))
    error = to_numpy(law.cross_error(*rows))
    return min(TRIVIAL, 4 * float(least @ error))


def _undecided(head: HeadMoments) -> Logits:
    """W_i = E[alpha_i (1 - alpha_i)]"""
    return np.maximum(to_numpy(head.weights_mean - head.weights_square), 0.0)


def _key_by_key(undecided: Logits, logits: _Moved, known: np.ndarray) -> np.ndarray:
    """The sum over all keys, for each head; `known` is how well all W_i together are known."""
    means_error = logits.means_error
    variances_error = logits.variances_error
    s = logits.s
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rate = means_error + variances_error / 2
        far = logits.out_of_reach(rate)
        share = variances_error / (s * s)
        apart = np.where(share <= 0.5, 0.4 * means_error / s + share / 2, np.inf)
        sloped = (undecided + known[..., None]) * rate

    near = ~far & ~(logits.m == -np.inf)
    too_steep = (rate > _CLOSE) & np.isfinite(apart)
    by_distance = near & ((apart < sloped) | too_steep)
    by_slope = near & ~by_distance
    rate = np.where(by_slope, rate, 0.0)
    eta = rate.max(axis=-1)
    jump = np.where(by_distance, apart, 0.0).sum(axis=-1)
    slope = (undecided * rate).sum(axis=-1)
    slope = slope + eta * (known + 2 * jump)
    lost = np.count_nonzero(far, axis=-1) * np.exp(-budget.DEEP)
    total = jump + np.exp(2 * np.minimum(eta, _CLOSE)) * slope + lost
    return np.where(eta <= _CLOSE, total, TRIVIAL)
