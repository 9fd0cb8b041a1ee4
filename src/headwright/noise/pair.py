"""Two heads on the same keys: their covariance, exactly. The same idea in two variables,

    E[alpha_a alpha'_b] = int int e^Psi rho_a rho'_b du du'   (a != b),      E[alpha_a alpha'_a] = int int e^Psi tau_a,

    Phi_i(x, x') = E exp(-e^y - e^{y'}),  Psi = sum_i ln Phi_i,  rho = E[e^y ...]/Phi,  tau = E[e^{y+y'} ...]/Phi,

where (y, y') is the pair of logits of key i. Keys with uncorrelated logits factorise and cost nothing new; for the
others one logit is conditioned on the other, so each table is a product of two small matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.noise.bivariate import bivariate, evaluations
from headwright.noise.exact import HeadMoments, Integral
from headwright.noise.transform import transform
from headwright.types import Float

_DROPPED = 1e-10  # total effect of the correlations that may be ignored
_BUDGET = 2e9  # numbers one pair of heads may cost
TINY = 1e-290  # below it Phi counts as zero


@dataclass(frozen=True)
class PairLaw:
    """Logits of two heads: means, deviations, and covariance of the two logits of each key."""

    m: Float[np.ndarray, "2 n"]
    s: Float[np.ndarray, "2 n"]
    c: Float[np.ndarray, "n"]


@dataclass(frozen=True)
class PairMoments:
    """`covariance` of the outputs, `weights` the covariance of the two weights of each key; `error` for values
    at most 1 away from their centres."""

    covariance: Float[np.ndarray, "v v"]
    weights: Float[np.ndarray, "n"]
    error: float
    sampled: bool = False


def correlated(law: PairLaw, weights: Float[np.ndarray, "2 n"]) -> tuple[np.ndarray, float]:
    """The keys whose correlation matters, and a bound on the effect of ignoring the others.

    d/dc_i E[c c'] = E[(d c / d z_i)(d c' / d z'_i)], each factor at most 2 alpha_i; the means of the weights do not
    depend on c_i. So ignoring c_i changes nothing by more than 4 |c_i| min(E alpha_i, E alpha'_i).
    """
    effect = 4 * np.abs(law.c) * weights.min(axis=0)
    order = np.argsort(effect)
    small = np.cumsum(effect[order]) <= _DROPPED
    return np.sort(order[~small]), float(effect[order[small]].sum())


def cost(a: Integral, b: Integral, law: PairLaw, keys: np.ndarray) -> float:
    """Numbers handled for the tables of these keys."""
    nodes = a.nodes.u.size, b.nodes.u.size
    return float(evaluations(sum(nodes), law.s[:, keys]).sum() + 30 * keys.size * nodes[0] * nodes[1])


def pair_moments(
    a: Integral, b: Integral, law: PairLaw, V: Float[np.ndarray, "n v"], *, heads: tuple[HeadMoments, HeadMoments]
) -> PairMoments | None:
    """Covariance of two heads, or None where the integral would cost too much (sample it then)."""
    weights = np.stack([h.weights_mean for h in heads])
    keys, dropped = correlated(law, weights)
    if keys.size == 0:
        return PairMoments(np.zeros((V.shape[1],) * 2), np.zeros(V.shape[0]), dropped)
    if cost(a, b, law, keys) > _BUDGET:
        return None
    grid = integrate_pair(a, b, law, keys)
    C, D = V - heads[0].mean, V - heads[1].mean
    R = (a.r @ C)[:, None, :] + np.tensordot(grid.rho - a.r.T[keys][:, :, None], C[keys], axes=([0], [0]))
    S = (b.r @ D)[None, :, :] + np.tensordot(grid.rho_ - b.r.T[keys][:, None, :], D[keys], axes=([0], [0]))
    shared = np.tensordot(grid.tau - grid.rho * grid.rho_, grid.density, axes=2)
    covariance = np.tensordot(R * grid.density[:, :, None], S, axes=([0, 1], [0, 1]))
    covariance += C[keys].T @ (shared[:, None] * D[keys])
    both = np.sum(a.r * (grid.density @ b.r), axis=0)
    both[keys] = np.tensordot(grid.tau, grid.density, axes=2)
    ends = sum(h.first for h in heads)
    error = (
        dropped
        + 4 * (ends + grid.identity(a, b, keys, shared))
        + grid.halving(R, S, covariance, shared, C[keys], D[keys])
    )
    return PairMoments(covariance, both - weights[0] * weights[1], float(error))


@dataclass(frozen=True)
class PairGrid:
    """`density` is weight times e^Psi on all pairs of nodes; rho, rho_, tau of the correlated keys."""

    density: Float[np.ndarray, "u w"]
    rho: Float[np.ndarray, "c u w"]
    rho_: Float[np.ndarray, "c u w"]
    tau: Float[np.ndarray, "c u w"]
    uniform: bool

    def identity(self, a: Integral, b: Integral, keys: np.ndarray, shared: np.ndarray) -> float:
        """All pairs of weights sum to one: how far the rule is from that."""
        rows = (a.r.sum(axis=1) - a.r[:, keys].sum(axis=1))[:, None] + self.rho.sum(axis=0)
        columns = (b.r.sum(axis=1) - b.r[:, keys].sum(axis=1))[None, :] + self.rho_.sum(axis=0)
        return abs(float((self.density * rows * columns).sum() + shared.sum()) - 1.0)

    def halving(self, R, S, covariance, shared, C, D) -> float:
        """Graded nodes: compare with every second node; an analytic rule squares its error when the step halves."""
        if self.uniform:
            return 0.0
        half = 4 * self.density[::2, ::2]
        coarse = np.tensordot(R[::2, ::2] * half[:, :, None], S[::2, ::2], axes=([0, 1], [0, 1]))
        common = np.tensordot((self.tau - self.rho * self.rho_)[:, ::2, ::2], half, axes=2)
        coarse += C.T @ (common[:, None] * D)
        size = max(np.abs(C).max(initial=0.0) * np.abs(D).max(initial=0.0), 1e-300)
        return 3 * float(np.abs(coarse - covariance).max() / size) ** 2


def integrate_pair(a: Integral, b: Integral, law: PairLaw, keys: np.ndarray) -> PairGrid:
    grids, total = (a.nodes, b.nodes), a.total[:, None] + b.total[None, :]
    psi = [transform(one.nodes.u[:, None] + law.m[h, keys], law.s[h, keys], top=0).psi for h, one in enumerate((a, b))]
    rho, rho_, tau = (np.empty((keys.size, *total.shape)) for _ in range(3))
    for at, i in enumerate(keys):
        table = bivariate(grids, law.m[:, i], law.s[:, i], c=float(law.c[i]), top=1)
        # ln Phi replaces psi + psi', which stand in the totals of the two heads.
        total += np.log(np.maximum(table[0, 0], TINY)) - psi[0][:, at, None] - psi[1][None, :, at]
        rho[at], rho_[at], tau[at] = ratio(table, 1, 0), ratio(table, 0, 1), ratio(table, 1, 1)
    density = a.nodes.weight[:, None] * b.nodes.weight[None, :] * np.exp(np.minimum(total, 0.0))
    return PairGrid(density, rho, rho_, tau, a.nodes.uniform and b.nodes.uniform)


def ratio(table: Float[np.ndarray, "j k u w"], j: int, k: int) -> Float[np.ndarray, "u w"]:
    """`a_jk / Phi`; where Phi vanishes so does the weight of the point."""
    return np.where(table[0, 0] > TINY, table[j, k] / np.maximum(table[0, 0], TINY), 0.0)
