"""What rounding of the logits does to the moments of one head.

Let the mean of logit i be off by at most e_i and its variance by at most f_i, and values be at most 1 from their
centre. dc/dz_i = alpha_i (v_i - c), and expectations obey d/d(s^2) = (1/2) d^2/dm^2, so to first order

    E[c] moves by at most 2 sum_i E[alpha_i] (e_i + f_i / 2),       E[c c'] by at most 12 of the same sum.

Along the way from the law we have to the exact one a weight grows at most by the factor e^{2 eta}, where eta is the
largest e_i + f_i / 2: that makes it a bound. A wide logit is better told by the distance in total variation between
the two Gaussians: it is at most 0.4 e_i / s_i + f_i / (2 s_i^2) whatever the weights are (the second by Pinsker's
inequality, for f_i <= s_i^2 / 2), and E[c] and E[c c'] move by at most twice that. Each key is counted the cheaper
way, and keys out of reach, whatever rounding did, by the weight they cannot exceed.
"""

from __future__ import annotations

from dataclasses import replace

import array_api_compat as compat
import numpy as np

from headwright.arrays import like
from headwright.keys import CentredLaw
from headwright.noise.exact import HeadMoments
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


def with_rounding(head: HeadMoments, law: CentredLaw, h: int, *, m: Array, s: Array) -> HeadMoments:
    """`head`, its error bounds enlarged by what rounding of the law of logits (of row h) may have done. `m` and `s` are
    the means and deviations that the head was computed from."""
    moved = _moved(head, law, h, m, s)
    return replace(
        head,
        first=head.first + min(TRIVIAL, MEAN * moved),
        second=head.second + min(TRIVIAL, COVARIANCE * moved),
    )


def _moved(head: HeadMoments, law: CentredLaw, h: int, m: Array, s: Array) -> float:
    xp = compat.array_namespace(law.means)
    one_for_all = law.means_error.shape[1] == law.amplitude_error.shape[1] == law.root_error.shape[1] == 1
    if one_for_all:
        widest = float(xp.max(law.variances[h, ...]))
        a, b = float(law.amplitude_error[h, 0]), float(law.root_error[h, 0])
        variance = law.relative * widest + 2 * a * widest**0.5 + a * a + b * b
        rate = float(law.means_error[h, 0]) + variance / 2
        if rate <= _LITTLE:
            return float(np.exp(2 * rate)) * rate
    return _key_by_key(
        *(to_numpy(x).astype(float, copy=False) for x in (head.weights_mean, m, s)),
        means_error=np.broadcast_to(to_numpy(law.means_error[h, ...]), tuple(m.shape)),
        variances_error=to_numpy(law.cross_error(h, h)),
        known=head.first,
    )


def _key_by_key(
    weights: Float[np.ndarray, "n"],
    m: Float[np.ndarray, "n"],
    s: Float[np.ndarray, "n"],
    *,
    means_error: Float[np.ndarray, "n"],
    variances_error: Float[np.ndarray, "n"],
    known: float,
) -> float:
    """The sum over all keys; `known` is how well their mean weights are known."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rate = means_error + variances_error / 2
        far = m + np.minimum(s * s / 2, _REACH * s) + 2 * rate < np.max(m - _REACH * s - 2 * rate) - _DEEP
        share = variances_error / (s * s)
        apart = np.where(share <= 0.5, 0.4 * means_error / s + share / 2, np.inf)
        sloped = weights * rate
    near = ~far & ~(m == -np.inf)
    by_distance = near & (apart < sloped)
    by_slope = near & ~by_distance
    eta = float(rate[by_slope].max(initial=0.0))
    if not eta <= _CLOSE:
        return TRIVIAL
    jump = float(apart[by_distance].sum())
    slope = float(sloped[by_slope].sum()) + eta * (known + 2 * jump)
    return jump + float(np.exp(2 * eta)) * slope + np.count_nonzero(far) * float(np.exp(-_DEEP))
