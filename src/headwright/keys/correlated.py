"""Keys that move together: each has its own Gaussian noise, and all feel the same few factors,

    k_i = (independent Gaussian key i) + sum_r g_r L_ri,      g_r ~ N(0, 1) common to all keys.

Any joint Gaussian law of the keys has this form. The exact integrals need independent keys, so
these are for `method="sampled"`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright import inputs
from headwright.keys.gaussian import GaussianKeys
from headwright.keys.law import LogitsLaw
from headwright.result import to_numpy
from headwright.types import Array, Float, Keys


class CorrelatedKeys:
    """`keys` plus factors common to all of them. `shared` is `(r, n, d)`: how far factor r moves
    key i; or `(r, d)`: a shift that all keys feel alike.

    >>> from headwright.keys import CorrelatedKeys
    >>> keys = hw.GaussianKeys([[1, 0], [0, 1]], isotropic=0.01)
    >>> together = CorrelatedKeys(keys, [[0.1, 0.1]])
    >>> print(hw.moments([2, 0], together, [[1], [3]], method="sampled").mean.round(2))
    [1.24]
    """

    def __init__(self, keys: GaussianKeys, shared: Any) -> None:
        xp, (_, shared) = inputs.arrays(means=keys.means[:0], shared=shared)
        n, d = keys.means.shape
        if shared.ndim == 2:
            inputs.shape("shared", shared, "r", d)
            shared = xp.broadcast_to(shared[:, None, :], (shared.shape[0], n, d))
        self.keys = keys
        self.shared: Float[Array, "r n d"] = inputs.shape("shared", shared, "r", n, d)

    @property
    def means(self) -> Keys:
        """Those of the keys themselves: factors have mean zero."""
        return self.keys.means

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"CorrelatedKeys({self.keys!r}, {self.shared.shape[0]} shared factors)"

    def sample(self, rng: np.random.Generator, size: int) -> Float[Array, "s n d"]:
        """`size` draws of all keys, `(size, n, d)`."""
        xp = compat.array_namespace(self.means)
        own = self.keys.sample(rng, size)
        factors = rng.standard_normal((int(size), self.shared.shape[0]))
        moved = np.einsum("sr,rnd->snd", factors, to_numpy(self.shared))
        return own + xp.asarray(moved, dtype=own.dtype, device=compat.device(own))

    def logits_law(self, queries: Any, *, scale: float = 1.0, bias: Any = None) -> LogitsLaw:
        """As for `GaussianKeys`, with `shared[h, r, i] = scale * (L_ri . q_h)`."""
        law = self.keys.logits_law(queries, scale=scale, bias=bias)
        return replace(law, shared=loadings(queries, self.shared, scale))


def loadings(queries: Any, shared: Any, scale: float) -> Float[Array, "*h r n"]:
    """How far each factor moves the logits that the queries see."""
    xp, (queries, shared) = inputs.arrays(queries=queries, shared=shared)
    moved = xp.tensordot(queries, shared, axes=([-1], [2])) * scale
    return inputs.finite("shared loadings", moved)
