"""The summands a key's covariance may have. Each holds one array and answers six questions: the
variance of `k_i . q`, the covariance of `k_i . q_g` with `k_i . q_h`, what rounding may do to both,
the vector `sum_i w_i Sigma_i q` (half the gradient of the weighted variances), a draw of the noise,
and its part for the coordinates of the key along `r` orthonormal directions. None builds a d x d
matrix that was not given.

`overlaps[h, i] = q_h . mu_i` is handed in because the caller needs it anyway: radial noise then
costs no second pass over the keys.

Rounding, beyond a relative error of some units that every part has, is told by two numbers a and b
for each head and key, so that the covariance of `k_i . q_g` and `k_i . q_h` is off by at most s_g
a_h + s_h a_g + a_g a_h + b_g b_h: an error a of the vector whose squared length is the variance,
and an error b^2 of a sum whose terms may cancel.
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright.keys.products import gamma, product
from headwright.result import to_numpy
from headwright.types import Array, Float, Heads, Keys, PerKey, Query

Overlaps = Float[Array, "h n"]
Variances = Float[Array, "h n"]
Cross = Float[Array, "h h n"]
HostKeys = Float[np.ndarray, "n d"]
Draws = Float[np.ndarray, "s n d"]
Directions = Float[Array, "d r"]
Generator = np.random.Generator
Rounding = tuple[Array | float, Array | float]  # a and b, each (h, n) or one number
RELATIVE_ONLY: Rounding = (0.0, 0.0)


@dataclass(frozen=True)
class Isotropic:
    """`a_i I`"""

    array: PerKey

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        squares = compat.array_namespace(Q).sum(Q * Q, axis=1)
        return squares[:, None] * self.array[None, :]

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        return (Q @ Q.T)[:, :, None] * self.array

    def rounding(self, Q: Heads, error: Overlaps) -> Rounding:
        """Of q_g . q_h terms may cancel, but their sizes add up to no more than the two lengths: a
        relative error."""
        return RELATIVE_ONLY

    def covariance_product(self, w: PerKey, q: Query, means: Keys) -> Query:
        return (w @ self.array) * q

    def along(self, directions: Directions) -> Isotropic:
        return self

    def sample(self, rng: Generator, size: int, means: HostKeys) -> Draws:
        deviations = np.sqrt(to_numpy(self.array))
        return rng.standard_normal((size, *means.shape)) * deviations[:, None]


@dataclass(frozen=True)
class Radial:
    """`rho_i mu_i mu_i'`: the length of the key is random, its direction is not."""

    array: PerKey

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        return self.array[None, :] * overlaps**2

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        return self.array * overlaps[:, None, :] * overlaps[None, :, :]

    def rounding(self, Q: Heads, error: Overlaps) -> Rounding:
        deviations = compat.array_namespace(Q).sqrt(self.array)
        return deviations * error, 0.0

    def covariance_product(self, w: PerKey, q: Query, means: Keys) -> Query:
        return (w * self.array * (means @ q)) @ means

    def along(self, directions: Directions) -> Radial:
        return self

    def sample(self, rng: Generator, size: int, means: HostKeys) -> Draws:
        lengths = rng.standard_normal((size, means.shape[0], 1))
        deviations = np.sqrt(to_numpy(self.array))
        return lengths * (deviations[:, None] * means)


@dataclass(frozen=True)
class Diagonal:
    """`diag(D_i)`"""

    array: Keys

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        return product(Q * Q, self.array)

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        xp = compat.array_namespace(Q)
        h, d = Q.shape
        both = Q[:, None, :] * Q[None, :, :]
        found = product(xp.reshape(both, (h * h, d)), self.array)
        return xp.reshape(found, (h, h, -1))

    def rounding(self, Q: Heads, error: Overlaps) -> Rounding:
        return RELATIVE_ONLY

    def covariance_product(self, w: PerKey, q: Query, means: Keys) -> Query:
        return (w @ self.array) * q

    def along(self, directions: Directions) -> Covariance:
        return Covariance((directions.T * self.array[:, None, :]) @ directions)

    def sample(self, rng: Generator, size: int, means: HostKeys) -> Draws:
        deviations = np.sqrt(to_numpy(self.array))
        return rng.standard_normal((size, *means.shape)) * deviations


@dataclass(frozen=True)
class Factors:
    """`F_i F_i'`"""

    array: Float[Array, "n d r"]

    def _projected(self, Q: Heads) -> Float[Array, "h n r"]:
        """F_i' q_h"""
        return compat.array_namespace(Q).tensordot(Q, self.array, axes=([1], [1]))

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        p = self._projected(Q)
        return compat.array_namespace(Q).sum(p * p, axis=-1)

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        p = self._projected(Q)
        return compat.array_namespace(Q).sum(p[:, None] * p[None, :], axis=-1)

    def rounding(self, Q: Heads, error: Overlaps) -> Rounding:
        size = _sizes(self.array)
        relative = gamma(2 * Q.shape[1] + 4)
        return relative * _length(Q) * size, 0.0

    def covariance_product(self, w: PerKey, q: Query, means: Keys) -> Query:
        projected = self._projected(q[None, :])[0, ...]
        weighted = w[:, None] * projected
        return compat.array_namespace(q).tensordot(self.array, weighted, axes=([0, 2], [0, 1]))

    def along(self, directions: Directions) -> Factors:
        return Factors(directions.T @ self.array)

    def sample(self, rng: Generator, size: int, means: HostKeys) -> Draws:
        F = to_numpy(self.array)
        numbers = rng.standard_normal((size, F.shape[0], F.shape[2]))
        return np.einsum("ndr,snr->snd", F, numbers)


