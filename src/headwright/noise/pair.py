"""Two heads on the same keys: their covariance, exactly. The same idea in two variables,

    E[alpha_a alpha'_b] = int int e^Psi rho_a rho'_b du du'   (a != b),      E[alpha_a alpha'_a] = int int e^Psi tau_a,

    Phi_i(x, x') = E exp(-e^y - e^{y'}),  Psi = sum_i ln Phi_i,  rho = E[e^y ...]/Phi,  tau = E[e^{y+y'} ...]/Phi,

where (y, y') is the pair of logits of key i. Keys with uncorrelated logits factorise and cost nothing new; for the
others one logit is conditioned on the other, so each table is a product of two small matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headwright.noise.exact import HeadMoments, Integral
from headwright.noise.transform import expectations, transform
from headwright.types import Float

_DROPPED = 1e-10  # total effect of the correlations that may be ignored
_BUDGET = 3e9  # elementary evaluations one pair of heads may cost


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


@dataclass(frozen=True)
class Table:
    """One correlated key on all pairs of nodes: `a[j, k] = E[e^{jy + ky'} exp(-e^y - e^{y'})]`."""

    key: int
    a: dict[tuple[int, int], Float[np.ndarray, "u w"]]

    def ratio(self, j: int, k: int) -> Float[np.ndarray, "u w"]:
        phi = self.a[0, 0]
        return np.where(phi > 1e-290, self.a[j, k] / np.maximum(phi, 1e-290), 0.0)


def correlated(law: PairLaw, weights: Float[np.ndarray, "2 n"]) -> tuple[np.ndarray, float]:
    """The keys whose correlation matters, and a bound on the effect of ignoring the others.

    d/dc_i E[c c'] = E[(d c / d z_i)(d c' / d z'_i)], each factor at most 2 alpha_i; the means of the weights do not
    depend on c_i. So ignoring c_i changes nothing by more than 4 |c_i| min(E alpha_i, E alpha'_i).
    """
    effect = 4 * np.abs(law.c) * weights.min(axis=0)
    order = np.argsort(effect)
    small = np.cumsum(effect[order]) <= _DROPPED
    return np.sort(order[~small]), float(effect[order[small]].sum())


def tables(a: Integral, b: Integral, law: PairLaw, keys: np.ndarray, *, top: int = 1) -> Iterator[Table]:
    for i in keys:
        x, y = a.nodes.u + law.m[0, i], b.nodes.u + law.m[1, i]
        yield Table(int(i), _bivariate(x, y, law.s[:, i], law.c[i], top))


def _bivariate(x, y, s, c, top) -> dict[tuple[int, int], np.ndarray]:
    # y = x + s g,  y' = x' + slope g + rest g':  E over g' is the one-logit transform, E over g a matrix product.
    slope = c / s[0]
    rest = np.sqrt(max(0.0, s[1] ** 2 - slope**2))
    g, weight = _conditioning_rule(max(s[0], abs(slope)), top)
    e = np.exp(np.minimum(x[:, None] + s[0] * g, 300.0))
    _, inner = expectations(y[None, :] + (slope * g)[:, None], np.full(y.size, rest), top=top)
    outer = np.exp(-e) * weight
    a = {}
    for j in range(top + 1):
        for k in range(top + 1):
            a[j, k] = outer @ inner[k]
        outer = outer * e
    return a


def _conditioning_rule(s: float, top: int) -> tuple[np.ndarray, np.ndarray]:
    h = min(0.5, 0.25 / s)
    half = np.ceil((9.5 + min(s, 3.0) * (top > 1)) / h)
    g = np.arange(-half, half + 1) * h
    weight = np.exp(-g * g / 2)
    return g, weight / weight.sum()


def cost(a: Integral, b: Integral, law: PairLaw, keys: np.ndarray) -> float:
    """Elementary evaluations of the tables of these keys (nodes of g times nodes of u times inner nodes)."""
    g = 76 * np.maximum(law.s[:, keys].max(axis=0), 0.5)
    return float(g.sum() * (a.nodes.u.size + 60 * b.nodes.u.size) + keys.size * a.nodes.u.size * b.nodes.u.size)


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
        return 30 * float(np.abs(coarse - covariance).max() / size) ** 2


def integrate_pair(a: Integral, b: Integral, law: PairLaw, keys: np.ndarray) -> PairGrid:
    total = a.total[:, None] + b.total[None, :]
    alone = [
        transform(one.nodes.u[:, None] + law.m[h, keys], law.s[h, keys], top=0).psi for h, one in enumerate((a, b))
    ]
    rho, rho_, tau = (np.empty((keys.size, *total.shape)) for _ in range(3))
    for position, table in enumerate(tables(a, b, law, keys)):
        # ln Phi replaces psi + psi', which stand in the totals of the two heads.
        total += np.log(np.maximum(table.a[0, 0], 1e-290))
        total -= alone[0][:, position, None] + alone[1][None, :, position]
        rho[position], rho_[position], tau[position] = table.ratio(1, 0), table.ratio(0, 1), table.ratio(1, 1)
    density = a.nodes.weight[:, None] * b.nodes.weight[None, :] * np.exp(np.minimum(total, 0.0))
    return PairGrid(density, rho, rho_, tau, a.nodes.uniform and b.nodes.uniform)
