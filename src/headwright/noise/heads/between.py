"""What two heads of one output have to do with each other: nothing, if no key correlates them; the
double integral, key by key (`pair`) or by sums over many keys (`series`); or, where both are out of
reach, a sampled covariance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headwright.noise import budget
from headwright.noise.head.integral import HeadMoments
from headwright.noise.head.tabulated import tabulate
from headwright.noise.heads.pair import PairLaw, PairMoments, pair_moments
from headwright.noise.heads.series import series_moments
from headwright.noise.problem import Problem
from headwright.noise.record import Moments
from headwright.noise.rounding import pair_rounding
from headwright.noise.sampling.moments import sampled_moments
from headwright.result import to_numpy
from headwright.types import Array, HostValues

# Up to so many keys the arrays come to the host, and the double integral between heads may be taken
# key by key
DIRECT = 4096
# Up to so many correlated keys it is.
_FEW = 32
# A sampled covariance is reported with this many standard errors.
SIGMAS = 5.0


@dataclass(frozen=True)
class LogitsByHead:
    """Means and deviations of the logits, one array per head."""

    means: list[Array]
    deviations: list[Array]

    def pair(self, g: int, h: int, cross: np.ndarray) -> PairLaw:
        """The logits of heads g and h; `cross` is their covariance key by key."""
        m = np.stack([to_numpy(self.means[g]), to_numpy(self.means[h])])
        s = np.stack([to_numpy(self.deviations[g]), to_numpy(self.deviations[h])])
        return PairLaw(m, s, cross)


@dataclass(frozen=True)
class Head:
    """One distinct head: the rows that share its query, their mix together, and its moments."""

    rows: list[int]
    mix: float
    moments: HeadMoments


@dataclass(frozen=True)
class Pair:
    """Two distinct heads; `moments` is None where the double integral is out of reach."""

    first: Head
    second: Head
    moments: PairMoments | None

    @property
    def mix(self) -> float:
        """The product of the two mixing weights."""
        return self.first.mix * self.second.mix


def between(problem: Problem, law: LogitsByHead, first: Head, second: Head) -> Pair:
    """Covariance of two heads."""
    g = first.rows[0]
    h = second.rows[0]
    both = (first.moments, second.moments)
    cross = to_numpy(problem.law.cross[g, h, ...]).astype(float)
    mask = problem.scores.mask
    if mask is not None:
        seen_by_both = mask[g, ...] & mask[h, ...]
        cross = cross * to_numpy(seen_by_both)
    n, v = problem.values.shape
    rounding = pair_rounding(problem.law, (g, h), both)
    if not cross.any():
        nothing = PairMoments(np.zeros((v, v)), np.zeros(n), rounding)
        return Pair(first, second, nothing)
    V = to_numpy(problem.values).astype(float, copy=False)
    found = _double_integral(law.pair(g, h, cross), V, both)
    if found is not None:
        found = replace(found, error=found.error + rounding)
    return Pair(first, second, found)


def _double_integral(
    law: PairLaw, V: HostValues, heads: tuple[HeadMoments, HeadMoments]
) -> PairMoments | None:
    """By sums over many keys where that goes and keeps the promise, else key by key if they are few
    enough; else None."""
    summed = None
    if np.count_nonzero(law.c) > _FEW:
        summed = series_moments(law, V, heads=heads)
    kept = summed is not None and summed.error <= budget.PROMISED_COVARIANCE
    if kept or law.c.size > DIRECT:
        return summed
    a, b = (tabulate(m, s) for m, s in zip(law.m, law.s, strict=True))
    return pair_moments(a, b, law, V, heads=heads) or summed


def with_sampled_covariance(problem: Problem, found: Moments, seed: int) -> Moments:
    """Mean and weights stay exact; covariances come from sampling, with their own error."""
    drawn = sampled_moments(problem, seed=seed)
    error = SIGMAS * drawn.error
    return replace(
        found,
        covariance=drawn.covariance,
        weights_variance=drawn.weights_variance,
        error=max(found.error, error),
        covariance_error=error,
        status="sampled covariance",
        message="two heads are correlated through too many keys for the double integral; "
        f"the covariance between heads is sampled, {SIGMAS:g} standard errors stated",
    )
