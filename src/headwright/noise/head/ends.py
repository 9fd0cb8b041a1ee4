"""Where the integral over u begins and ends, for many queries at once, from bounds of Psi that need
no transform:

    1 - phi <= E e^{ky}, 0 <= k <= 1:   e^{x + s^2/2}, or e^{-x^2 / (2 s^2)} where -s^2 < x < 0
    ln phi  <= -theta (1 + s^2 theta / 2),   s^2 theta + ln theta = x

(the second from exp(-e^y) <= (theta / e)^theta e^{-theta y}). What the ends really cut off is
measured afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.types import Float

NEGLIGIBLE = 1e-14  # mass beyond either end
# E^{-LEVEL}: the product of all phi is gone, its derivatives too
LEVEL = -float(np.log(NEGLIGIBLE)) + 4.0
_STEPS_INWARDS = 2  # of the left end, from where it is certain
_LOOKS = 12  # points at which the right end is looked for
_CLOSER_LOOKS = 4  # each at one interval of the look before
_SLACK = 1.0  # of the right end: three nodes too many
_SCALE = 15.0  # distance from the right end from which looks are further apart
_FIXED = 1e-8  # a smaller deviation is none

PerQuery = Float[np.ndarray, "q"]
PerLaw = Float[np.ndarray, "q k"]


@dataclass(frozen=True)
class Logits:
    """Independent logits N(m_i, s_i^2), the i-th occurring `count_i` times: a row for each query.
    One that occurs 0 times has mean minus infinity."""

    m: PerLaw
    s: PerLaw
    count: PerLaw


@dataclass(frozen=True)
class Ends:
    """From where to where each query has to be integrated."""

    low: PerQuery
    high: PerQuery

    @property
    def length(self) -> PerQuery:
        """Of the way between them."""
        return self.high - self.low


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # deviations of 1e200, no mean
def find_ends(logits: Logits) -> Ends:
    """Ends beyond which there is next to nothing."""
    certain = certain_ends(logits)
    low = certain.low
    high = certain.high
    near = np.zeros(low.size)
    far = np.arcsinh((high - low) / _SCALE)
    places = np.linspace(0.0, 1.0, _LOOKS)
    rows = np.arange(low.size)

    # Looked for in the logarithm of the distance, which has no scale of its own.
    for _ in range(_CLOSER_LOOKS):
        y = near[:, None] + (far - near)[:, None] * places
        u = high[:, None] - _SCALE * np.sinh(y[:, 1:-1])
        alive = _most(logits, u) >= -LEVEL
        first = np.where(alive.any(axis=1), alive.argmax(axis=1), _LOOKS - 2)
        near = y[rows, first]
        far = y[rows, first + 1]
        if _SCALE * np.max(far - near) <= _SLACK:
            break
    return Ends(low, high - _SCALE * np.sinh(near))


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def certain_ends(logits: Logits) -> Ends:
    """Ends that need no search: a sum over keys on the left, one key alone on the right."""
    low = _left_end(logits)
    # theta (1 + s^2 theta / 2) = level
    level = LEVEL / logits.count
    root = np.hypot(1.0, logits.s * np.sqrt(2 * level))
    theta = 2 * level / (1.0 + root)
    gone = root - 1.0 + np.log(theta) - logits.m
    gone = np.where(logits.count > 0, gone, np.inf)
    return Ends(low, np.maximum(gone.min(axis=1), low + 1.0))


def _left_end(logits: Logits) -> PerQuery:
    """Where all 1 - phi together are negligible."""
    m, s, count = logits.m, logits.s, logits.count
    share = np.log(count.sum(axis=1, keepdims=True) / NEGLIGIBLE)
    widest = np.sqrt(2 * share)
    each = np.where(s < widest, -share - s * s / 2, -s * widest) - m
    low = each.min(axis=1)

    # ln(sum of bounds) grows by at most 1 for a step of 1, so these steps never go too far.
    log_count = np.log(count)
    for _ in range(_STEPS_INWARDS):
        x = low[:, None] + m
        steep = x <= -s * s
        bound = np.where(steep, x + s * s / 2, -0.5 * (np.minimum(x, 0.0) / s) ** 2)
        bound += log_count
        top = bound.max(axis=1)
        total = top + np.log(np.exp(bound - top[:, None]).sum(axis=1))
        low = low + (np.log(NEGLIGIBLE) - total)
    return low


def _most(logits: Logits, u: Float[np.ndarray, "q looks"]) -> Float[np.ndarray, "q looks"]:
    """Psi is about this, or less. Of Lambert's function W(s^2 e^x) = s^2 theta two digits are
    enough: theta is the best of all numbers for which the bound holds."""
    s = np.maximum(logits.s, _FIXED)[:, None, :]
    t = u[:, :, None] + (logits.m[:, None, :] + 2 * np.log(s))
    log_one_more = np.maximum(t, 0.0) + np.log1p(np.exp(-np.abs(t)))
    W = log_one_more * (1.0 - np.log1p(log_one_more) / (2.0 + log_one_more))
    psi = W / s / s * (1.0 + 0.5 * W)
    return -(psi @ logits.count[:, :, None])[:, :, 0]
