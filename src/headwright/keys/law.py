"""The law of the logits: all that a query can tell about random keys. The key dimension d has
dropped out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat as compat

from headwright.types import Array


@dataclass(frozen=True)
class LogitsLaw:
    """Gaussian logits, `z_hi = means_hi + own noise of key i + sum_r shared_hri g_r`.

    `means`, `variances` (of the own noise): `(n,)` for one query, `(h, n)` for several. Own noises
    of different keys are independent; `cross[g, h, i] = Cov(z_gi, z_hi)` is that of one key seen by
    several queries, computed when first read. `shared` is None for independent keys, else the
    loadings `(r, n)` or `(h, r, n)` of standard normal factors common to all keys.
    """

    means: Array
    variances: Array
    _cross: Callable[[], Array]
    shared: Array | None = None

    @cached_property
    def cross(self) -> Array:
        """Covariance of the logits of one key that two queries see."""
        return self._cross()


@dataclass(frozen=True)
class CentredLaw(LogitsLaw):
    """The law of several heads in double precision, with `shift` `(h,)` taken off all means of a
    head (no weight changes by that), and what rounding may have done to it.

    No mean is off by more than `means_error`, but for a shift common to its head. With the
    deviation s_hi of logit i seen by head h,

        |cross_ghi - exact| <= relative s_gi s_hi + s_gi a_hi + s_hi a_gi + a_gi a_hi + b_gi b_hi,

    a = `amplitude_error` and b = `root_error`. Errors are `(h, n)`, or `(h, 1)` where one bound
    serves all keys.
    """

    shift: Any = 0.0
    means_error: Any = 0.0
    relative: float = 0.0
    amplitude_error: Any = 0.0
    root_error: Any = 0.0

    def cross_error(self, g: int | slice, h: int | slice) -> Array:
        """Bound on the error of `cross[g, h]`; with g = h, one head or several, of
        `variances[h]`."""
        xp = compat.array_namespace(self.variances)
        s_g, s_h = (xp.sqrt(self.variances[k, ...]) for k in (g, h))
        a_g, a_h = (self.amplitude_error[k, ...] for k in (g, h))
        b_g, b_h = (self.root_error[k, ...] for k in (g, h))
        error = self.relative * s_g * s_h
        error = error + s_g * a_h + s_h * a_g
        return error + a_g * a_h + b_g * b_h
