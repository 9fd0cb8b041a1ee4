"""What rounding of the logits does to the moments of one head.

Let the mean of logit i be off by at most e_i and its variance by at most f_i, and values be at most
1 from their centre. dc/dz_i = alpha_i (v_i - c), which is at most 2 alpha_i (1 - alpha_i), and
expectations obey d/d(s^2) = (1/2) d^2/dm^2, so with W_i = E[alpha_i (1 - alpha_i)], to first order,

    E[c] moves by at most 2 sum_i W_i (e_i + f_i / 2),       E[c c'] by at most 12 times the same sum.

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
from dataclasses import replace

import array_api_compat as compat
import numpy as np

from headwright.keys import CentredLaw
from headwright.keys.products import UNIT
from headwright.noise.head.integral import HeadMoments
from headwright.noise.problem import Problem
from headwright.result import to_numpy
from headwright.types import Array, Float

MEAN = 2.0
COVARIANCE = 12.0
# Values at most 1 from their centre: no mean is off by more, nor is a covariance.
TRIVIAL = 2.0
_LITTLE = 1e-11  # below this no closer look is worth a pass over the keys
_REACH = 9.3  # deviations: beyond it a normal number is never seen (1e-20)
_DEEP = 43.0  # e^{-43}: a million such weights are still below 1e-12
_CLOSE = 0.25  # eta up to which the first-order sum is used


def with_rounding(head: HeadMoments, law: CentredLaw, h: int, *, m: Array) -> HeadMoments:
    """`head`, its error bounds enlarged by what rounding of the law of logits (of row h) may have
    done. `m` are the means that the head was computed from: minus infinity where a key is not seen.
    """
    moved = rounding(
        law, h, m=m, undecided=lambda: _undecided(head), known=head.first + head.second
    )
    return replace(
        head,
        first=head.first + min(TRIVIAL, MEAN * moved),
        second=head.second + min(TRIVIAL, COVARIANCE * moved),
    )


def rounding(
    law: CentredLaw,
    h: int,
    *,
    m: Array,
    undecided: Callable[[], Float[np.ndarray, "n"]],
    known: float,
) -> float:
    """How far rounding may have moved head h: `MEAN` times this for its mean, `COVARIANCE` times
    for its covariance. `undecided` are W_i or more, all together `known` to so much; they are asked
    for only where one bound for all keys is not enough."""
    xp = compat.array_namespace(law.means)
    one_for_all = (
        law.means_error.shape[1] == law.amplitude_error.shape[1] == law.root_error.shape[1] == 1
    )
    if one_for_all:
        widest = float(xp.max(law.variances[h, ...]))
        a, b = float(law.amplitude_error[h, 0]), float(law.root_error[h, 0])
        variance = law.relative * widest + 2 * a * widest**0.5 + a * a + b * b
        rate = float(law.means_error[h, 0]) + variance / 2
        if rate <= _LITTLE:
            return float(np.exp(2 * rate)) * rate
    return _key_by_key(
        undecided(),
        to_numpy(m),
        np.sqrt(to_numpy(law.variances[h, ...])),
        means_error=np.broadcast_to(to_numpy(law.means_error[h, ...]), tuple(m.shape)),
        variances_error=to_numpy(law.cross_error(h, h)),
        known=known,
    )


def largest_shift(problem: Problem) -> Float[np.ndarray, "h"]:
    """How far rounding may have moved any logit of each head in any draw that is ever seen; keys
    out of reach, which have no weight, are left out. Arithmetic on the logits adds a few units of
    their own size."""
    law = problem.law
    visible = (
        np.ones(tuple(law.means.shape), dtype=bool)
        if problem.mask is None
        else to_numpy(problem.mask)
    )
    return np.array([_shift_of_head(law, h, seen) for h, seen in enumerate(visible)])


def _shift_of_head(law: CentredLaw, h: int, seen: np.ndarray) -> float:
    m = np.where(seen, to_numpy(law.means[h, ...]), -np.inf)
    s = np.sqrt(to_numpy(law.variances[h, ...]))
    means_error = np.broadcast_to(to_numpy(law.means_error[h, ...]), m.shape)
    variances_error = np.broadcast_to(to_numpy(law.cross_error(h, h)), m.shape)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        wider = np.where(
            variances_error > 0, variances_error / np.maximum(s, np.sqrt(variances_error)), 0.0
        )
        shift = means_error + _REACH * wider
        far = _out_of_reach(m, s, shift)
        size = np.abs(m) + _REACH * s
    near = seen & ~far & np.isfinite(m)
    return float((shift + 8 * UNIT * (1.0 + size))[near].max(initial=0.0))


def _out_of_reach(m: np.ndarray, s: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Keys whose weight is below e^-43 in every plausible draw, though every logit may be off by
    `off`."""
    return (
        m + np.minimum(s * s / 2, _REACH * s) + 2 * off < np.max(m - _REACH * s - 2 * off) - _DEEP
    )


def pair_rounding(
    law: CentredLaw, rows: tuple[int, int], heads: tuple[HeadMoments, HeadMoments]
) -> float:
    """What rounding of the covariances of logits may do to the covariance of two heads."""
    least = np.minimum(*(_undecided(head) for head in heads))
    return min(TRIVIAL, 4 * float(least @ to_numpy(law.cross_error(*rows))))


def _undecided(head: HeadMoments) -> Float[np.ndarray, "n"]:
    """W_i = E[alpha_i (1 - alpha_i)]"""
    return np.maximum(to_numpy(head.weights_mean - head.weights_square), 0.0)


def _key_by_key(
    undecided: Float[np.ndarray, "n"],
    m: Float[np.ndarray, "n"],
    s: Float[np.ndarray, "n"],
    *,
    means_error: Float[np.ndarray, "n"],
    variances_error: Float[np.ndarray, "n"],
    known: float,
) -> float:
    """The sum over all keys; `known` is how well all W_i together are known."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rate = means_error + variances_error / 2
        far = _out_of_reach(m, s, rate)
        share = variances_error / (s * s)
        apart = np.where(share <= 0.5, 0.4 * means_error / s + share / 2, np.inf)
        sloped = (undecided + known) * rate
    near = ~far & ~(m == -np.inf)
    by_distance = near & ((apart < sloped) | ((rate > _CLOSE) & np.isfinite(apart)))
    by_slope = near & ~by_distance
    eta = float(rate[by_slope].max(initial=0.0))
    if not eta <= _CLOSE:
        return TRIVIAL
    jump = float(apart[by_distance].sum())
    slope = float(undecided[by_slope] @ rate[by_slope]) + eta * (known + 2 * jump)
    return float(jump + np.exp(2 * eta) * slope + np.count_nonzero(far) * np.exp(-_DEEP))
