"""The summands a key's covariance may have. Each holds one array and answers five questions: the
variance of `k_i . q`, the covariance of `k_i . q_g` with `k_i . q_h`, what rounding may do to both,
the vector `sum_i w_i Sigma_i q` (half the gradient of the weighted variances), and a draw of the
noise. None builds a d x d matrix that was not given.

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
from headwright.types import Array, Float, Heads, Keys, Query

Overlaps = Float[Array, "h n"]
Variances = Float[Array, "h n"]
Cross = Float[Array, "h h n"]
Draws = Float[np.ndarray, "s n d"]
Rounding = tuple[Array | float, Array | float]  # a and b, each (h, n) or one number
EXACT: Rounding = (0.0, 0.0)


@dataclass(frozen=True)
class Isotropic:
    """`a_i I`"""

    array: Float[Array, "n"]

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        xp = compat.array_namespace(Q)
        return xp.sum(Q * Q, axis=1)[:, None] * self.array[None, :]

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        return (Q @ Q.T)[:, :, None] * self.array

    def rounding(self, Q: Heads, error: Overlaps) -> Rounding:
        """Of q_g . q_h terms may cancel, but their sizes add up to no more than the two lengths: a
        relative error."""
        return EXACT

    def pull(self, w: Float[Array, "n"], q: Query, means: Keys) -> Query:
        return (w @ self.array) * q

    def sample(self, rng: np.random.Generator, size: int, means: Float[np.ndarray, "n d"]) -> Draws:
        return rng.standard_normal((size, *means.shape)) * np.sqrt(to_numpy(self.array))[:, None]


@dataclass(frozen=True)
class Radial:
    """`rho_i mu_i mu_i'`: the length of the key is random, its direction is not."""

    array: Float[Array, "n"]

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        return self.array[None, :] * overlaps**2

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        return self.array * overlaps[:, None, :] * overlaps[None, :, :]

    def rounding(self, Q: Heads, error: Overlaps) -> Rounding:
        return compat.array_namespace(Q).sqrt(self.array) * error, 0.0

    def pull(self, w: Float[Array, "n"], q: Query, means: Keys) -> Query:
        return (w * self.array * (means @ q)) @ means

    def sample(self, rng: np.random.Generator, size: int, means: Float[np.ndarray, "n d"]) -> Draws:
        lengths = rng.standard_normal((size, means.shape[0], 1))
        return lengths * (np.sqrt(to_numpy(self.array))[:, None] * means)


@dataclass(frozen=True)
class Diagonal:
    """`diag(D_i)`"""

    array: Float[Array, "n d"]

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        return product(Q * Q, self.array)

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        h, d = Q.shape
        both = compat.array_namespace(Q).reshape(Q[:, None, :] * Q[None, :, :], (h * h, d))
        return compat.array_namespace(Q).reshape(product(both, self.array), (h, h, -1))

    def rounding(self, Q: Heads, error: Overlaps) -> Rounding:
        return EXACT

    def pull(self, w: Float[Array, "n"], q: Query, means: Keys) -> Query:
        return (w @ self.array) * q

    def sample(self, rng: np.random.Generator, size: int, means: Float[np.ndarray, "n d"]) -> Draws:
        return rng.standard_normal((size, *means.shape)) * np.sqrt(to_numpy(self.array))


@dataclass(frozen=True)
class Factors:
    """`F_i F_i'`"""

    array: Float[Array, "n d r"]

    def _projected(self, Q: Heads) -> Float[Array, "h n r"]:
        return compat.array_namespace(Q).tensordot(Q, self.array, axes=([1], [1]))

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        p = self._projected(Q)
        return compat.array_namespace(Q).sum(p * p, axis=-1)

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        p = self._projected(Q)
        return compat.array_namespace(Q).sum(p[:, None] * p[None, :], axis=-1)

    def rounding(self, Q: Heads, error: Overlaps) -> Rounding:
        xp = compat.array_namespace(Q)
        size = xp.sqrt(xp.sum(self.array * self.array, axis=(1, 2)))
        return gamma(2 * Q.shape[1] + 4) * _length(Q) * size, 0.0

    def pull(self, w: Float[Array, "n"], q: Query, means: Keys) -> Query:
        seen = w[:, None] * self._projected(q[None, :])[0, ...]
        return compat.array_namespace(q).tensordot(self.array, seen, axes=([0, 2], [0, 1]))

    def sample(self, rng: np.random.Generator, size: int, means: Float[np.ndarray, "n d"]) -> Draws:
        F = to_numpy(self.array)
        return np.einsum("ndr,snr->snd", F, rng.standard_normal((size, F.shape[0], F.shape[2])))


@dataclass(frozen=True)
class Covariance:
    """`C_i`, in full"""

    array: Float[Array, "n d d"]

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        xp = compat.array_namespace(Q)
        # Positive semidefinite up to rounding; a variance of -1e-18 is a zero.
        return xp.stack([xp.clip(xp.sum((self.array @ q) * q, axis=-1), min=0.0) for q in Q])

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        return compat.array_namespace(Q).permute_dims(Q @ self.array @ Q.T, (1, 2, 0))

    def rounding(self, Q: Heads, error: Overlaps) -> Rounding:
        """|q_g|' |C| |q_h| <= ||q_g|| ||C|| ||q_h||, twice a sum of d terms."""
        xp = compat.array_namespace(Q)
        size = xp.sqrt(xp.sqrt(xp.sum(self.array * self.array, axis=(1, 2))))
        return 0.0, gamma(3 * Q.shape[1] + 6) ** 0.5 * _length(Q) * size

    def pull(self, w: Float[Array, "n"], q: Query, means: Keys) -> Query:
        return w @ (self.array @ q)

    def sample(self, rng: np.random.Generator, size: int, means: Float[np.ndarray, "n d"]) -> Draws:
        values, vectors = np.linalg.eigh(to_numpy(self.array))
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        return np.einsum("nde,sne->snd", root, rng.standard_normal((size, *values.shape)))


def _length(Q: Heads) -> Float[Array, "h 1"]:
    return compat.array_namespace(Q).linalg.vector_norm(Q, axis=1, keepdims=True)


Part = Isotropic | Radial | Diagonal | Factors | Covariance