@dataclass(frozen=True)
class Covariance:
    """`C_i`, in full"""

    array: Float[Array, "n d d"]

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        xp = compat.array_namespace(Q)
        rows = [xp.sum((self.array @ q) * q, axis=-1) for q in Q]
        # Positive semidefinite up to rounding; a variance of -1e-18 is a zero.
        return xp.stack([xp.clip(row, min=0.0) for row in rows])

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        return compat.array_namespace(Q).permute_dims(Q @ self.array @ Q.T, (1, 2, 0))

    def rounding(self, Q: Heads, error: Overlaps) -> Rounding:
        """|q_g|' |C| |q_h| <= ||q_g|| ||C|| ||q_h||, twice a sum of d terms."""
        roots = compat.array_namespace(Q).sqrt(_sizes(self.array))
        relative = gamma(3 * Q.shape[1] + 6) ** 0.5
        return 0.0, relative * _length(Q) * roots

    def covariance_product(self, w: PerKey, q: Query, means: Keys) -> Query:
        return w @ (self.array @ q)

    def along(self, directions: Directions) -> Covariance:
        return Covariance(directions.T @ self.array @ directions)

    def sample(self, rng: Generator, size: int, means: HostKeys) -> Draws:
        values, vectors = np.linalg.eigh(to_numpy(self.array))
        deviations = np.sqrt(np.maximum(values, 0.0))
        root = vectors * deviations[:, None, :]
        numbers = rng.standard_normal((size, *values.shape))
        return np.einsum("nde,sne->snd", root, numbers)


def _length(Q: Heads) -> Float[Array, "h 1"]:
    """||q_h||"""
    return compat.array_namespace(Q).linalg.vector_norm(Q, axis=1, keepdims=True)


def _sizes(matrices: Float[Array, "n d r"]) -> PerKey:
    """The root of the sum of squares of each."""
    xp = compat.array_namespace(matrices)
    return xp.sqrt(xp.sum(matrices * matrices, axis=(1, 2)))


Part = Isotropic | Radial | Diagonal | Factors | Covariance
