"""What is random. `GaussianKeys` are independent keys `k_i ~ N(mu_i, Sigma_i)` whose covariance is a sum of
structured terms:

    Sigma_i = a_i I  +  rho_i mu_i mu_i'  +  diag(D_i)  +  F_i F_i'  +  C_i

One query sees a key only through its logit, a scalar Gaussian, so the law of all logits needs the quadratic
forms `q' Sigma_i q` and never a d x d matrix (unless a full `covariance` was given).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import array_api_compat as compat
import numpy as np

from headwright import attention, inputs
from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.types import Array, Float, Heads, Keys


@dataclass(frozen=True)
class LogitsLaw:
    """Gaussian logits, independent between keys. `means`, `variances`: `(n,)` for one query, `(h, n)` for
    several; `cross[g, h, i] = Cov(z_gi, z_hi)` for several queries on the same key, computed when first read."""

    means: Array
    variances: Array
    _cross: Callable[[], Array]

    @cached_property
    def cross(self) -> Array:
        return self._cross()


class _Term(Protocol):
    """One summand of `Sigma_i`."""

    def variances(self, Q: Heads) -> Float[Array, "h n"]: ...

    def cross(self, Q: Heads) -> Float[Array, "h h n"]: ...

    def sample(self, rng: np.random.Generator, size: int) -> Float[np.ndarray, "s n d"]: ...


@dataclass(frozen=True)
class _Isotropic:
    a: Float[Array, "n"]
    d: int

    def variances(self, Q: Heads) -> Array:
        xp = compat.array_namespace(Q)
        return xp.sum(Q * Q, axis=1)[:, None] * self.a[None, :]

    def cross(self, Q: Heads) -> Array:
        return (Q @ Q.T)[:, :, None] * self.a

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        a = to_numpy(self.a)
        return rng.standard_normal((size, a.shape[0], self.d)) * np.sqrt(a)[:, None]


@dataclass(frozen=True)
class _Projected:
    """`Sigma_i = F_i F_i'` seen through `project(Q)[h, i, r] = q_h . F_i[:, r]`: the radial and factor terms."""

    project: Callable[[Heads], Float[Array, "h n r"]]
    factors: Callable[[], Float[np.ndarray, "n d r"]]

    def variances(self, Q: Heads) -> Array:
        xp, p = compat.array_namespace(Q), self.project(Q)
        return xp.sum(p * p, axis=-1)

    def cross(self, Q: Heads) -> Array:
        xp, p = compat.array_namespace(Q), self.project(Q)
        return xp.sum(p[:, None] * p[None, :], axis=-1)

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        F = self.factors()
        return np.einsum("ndr,snr->snd", F, rng.standard_normal((size, F.shape[0], F.shape[2])))


@dataclass(frozen=True)
class _Diagonal:
    D: Float[Array, "n d"]

    def variances(self, Q: Heads) -> Array:
        return (Q * Q) @ self.D.T

    def cross(self, Q: Heads) -> Array:
        return (Q[:, None, :] * Q[None, :, :]) @ self.D.T

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        D = to_numpy(self.D)
        return rng.standard_normal((size, *D.shape)) * np.sqrt(D)


@dataclass(frozen=True)
class _Full:
    C: Float[Array, "n d d"]

    def variances(self, Q: Heads) -> Array:
        xp = compat.array_namespace(Q)
        return xp.stack([xp.sum((self.C @ q) * q, axis=-1) for q in Q])

    def cross(self, Q: Heads) -> Array:
        xp = compat.array_namespace(Q)
        return xp.permute_dims(Q @ self.C @ Q.T, (1, 2, 0))

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        values, vectors = np.linalg.eigh(to_numpy(self.C))
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        return np.einsum("nde,sne->snd", root, rng.standard_normal((size, *values.shape)))


class GaussianKeys:
    """Independent Gaussian keys around `means` `(n, d)`. Every part of the covariance is optional:

    `isotropic` a variance, one or n; `radial` a variance along the key's own mean, in units of its squared
    length, n numbers or `{key: variance}`; `diagonal` `(d,)` or `(n, d)`; `factors` `(n, d, r)`;
    `covariance` `(d, d)` or `(n, d, d)`. No part at all: fixed keys.
    """

    def __init__(
        self,
        means: Any,
        *,
        isotropic: Any = 0.0,
        radial: Any = None,
        factors: Any = None,
        diagonal: Any = None,
        covariance: Any = None,
    ) -> None:
        dense = {} if radial is None or isinstance(radial, Mapping) else {"radial": radial}
        xp, (means, isotropic, factors, diagonal, covariance, *rest) = inputs.arrays(
            means=means,
            isotropic=isotropic,
            factors=factors,
            diagonal=diagonal,
            covariance=covariance,
            **dense,
        )
        self.means: Keys = inputs.shape("means", means, "n", "d")
        n, d = self.means.shape
        terms: list[_Term] = []
        if bool(xp.any(isotropic != 0)):
            a = inputs.nonnegative("isotropic", _per_key("isotropic", isotropic, (n,)))
            terms.append(_Isotropic(a, d))
        if diagonal is not None:
            D = inputs.nonnegative("diagonal", _per_key("diagonal", diagonal, (n, d)))
            terms.append(_Diagonal(D))
        if factors is not None:
            F = inputs.shape("factors", factors, n, d, "r")
            terms.append(_Projected(lambda Q: xp.tensordot(Q, F, axes=([1], [1])), lambda: to_numpy(F)))
        if covariance is not None:
            C = _per_key("covariance", covariance, (n, d, d))
            terms.append(_Full(_semidefinite(C)))
        self._terms: tuple[_Term, ...] = tuple(terms)
        if radial is not None:
            self._terms = self.radial(radial if isinstance(radial, Mapping) else rest[0])._terms

    def radial(self, variances: Any) -> GaussianKeys:
        """These keys with random length: `rho_i mu_i mu_i'` added to the covariance of the keys named."""
        mu, (n, _) = self.means, self.means.shape
        if isinstance(variances, Mapping):
            rho_ = np.zeros(n)
            for i, value in variances.items():
                rho_[inputs.index("radial key", i, n)] = inputs.number("radial variance", value)
            variances = rho_
        xp, (_, rho) = inputs.arrays(means=mu, radial=variances)
        rho = inputs.nonnegative("radial", _per_key("radial", rho, (n,)))
        size = xp.sqrt(rho)
        term = _Projected(
            lambda Q: ((Q @ mu.T) * size[None, :])[:, :, None],
            lambda: to_numpy(mu * size[:, None])[:, :, None],
        )
        return self._with(term)

    def _with(self, term: _Term) -> GaussianKeys:
        more = object.__new__(GaussianKeys)
        more.means, more._terms = self.means, (*self._terms, term)
        return more

    def __len__(self) -> int:
        return int(self.means.shape[0])

    def __repr__(self) -> str:
        n, d = self.means.shape
        parts = ", ".join(type(t).__name__.strip("_").lower() for t in self._terms) or "no noise"
        return f"GaussianKeys(n={n}, d={d}, {parts})"

    def sample(self, rng: np.random.Generator, size: int) -> Float[Array, "s n d"]:
        """`size` draws of all keys, `(size, n, d)`. To study a query use `logits_law`: there d drops out."""
        noise = np.zeros((int(size), *self.means.shape))
        for term in self._terms:
            noise += term.sample(rng, int(size))
        xp = compat.array_namespace(self.means)
        return self.means + xp.asarray(noise, dtype=self.means.dtype, device=compat.device(self.means))

    def logits_law(self, queries: Any, *, scale: float = 1.0, bias: Any = None) -> LogitsLaw:
        """Means, variances (and cross-covariances) of `z_hi = scale * (k_i . q_h) + bias_i`."""
        xp, (_, queries, bias) = inputs.arrays(means=self.means, queries=queries, bias=bias)
        means = attention.logits(queries, self.means, scale=scale, bias=bias)
        Q = queries if queries.ndim == 2 else inputs.shape("queries", queries, "d")[None, :]
        h, n = Q.shape[0], self.means.shape[0]

        def total(parts: list[Array], shape: tuple[int, ...]) -> Array:
            out = xp.zeros(shape, dtype=means.dtype, device=compat.device(means))
            for part in parts:
                out = out + part
            return out * scale**2

        variances = total([t.variances(Q) for t in self._terms], (h, n))
        inputs.finite("logit variances", variances)
        return LogitsLaw(
            means=means,
            variances=variances if queries.ndim == 2 else variances[0],
            _cross=lambda: total([t.cross(Q) for t in self._terms], (h, h, n)),
        )


def _per_key(name: str, array: Array, shape: tuple[int, ...]) -> Array:
    """One value for all keys, or one per key."""
    xp = compat.array_namespace(array)
    if array.ndim < len(shape) and (array.ndim == 0 or tuple(array.shape) == shape[1:]):
        return xp.broadcast_to(array, shape)
    return inputs.shape(name, array, *shape)


def _semidefinite(C: Float[Array, "n d d"]) -> Array:
    host = to_numpy(C)
    size = np.abs(host).max(initial=0.0)
    lowest = np.linalg.eigvalsh((host + host.transpose(0, 2, 1)) / 2)[:, 0].min()
    # An eigenvalue that rounding alone can make negative is forgiven; anything larger is not a covariance.
    slack = 8 * host.shape[1] * np.finfo(host.dtype).eps * size
    if np.abs(host - host.transpose(0, 2, 1)).max() > slack or lowest < -slack:
        raise InputError(
            wanted="covariance symmetric and positive semidefinite",
            got=f"smallest eigenvalue {lowest:.3g}" if lowest < -slack else "an asymmetric matrix",
            attempt="pass A @ A.T, or repair it with an eigenvalue clip",
        )
    return C
