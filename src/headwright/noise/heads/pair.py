"""Two heads on the same keys: their covariance, exactly. The same idea in two variables,

    E[alpha_a alpha'_b] = int int e^Psi rho_a rho'_b du du'   (a != b),      E[alpha_a alpha'_a] = int int e^Psi tau_a,

    Phi_i(x, x') = E exp(-e^y - e^{y'}),  Psi = sum_i ln Phi_i,  rho = E[e^y ...]/Phi,  tau = E[e^{y+y'} ...]/Phi,

where (y, y') is the pair of logits of key i. Keys with uncorrelated logits factorise and cost
nothing new; for the others one logit is conditioned on the other, so each table is a product of two
small matrices. Rows of nodes are taken in blocks: what is wanted are sums over all pairs of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.noise.head.integral import HeadMoments, Integral
from headwright.noise.head.nodes import Nodes
from headwright.noise.head.transform import transform
from headwright.noise.heads.bivariate import bivariate, evaluations, room
from headwright.types import Float

_DROPPED = 1e-10  # total effect of the correlations that may be ignored
_BUDGET = 2e9  # what one pair of heads may cost, in exponentials
_ENTRY = 4.0  # for each key and pair of nodes: the ratios and their sums
_MEMORY = 4e8  # bytes the tables of one key may take
_BLOCK = 1.5e8  # bytes of the tables of all keys for a block of rows
# A rule whose difference is below so many squares of the one before converges as it should
_ANALYTIC = 10.0
_KINK = 1e-8  # error of the rule beyond which it is not used
TINY = 1e-290  # below it Phi counts as zero
_UNKNOWN = 1e-14  # below it Phi is not known, and neither is what is divided by it


@dataclass(frozen=True)
class PairLaw:
    """Logits of two heads: means, deviations, and covariance of the two logits of each key."""

    m: Float[np.ndarray, "2 n"]
    s: Float[np.ndarray, "2 n"]
    c: Float[np.ndarray, "n"]


@dataclass(frozen=True)
class PairMoments:
    """`covariance` of the outputs, `weights` the covariance of the two weights of each key; `error`
    for values at most 1 away from their centres."""

    covariance: Float[np.ndarray, "v v"]
    weights: Float[np.ndarray, "n"]
    error: float
    sampled: bool = False


def correlated(law: PairLaw, weights: Float[np.ndarray, "2 n"]) -> tuple[np.ndarray, float]:
    """The keys whose correlation matters, and a bound on the effect of ignoring the others.

    d/dc_i E[c c'] = E[(d c / d z_i)(d c' / d z'_i)], each factor at most 2 alpha_i; the means of
    the weights do not depend on c_i. So ignoring c_i changes nothing by more than 4 |c_i| min(E
    alpha_i, E alpha'_i).
    """
    effect = 4 * np.abs(law.c) * weights.min(axis=0)
    order = np.argsort(effect)
    small = np.cumsum(effect[order]) <= _DROPPED
    return np.sort(order[~small]), float(effect[order[small]].sum())


def affordable(a: Integral, b: Integral, law: PairLaw, keys: np.ndarray) -> bool:
    """Is the double integral within the budget of work and of memory?"""
    nodes = a.nodes.u.size, b.nodes.u.size
    laws = [(law.s[:, i], float(law.c[i])) for i in keys]
    work = sum(evaluations(nodes, s, c) for s, c in laws) + _ENTRY * keys.size * nodes[0] * nodes[1]
    return bool(work <= _BUDGET and max(room(nodes, s, c) for s, c in laws) <= _MEMORY)


def pair_moments(
    a: Integral,
    b: Integral,
    law: PairLaw,
    V: Float[np.ndarray, "n v"],
    *,
    heads: tuple[HeadMoments, HeadMoments],
) -> PairMoments | None:
    """Covariance of two heads, or None where the integral would cost too much or is too rough for
    its nodes, two wide logits of one key being almost the same (sample it then)."""
    weights = np.stack([h.weights_mean for h in heads])
    keys, dropped = correlated(law, weights)
    if keys.size == 0:
        return PairMoments(np.zeros((V.shape[1],) * 2), np.zeros(V.shape[0]), dropped)
    if not affordable(a, b, law, keys):
        return None
    C = V - heads[0].mean
    D = V - heads[1].mean
    sums = sum_pairs(a, b, law, keys, (C, D))
    size = max(np.abs(C).max() * np.abs(D).max(), 1e-300)
    rule = sums.rule(size)
    if not rule <= _KINK:
        return None
    ends = sum(h.first for h in heads)
    error = dropped + 4 * (ends + abs(sums.total - 1.0)) + rule
    return PairMoments(sums.covariance[0], sums.both - weights[0] * weights[1], float(error))


@dataclass(frozen=True)
class PairSums:
    """Sums over all pairs of nodes: `covariance` on all nodes, on every second and on every fourth;
    `both` is E[alpha_i alpha'_i] key by key, `total` the sum of E[alpha_a alpha'_b] over all pairs
    of keys, which is one."""

    covariance: Float[np.ndarray, "3 v v"]
    both: Float[np.ndarray, "n"]
    total: float
    uniform: bool

    def rule(self, size: float) -> float:
        """The error of the rule, for values of size one. On uniform nodes the heads' own bound
        holds. An analytic rule squares its error when the step is halved; where two halvings do not
        show that (two wide logits of nearly one key make a kink), the differences fall by a
        constant factor at least."""
        if self.uniform:
            return 0.0
        last, before = (
            float(np.abs(self.covariance[k] - self.covariance[k + 1]).max() / size) for k in (0, 1)
        )
        if last <= _ANALYTIC * before**2:
            return 3 * last**2
        return 3 * last * min(1.0, last / max(before, TINY))


def sum_pairs(
    a: Integral, b: Integral, law: PairLaw, keys: np.ndarray, values: tuple[np.ndarray, np.ndarray]
) -> PairSums:
    """`values` are counted from the mean of each head."""
    C, D = values
    others_a = a.r.sum(axis=1) - a.r[:, keys].sum(axis=1)
    others_b = b.r.sum(axis=1) - b.r[:, keys].sum(axis=1)
    R_others = a.r @ C - a.r[:, keys] @ C[keys]
    S_others = b.r @ D - b.r[:, keys] @ D[keys]
    covariance = np.zeros((3, C.shape[1], D.shape[1]))
    shared = np.zeros((3, keys.size))
    both = np.zeros(C.shape[0])
    tau_sum = np.zeros(keys.size)
    total = 0.0
    for part in _row_blocks(a, b, keys.size, C.shape[1] + D.shape[1]):
        grid = _pair_grid(a, b, law, keys, part)
        R = R_others[part, None, :] + np.tensordot(grid.rho, C[keys], axes=([0], [0]))
        S = S_others[None, :, :] + np.tensordot(grid.rho_, D[keys], axes=([0], [0]))
        alone = grid.tau - grid.rho * grid.rho_
        for level, every in enumerate((1, 2, 4)):
            rows = np.flatnonzero(np.arange(part.start, part.stop) % every == 0)
            density = every**2 * grid.density[rows, ::every]
            weighted = R[rows, ::every] * density[:, :, None]
            covariance[level] += np.tensordot(
                weighted, S[rows, ::every] if every > 1 else S, axes=([0, 1], [0, 1])
            )
            shared[level] += np.tensordot(alone[:, rows, ::every], density, axes=2)
        both += np.sum(a.r[part] * (grid.density @ b.r), axis=0)
        tau_sum += np.tensordot(grid.tau, grid.density, axes=2)
        columns = others_b + grid.rho_.sum(axis=0)
        total += float(
            (grid.density * (others_a[part, None] + grid.rho.sum(axis=0)) * columns).sum()
        )
    covariance += np.einsum("lk,ki,kj->lij", shared, C[keys], D[keys])
    both[keys] = tau_sum
    uniform = a.nodes.uniform and b.nodes.uniform
    return PairSums(covariance, both, total + float(shared[0].sum()), uniform)


def _row_blocks(a: Integral, b: Integral, keys: int, values: int) -> list[slice]:
    """Blocks of rows for which the tables of the keys and of the values fit; their number is a
    multiple of 4."""
    bytes_per_row = 8 * b.nodes.u.size * (6 * keys + 3 * values + 8)
    rows = max(4, int(_BLOCK / bytes_per_row) // 4 * 4)
    count = a.nodes.u.size
    return [slice(i, min(i + rows, count)) for i in range(0, count, rows)]


@dataclass(frozen=True)
class PairGrid:
    """A block of rows: `density` is weight times e^Psi; rho, rho_, tau of the correlated keys."""

    density: Float[np.ndarray, "u w"]
    rho: Float[np.ndarray, "c u w"]
    rho_: Float[np.ndarray, "c u w"]
    tau: Float[np.ndarray, "c u w"]


def _pair_grid(a: Integral, b: Integral, law: PairLaw, keys: np.ndarray, part: slice) -> PairGrid:
    rows = Nodes(a.nodes.u[part], a.nodes.weight[part], a.nodes.step, a.nodes.uniform)
    total = a.total[part, None] + b.total[None, :]
    psi = [
        transform(one.u[:, None] + law.m[h, keys], law.s[h, keys], top=0).psi
        for h, one in enumerate((rows, b.nodes))
    ]
    rho, rho_, tau = (np.empty((keys.size, *total.shape)) for _ in range(3))
    for at, i in enumerate(keys):
        table = bivariate((rows, b.nodes), law.m[:, i], law.s[:, i], c=float(law.c[i]), top=1)
        table[0, 0] = np.where(table[0, 0] > _UNKNOWN, table[0, 0], 0.0)
        # ln Phi replaces psi + psi', which stand in the totals of the two heads.
        total += np.log(np.maximum(table[0, 0], TINY)) - psi[0][:, at, None] - psi[1][None, :, at]
        rho[at], rho_[at], tau[at] = ratio(table, 1, 0), ratio(table, 0, 1), ratio(table, 1, 1)
    density = rows.weight[:, None] * b.nodes.weight[None, :] * np.exp(np.minimum(total, 0.0))
    return PairGrid(density, rho, rho_, tau)


def ratio(table: Float[np.ndarray, "j k u w"], j: int, k: int) -> Float[np.ndarray, "u w"]:
    """`a_jk / Phi`; where Phi vanishes so does the weight of the point."""
    return np.where(table[0, 0] > TINY, table[j, k] / np.maximum(table[0, 0], TINY), 0.0)
