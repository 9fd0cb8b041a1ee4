"""Independent Gaussian keys `k_i ~ N(mu_i, Sigma_i)` whose covariance is a sum of structured parts:

    Sigma_i = a_i I  +  rho_i mu_i mu_i'  +  diag(D_i)  +  F_i F_i'  +  C_i

One query sees a key only through its logit, a scalar Gaussian, so the law of all logits needs the
quadratic forms `q' Sigma_i q` and never a d x d matrix (unless a full `covariance` was given).
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.keys import covariance as parts_of
from headwright.keys.covariance import Part
from headwright.keys.law import LogitsLaw
from headwright.keys.products import lengths
from headwright.keys.quantised import quantisation_variance
from headwright.result import to_numpy
from headwright.types import Array, Float, Keys, Query


class GaussianKeys:
    """Independent Gaussian keys around `means` `(n, d)`. Every part of the covariance is optional:

    `isotropic` a variance, one or n; `radial` a variance along the key's own mean, in units of its
    squared length, n numbers or `{key: variance}`; `diagonal` `(d,)` or `(n, d)`; `factors` `(n, d,
    r)`; `covariance` `(d, d)` or `(n, d, d)`. No part at all: fixed keys.

    >>> hw.GaussianKeys([[1, 0], [0, 1]], isotropic=0.01).radial({0: 0.5})
    GaussianKeys(n=2, d=2, isotropic, radial)
    """

    def __init__(
        self,
        means: Any,
        *,
        isotropic: Any = None,
        radial: Any = None,
        factors: Any = None,
        diagonal: Any = None,
        covariance: Any = None,
    ) -> None:
        _, (means, isotropic, diagonal, factors, covariance) = inputs.arrays(
            means=means,
            isotropic=isotropic,
            diagonal=diagonal,
            factors=factors,
            covariance=covariance,
            unchecked=("means",),
        )
        self.means: Keys = inputs.shape("means", means, "n", "d")
        # The largest ||mu_i||, which bounds the rounding of logits, sees NaN and infinities in the
        # same pass.
        self.longest = _longest(self.means)
        n, d = self.means.shape
        parts: list[Part] = []
        if isotropic is not None:
            parts.append(parts_of.Isotropic(_variances("isotropic", isotropic, n)))
        if radial is not None:
            parts.append(_radial(radial, self.means))
        if diagonal is not None:
            parts.append(parts_of.Diagonal(_variances("diagonal", diagonal, n, d)))
        if factors is not None:
            parts.append(parts_of.Factors(inputs.shape("factors", factors, n, d, "r")))
        if covariance is not None:
            full = _per_key("covariance", covariance, n, d, d)
            parts.append(parts_of.Covariance(_semidefinite(full)))
        # A part of zeros is no noise: dropping it here spares every later pass.
        self.parts: tuple[Part, ...] = tuple(part for part in parts if _any(part.array))

    @classmethod
    def quantised(
        cls, keys: Any, *, bits: int, per: str = "channel", group: int | None = None
    ) -> GaussianKeys:
        """The law of `keys` stored in `bits` bits (see `rounded`, which stores them so).

        An entry on a grid of step D is off by something close to uniform in [-D/2, D/2]: variance
        D^2 / 12.
        """
        _, (keys,) = inputs.arrays(keys=keys)
        variance = quantisation_variance(keys, bits=bits, per=per, group=group)
        return cls(keys, diagonal=variance)

    def radial(self, variances: Any) -> GaussianKeys:
        """These keys with random length: `rho_i mu_i mu_i'` added to the covariance of the keys
        named."""
        more = copy(self)
        more.parts = (*self.parts, _radial(variances, self.means))
        return more

    def along(self, directions: Float[Array, "d r"]) -> GaussianKeys:
        """The law of the keys' coordinates along orthonormal `directions`, columns: all that
        queries in their span see of a key."""
        fewer = copy(self)
        directions = _converted(directions, self.means)
        fewer.means = self.means @ directions
        fewer.parts = tuple(part.along(directions) for part in self.parts)
        return fewer

    def __len__(self) -> int:
        return int(self.means.shape[0])

    def __repr__(self) -> str:
        n, d = self.means.shape
        parts = ", ".join(type(part).__name__.lower() for part in self.parts) or "no noise"
        return f"GaussianKeys(n={n}, d={d}, {parts})"

    def sample(self, rng: np.random.Generator, size: int) -> Float[Array, "s n d"]:
        """`size` draws of all keys, `(size, n, d)`. To study a query use `logits_law`: there d
        drops out."""
        means = to_numpy(self.means)
        keys = np.broadcast_to(means, (int(size), *means.shape))
        for part in self.parts:
            keys = keys + part.sample(rng, int(size), means)
        xp = compat.array_namespace(self.means)
        return xp.asarray(keys, dtype=self.means.dtype, device=compat.device(self.means))

    def logits_law(self, queries: Any, *, scale: float = 1.0, bias: Any = None) -> LogitsLaw:
        """Means, variances (and cross-covariances) of `z_hi = scale * (k_i . q_h) + bias_hi`, for
        one query `(d,)` or several `(h, d)`, in the precision of the arrays."""
        # The keys were checked when they came in; an empty slice of them decides library and dtype
        # for free.
        xp, (queries, bias, like) = inputs.arrays(queries=queries, bias=bias, like=self.means[:0])
        n, d = self.means.shape
        one = queries.ndim == 1
        if one:
            Q = inputs.shape("queries", queries, d)[None, :]
        else:
            Q = inputs.shape("queries", queries, "h", d)
        h = Q.shape[0]
        scale = inputs.number("scale", scale)
        parts = self._parts(like)

        overlaps = Q @ _converted(self.means, like).T
        means = overlaps if scale == 1.0 else overlaps * scale
        if bias is not None:
            means = means + _per_key("bias", bias, h, n)

        def total(terms: list[Array], *shape: int) -> Array:
            """The sum over the parts, scaled; it must be a number."""
            none = xp.zeros(shape, dtype=means.dtype, device=compat.device(means))
            first, *others = terms or [none]
            added = sum(others, start=first)
            with np.errstate(over="ignore"):
                added = added if scale == 1.0 else added * scale * scale
            return inputs.finite("covariance of the logits", added)

        variances = total([part.variances(Q, overlaps) for part in parts], h, n)
        rows = 0 if one else ...
        return LogitsLaw(
            means=inputs.finite("mean logits", means)[rows],
            variances=variances[rows],
            _cross=lambda: total([part.cross(Q, overlaps) for part in parts], h, h, n),
        )

    def covariance_product(self, weights: Any, q: Any) -> Query:
        """`sum_i w_i Sigma_i q`: half the gradient of `sum_i w_i q' Sigma_i q`, at the price of one
        pass."""
        xp, (weights, q, like) = inputs.arrays(weights=weights, q=q, like=self.means[:0])
        n, d = self.means.shape
        inputs.shape("weights", weights, n)
        mu = _converted(self.means, like)
        out = xp.zeros_like(inputs.shape("q", q, d))
        for part in self._parts(like):
            out = out + part.covariance_product(weights, q, mu)
        return out

    def _parts(self, like: Array) -> list[Part]:
        """The parts of the covariance in the library, dtype and device of `like`."""
        return [replace(part, array=_converted(part.array, like)) for part in self.parts]


def _radial(variances: Any, means: Keys) -> Part:
    """Random lengths, for n keys or for those named."""
    n = means.shape[0]
    if isinstance(variances, Mapping):
        named = variances
        variances = np.zeros(n)
        for i, value in named.items():
            key = inputs.index("radial key", i, n)
            variances[key] = inputs.number("radial variance", value)
    _, (_, variances) = inputs.arrays(means=means[:0], radial=variances)
    return parts_of.Radial(_variances("radial", variances, n))


def _converted(array: Array, like: Array) -> Array:
    """`array` in the library, dtype and device of `like`; no copy where nothing changes."""
    xp = compat.array_namespace(like)
    return xp.asarray(array, dtype=like.dtype, device=compat.device(like))


def _longest(means: Keys) -> float:
    """The largest ||mu_i||; refuses what is not finite."""
    found = lengths(means)
    longest = float(compat.array_namespace(found).max(found))
    if not np.isfinite(longest):
        inputs.finite("means", means)
    return longest


def _any(array: Array) -> bool:
    """Is there an entry other than zero?"""
    return bool(compat.array_namespace(array).any(array != 0))


def _variances(name: str, array: Array, *shape: int) -> Array:
    """Numbers that are not negative, one for all keys or one per key."""
    return inputs.nonnegative(name, _per_key(name, array, *shape))


def _per_key(name: str, array: Array, *shape: int) -> Array:
    """One value for all keys, or one per key."""
    if array.ndim == 0 or tuple(array.shape) == shape[1:]:
        return compat.array_namespace(array).broadcast_to(array, shape)
    return inputs.shape(name, array, *shape)


def _semidefinite(C: Float[Array, "n d d"]) -> Array:
    """Refuse what is no covariance."""
    host = to_numpy(C)
    transposed = host.transpose(0, 2, 1)
    size = np.abs(host).max(initial=0.0)
    values = np.linalg.eigvalsh((host + transposed) / 2)
    lowest = values[:, 0].min()
    # An eigenvalue that rounding alone can make negative is forgiven; anything larger is not a
    # covariance.
    slack = 8 * host.shape[1] * np.finfo(host.dtype).eps * size
    asymmetric = np.abs(host - transposed).max() > slack
    if asymmetric or lowest < -slack:
        raise InputError(
            wanted="covariance symmetric and positive semidefinite",
            got=f"smallest eigenvalue {lowest:.3g}" if lowest < -slack else "an asymmetric matrix",
            attempt="pass A @ A.T, or repair it with an eigenvalue clip",
        )
    return C
