"""Only noisy keys need random numbers. Keys whose logits are fixed act together as one key: their
logits add up to one log-sum-exp, their values to one average. A million keys of which two are
random cost as much as three.

    alpha_i = e^{z_i} / (e^R + sum_noisy e^{z_j}),   R = ln sum_fixed e^{z_i}
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright import attention
from headwright.keys import LogitsLaw
from headwright.noise.problem import Problem
from headwright.types import Array, Bool, Float, Int, Mix, PerHead, PerKey

Numbers = Float[Array, "s dimension"]
DrawnWeights = Float[Array, "s h k_plus_1"]  # of the noisy keys and, last, of the fixed rest
Roots = Float[Array, "h k r"]


@dataclass(frozen=True)
class NoisyKeys:
    """`noisy` keys (k of n) with logits `means + noise(g)`, and the `fixed` rest seen as one key
    per head.

    `roots[h, i, r]`: the own noise of key i in head h is `sum_r roots_hir g_ir`. `columns[i * r]`
    says which normal number `g_ir` is; entries that move nothing share one more column, which is
    zero.
    """

    noisy: Int[Array, "k"]
    means: Float[Array, "h k"]
    roots: Roots
    columns: Int[Array, "kr"]
    shared: Float[Array, "h f k"] | None
    dimension: int  # how many normal numbers one sample takes
    values: Float[Array, "k v"]
    fixed: Int[Array, "n_minus_k"]
    fixed_weights: Float[Array, "h n_minus_k"]  # each fixed key's share of the fixed keys' weight
    fixed_logits: PerHead  # R; -inf where a head sees no fixed key
    fixed_values: Float[Array, "h v"]

    def logits(self, g: Numbers) -> DrawnWeights:
        """Logits of the noisy keys and, last, of the fixed rest."""
        xp = compat.array_namespace(self.means)
        samples = g.shape[0]
        heads, k, r = self.roots.shape
        none = xp.zeros((samples, 1), dtype=g.dtype, device=compat.device(g))
        numbers = xp.take(xp.concat([g, none], axis=1), self.columns, axis=1)
        own = xp.reshape(numbers, (samples, 1, k, r))
        z = self.means
        # Term by term: a sum over so short an axis would take most of the time.
        for j in range(r):
            z = z + self.roots[:, :, j] * own[..., j]
        if self.shared is not None:
            factors = g[:, self.dimension - self.shared.shape[1] :]
            z = z + xp.tensordot(factors, self.shared, axes=([1], [1]))
        rest = xp.broadcast_to(self.fixed_logits[:, None], (samples, heads, 1))
        return xp.concat([z, rest], axis=-1)

    def weights(self, g: Numbers) -> DrawnWeights:
        """Softmax of the drawn logits."""
        return attention.weights(self.logits(g))

    def outputs(self, alpha: DrawnWeights) -> Float[Array, "s h v"]:
        """The output of each head for drawn weights."""
        of_noisy = alpha[:, :, :-1] @ self.values
        return of_noisy + alpha[:, :, -1:] * self.fixed_values

    def expand(
        self, noisy: Float[Array, "*m k"], fixed: Float[Array, "*m n_minus_k"]
    ) -> Float[Array, "*m n"]:
        """What is known of noisy and of fixed keys, back in the order of the keys."""
        xp = compat.array_namespace(noisy)
        place = xp.argsort(xp.concat([self.noisy, self.fixed]))
        return xp.take(xp.concat([noisy, fixed], axis=-1), place, axis=-1)

    def squares(self, mix: Mix, mixed: Float[Array, "k"], rest: Float[Array, "h h"]) -> PerKey:
        """`E[(sum_h mix_h alpha_hi)^2]` of all n keys, from that of the noisy keys and from `E[R_g
        R_h]` of the fixed keys' total weight R: a fixed key i has `alpha_hi = share_hi R_h`."""
        shares = mix[:, None] * self.fixed_weights
        of_fixed = compat.array_namespace(mix).sum(shares * (rest @ shares), axis=0)
        return self.expand(mixed, of_fixed)


def noisy_keys(problem: Problem, law: LogitsLaw | None = None) -> NoisyKeys:
    """The noisy keys of a problem; `law` replaces the problem's own law of logits."""
    xp = problem.xp
    law = law or problem.law
    moving = _moving(problem, law)
    noisy = xp.nonzero(moving)[0]
    fixed = xp.nonzero(~moving)[0]
    means = problem.seen(law.means)
    roots = _roots(law, noisy)
    columns, own = _columns(roots)
    shared = None if law.shared is None else xp.take(law.shared, noisy, axis=2)
    R, shares = log_sum_exp(xp.take(means, fixed, axis=1))
    return NoisyKeys(
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


def _moving(problem: Problem, law: LogitsLaw) -> Bool[Array, "n"]:
    """Is the logit of a key random to some head that sees it?"""
    xp = problem.xp
    moving = xp.any(law.variances > 0, axis=0)
    if law.shared is not None:
        moving = moving | xp.any(law.shared != 0, axis=(0, 1))
    if problem.scores.mask is not None:
        moving = moving & xp.any(problem.scores.mask, axis=0)
    return moving


def _roots(law: LogitsLaw, noisy: Array) -> Roots:
    """A square root of each noisy key's covariance across heads; for one head a number per key."""
    xp = compat.array_namespace(law.means)
    heads = law.means.shape[0]
    if heads == 1:
        variances = xp.take(law.variances, noisy, axis=1)
        return xp.sqrt(variances)[:, :, None]
    C = xp.permute_dims(xp.take(law.cross, noisy, axis=2), (2, 0, 1))
    values, vectors = xp.linalg.eigh(C)
    # Eigenvalues that rounding alone can produce are zeros: they would cost a random number for
    # nothing.
    eps = xp.finfo(values.dtype).eps
    floor = values[:, -1:] * heads * eps
    real = xp.where(values > floor, values, xp.zeros_like(values))
    roots = vectors * xp.sqrt(real)[:, None, :]
    return xp.permute_dims(roots, (1, 0, 2))


def _columns(roots: Roots) -> tuple[Int[Array, "kr"], int]:
    """Which normal number each root takes: the largest roots first, because Sobol's first
    coordinates are its best; vanishing roots all take the extra column."""
    xp = compat.array_namespace(roots)
    size = xp.reshape(xp.sum(roots * roots, axis=0), (-1,))
    order = xp.argsort(size, descending=True, stable=True)
    own = xp.nonzero(size > 0)[0].shape[0]
    rank = xp.argsort(order)
    columns = xp.where(rank < own, rank, xp.full_like(rank, own))
    return columns, own


def log_sum_exp(z: Float[Array, "h n_minus_k"]) -> tuple[Array, Array]:
    """Log-sum-exp and softmax of the fixed logits; -inf and zeros where a head sees none."""
    xp = compat.array_namespace(z)
    if z.shape[1] == 0:
        unseen = xp.full((z.shape[0],), -xp.inf, dtype=z.dtype, device=compat.device(z))
        return unseen, z
    top = xp.max(z, axis=1, keepdims=True)
    seen = xp.isfinite(top)
    base = xp.where(seen, top, xp.zeros_like(top))
    e = xp.where(seen, xp.exp(z - base), xp.zeros_like(z))
    total = xp.sum(e, axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        R = xp.where(seen, top + xp.log(total), top)
    divisor = xp.where(seen, total, xp.ones_like(total))
    return R[:, 0], e / divisor
