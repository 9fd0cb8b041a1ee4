"""The summands a key's covariance may have. Each holds one array and answers four questions: the variance of
`k_i . q`, the covariance of `k_i . q_g` with `k_i . q_h`, the vector `sum_i w_i Sigma_i q` (half the gradient of
the weighted variances), and a draw of the noise. None builds a d x d matrix that was not given.

`overlaps[h, i] = q_h . mu_i` is handed in because the caller needs it anyway: radial noise then costs no
second pass over the keys.
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright.result import to_numpy
from headwright.types import Array, Float, Heads, Keys, Query

Overlaps = Float[Array, "h n"]
Variances = Float[Array, "h n"]
Cross = Float[Array, "h h n"]
Draws = Float[np.ndarray, "s n d"]


@dataclass(frozen=True)
class Isotropic:
    """`a_i I`"""

    array: Float[Array, "n"]

    def variances(self, Q: Heads, overlaps: Overlaps) -> Variances:
        xp = compat.array_namespace(Q)
        return xp.sum(Q * Q, axis=1)[:, None] * self.array[None, :]

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        return (Q @ Q.T)[:, :, None] * self.array

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
        return (Q * Q) @ self.array.T

    def cross(self, Q: Heads, overlaps: Overlaps) -> Cross:
        return (Q[:, None, :] * Q[None, :, :]) @ self.array.T

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

    def pull(self, w: Float[Array, "n"], q: Query, means: Keys) -> Query:
        return w @ (self.array @ q)

    def sample(self, rng: np.random.Generator, size: int, means: Float[np.ndarray, "n d"]) -> Draws:
        values, vectors = np.linalg.eigh(to_numpy(self.array))
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        return np.einsum("nde,sne->snd", root, rng.standard_normal((size, *values.shape)))


Part = Isotropic | Radial | Diagonal | Factors | Covariance
