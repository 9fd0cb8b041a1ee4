"""The law of the logits: all that a query can tell about random keys. The key dimension d has dropped out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from headwright.types import Array


@dataclass(frozen=True)
class LogitsLaw:
    """Gaussian logits, `z_hi = means_hi + own noise of key i + sum_r shared_hri g_r`.

    `means`, `variances` (of the own noise): `(n,)` for one query, `(h, n)` for several. Own noises of different
    keys are independent; `cross[g, h, i] = Cov(z_gi, z_hi)` is that of one key seen by several queries, computed
    when first read. `shared` is None for independent keys, else the loadings `(r, n)` or `(h, r, n)` of
    standard normal factors common to all keys.
    """

    means: Array
    variances: Array
    _cross: Callable[[], Array]
    shared: Array | None = None

    @cached_property
    def cross(self) -> Array:
        return self._cross()
