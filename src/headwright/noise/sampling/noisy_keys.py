"""Only noisy keys need random numbers. Keys whose logits are fixed act together as one key: their
logits add up to one log-sum-exp, their values to one average. A million keys of which two are
random cost as much as three.

    alpha_i = e^{z_i} / (e^R + sum_noisy e^{z_j}),   R = ln sum_fixed e^{z_i}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright import attention
from headwright.keys import LogitsLaw
from headwright.noise.problem import Problem
from headwright.types import Array, Float, Int


@dataclass(frozen=True)
class Reduced:
    """`noisy` keys (k of n) with logits `means + noise(g)`, and the `fixed` rest seen as one key
    per head.

    `roots[h, i, r]`: the own noise of key i in head h is `sum_r roots_hir g_ir`. `columns[i * r]`
    says which normal number `g_ir` is; entries that move nothing share one more column, which is
    zero.
    """

    noisy: Int[Array, "k"]
    means: Float[Array, "h k"]
    roots: Float[Array, "h k r"]
    columns: Int[Array, "kr"]
    shared: Float[Array, "h f k"] | None
    dimension: int  # how many normal numbers one sample takes
    values: Float[Array, "k v"]
    fixed: Int[Array, "n_minus_k"]
    fixed_weights: Float[Array, "h n_minus_k"]  # each fixed key's share of the fixed keys' weight
    fixed_logits: Float[Array, "h"]  # R; -inf where a head sees no fixed key
    fixed_values: Float[Array, "h v"]

    def logits(self, g: Float[Array, "s dimension"]) -> Float[Array, "s h k_plus_1"]:
        """Logits of the noisy keys and, last, of the fixed rest."""
        xp = compat.array_namespace(self.means)
        s, (h, k, r) = g.shape[0], self.roots.shape
        none = xp.zeros((s, 1), dtype=g.dtype, device=compat.device(g))
        own = xp.reshape(xp.take(xp.concat([g, none], axis=1), self.columns, axis=1), (s, 1, k, r))
        z = self.means + xp.sum(self.roots * own, axis=-1)
        if self.shared is not None:
            z = z + xp.tensordot(
                g[:, self.dimension - self.shared.shape[1] :], self.shared, axes=([1], [1])
            )
        return xp.concat([z, xp.broadcast_to(self.fixed_logits[:, None], (s, h, 1))], axis=-1)

    def weights(self, g: Float[Array, "s dimension"]) -> Float[Array, "s h k_plus_1"]:
        return attention.weights(self.logits(g))

    def outputs(self, alpha: Float[Array, "s h k_plus_1"]) -> Float[Array, "s h v"]:
        return alpha[:, :, :-1] @ self.values + alpha[:, :, -1:] * self.fixed_values

    def expand(
        self, noisy: Float[Array, "*m k"], fixed: Float[Array, "*m n_minus_k"]
    ) -> Float[Array, "*m n"]:
        """What is known of noisy and of fixed keys, back in the order of the keys."""
        xp = compat.array_namespace(noisy)
        return xp.take(
            xp.concat([noisy, fixed], axis=-1),
            xp.argsort(xp.concat([self.noisy, self.fixed])),
            axis=-1,
        )

    def squares(
        self, mix: Float[Array, "h"], mixed: Float[Array, "k"], rest: Float[Array, "h h"]
    ) -> Array:
        """`E[(sum_h mix_h alpha_hi)^2]` of all n keys, from that of the noisy keys and from `E[R_g
        R_h]` of the fixed keys' total weight R: a fixed key i has `alpha_hi = share_hi R_h`."""
        shares = mix[:, None] * self.fixed_weights
        return self.expand(mixed, compat.array_namespace(mix).sum(shares * (rest @ shares), axis=0))


def reduced(problem: Problem, law: LogitsLaw | None = None) -> Reduced:
    """The reduced problem; `law` replaces the problem's own law of logits."""
    xp, law = problem.xp, law or problem.law
    moving = xp.any(law.variances > 0, axis=0)
    if law.shared is not None:
        moving = moving | xp.any(law.shared != 0, axis=(0, 1))
    if problem.mask is not None:
        moving = moving & xp.any(problem.mask, axis=0)
    noisy, fixed = xp.nonzero(moving)[0], xp.nonzero(~moving)[0]
    hidden = xp.asarray(-xp.inf, dtype=law.means.dtype, device=compat.device(law.means))
    means = law.means if problem.mask is None else xp.where(problem.mask, law.means, hidden)
    roots = _roots(xp, law, noisy)
    columns, own = _columns(roots)
    shared = None if law.shared is None else xp.take(law.shared, noisy, axis=2)
    R, shares = log_sum_exp(xp.take(means, fixed, axis=1))
    return Reduced(
        noisy=noisy,
        means=xp.take(means, noisy, axis=1),
        roots=roots,
        columns=columns,
        shared=shared,
        dimension=own + (0 if shared is None else shared.shape[1]),
        values=xp.take(problem.values, noisy, axis=0),
        fixed=fixed,
        fixed_weights=shares,
        fixed_logits=R,
        fixed_values=shares @ xp.take(problem.values, fixed, axis=0),
    )


def _roots(xp: Any, law: LogitsLaw, noisy: Array) -> Float[Array, "h k r"]:
    """A square root of each noisy key's covariance across heads; one number per key for one head."""
    heads = law.means.shape[0]
    if heads == 1:
        return xp.sqrt(xp.take(law.variances, noisy, axis=1))[:, :, None]
    C = xp.permute_dims(xp.take(law.cross, noisy, axis=2), (2, 0, 1))
    values, vectors = xp.linalg.eigh(C)
    # Eigenvalues that rounding alone can produce are zeros: they would cost a random number for
    # nothing.
    floor = values[:, -1:] * heads * xp.finfo(values.dtype).eps
    size = xp.sqrt(xp.where(values > floor, values, xp.zeros_like(values)))
    return xp.permute_dims(vectors * size[:, None, :], (1, 0, 2))


def _columns(roots: Float[Array, "h k r"]) -> tuple[Int[Array, "kr"], int]:
    """Which normal number each root takes: the largest roots first, because Sobol's first
    coordinates are its best; vanishing roots all take the extra column."""
    xp = compat.array_namespace(roots)
    size = xp.reshape(xp.sum(roots * roots, axis=0), (-1,))
    order = xp.argsort(size, descending=True, stable=True)
    own = xp.nonzero(size > 0)[0].shape[0]
    rank = xp.argsort(order)
    return xp.where(rank < own, rank, xp.full_like(rank, own)), own


def log_sum_exp(z: Float[Array, "h n_minus_k"]) -> tuple[Array, Array]:
    """Log-sum-exp and softmax of the fixed logits; -inf and zeros where a head sees none of them."""
    xp, h = compat.array_namespace(z), z.shape[0]
    if z.shape[1] == 0:
        return xp.full((h,), -xp.inf, dtype=z.dtype, device=compat.device(z)), z
    top = xp.max(z, axis=1, keepdims=True)
    seen = xp.isfinite(top)
    e = xp.where(seen, xp.exp(z - xp.where(seen, top, xp.zeros_like(top))), xp.zeros_like(z))
    total = xp.sum(e, axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        R = xp.where(seen, top + xp.log(total), top)
    return R[:, 0], e / xp.where(seen, total, xp.ones_like(total))
