"""Two heads on the same keys: their covariance, exactly. The same idea in two variables,

    E[alpha_a alpha'_b] = int int e^Psi rho_a rho'_b du du'   (a != b)
    E[alpha_a alpha'_a] = int int e^Psi tau_a du du'

    Phi_i(x, x') = E exp(-e^y - e^{y'}),    Psi = sum_i ln Phi_i
    rho = E[e^y ...] / Phi,                 tau = E[e^{y + y'} ...] / Phi

where (y, y') is the pair of logits of key i. Keys with uncorrelated logits factorise and cost
nothing new; for the others one logit is conditioned on the other, so each table is a product of two
small matrices. Rows of nodes are taken in blocks: what is wanted are sums over all pairs of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.noise import budget
from headwright.noise.head.integral import HeadMoments
from headwright.noise.head.nodes import Nodes
from headwright.noise.head.tabulated import Integrand
from headwright.noise.head.transform import transform
from headwright.noise.heads.bivariate import PairTable, bivariate, evaluations, room
from headwright.types import Float, HostCovariance, HostPerKey, HostValues, Int

_WORK = 2e9  # what one pair of heads may cost, in exponentials
_ENTRY = 4.0  # for each key and pair of nodes: the ratios and their sums
_MEMORY = 4e8  # bytes the tables of one key may take
_BLOCK = 1.5e8  # bytes of the tables of all keys for a block of rows
# A rule whose difference is below so many squares of the one before converges as it should
_ANALYTIC = 10.0
TINY = 1e-290  # below it Phi counts as zero
_UNKNOWN = 1e-14  # below it Phi is not known, and neither is what is divided by it

PerHeadOfPair = Float[np.ndarray, "2 n"]
OnPairs = Float[np.ndarray, "u w"]
OnPairsByKey = Float[np.ndarray, "c u w"]
KeyNumbers = Int[np.ndarray, "c"]


@dataclass(frozen=True)
class PairLaw:
    """Logits of two heads: means, deviations, and covariance of the two logits of each key."""

    m: PerHeadOfPair
    s: PerHeadOfPair
    c: HostPerKey


@dataclass(frozen=True)
class PairMoments:
    """`covariance` of the outputs, `weights` the covariance of the two weights of each key; `error`
    for values at most 1 away from their centres."""

    covariance: HostCovariance
    weights: HostPerKey
    error: float


def effects(law: PairLaw, weights: PerHeadOfPair) -> HostPerKey:
    """A bound on what the correlation of the two logits of each key does.

    d/dc_i E[c c'] = E[(d c / d z_i)(d c' / d z'_i)], each factor at most 2 alpha_i; the means of
    the weights do not depend on c_i. So ignoring c_i changes nothing by more than 4 |c_i| min(E
    alpha_i, E alpha'_i).
    """
    return 4 * np.abs(law.c) * weights.min(axis=0)


def correlated(law: PairLaw, weights: PerHeadOfPair) -> tuple[KeyNumbers, float]:
    """The keys whose correlation matters, and a bound on the effect of ignoring the others."""
    effect = effects(law, weights)
    order = np.argsort(effect)
    small = np.cumsum(effect[order]) <= budget.IGNORED_CORRELATIONS
    kept = np.sort(order[~small])
    return kept, float(effect[order[small]].sum())


@dataclass(frozen=True)
class _Two:
    """Two heads on their nodes, and the `keys` that correlate them."""

    a: Integrand
    b: Integrand
    law: PairLaw
    keys: KeyNumbers

    def affordable(self) -> bool:
        """Is the double integral within the budget of work and of memory?"""
        nodes = (self.a.nodes.u.size, self.b.nodes.u.size)
        deviations = self.law.s[:, self.keys].T
        laws = list(zip(deviations, self.law.c[self.keys].tolist(), strict=True))
        tables = sum(evaluations(nodes, s, c) for s, c in laws)
        entries = self.keys.size * nodes[0] * nodes[1]
        work = tables + _ENTRY * entries
        largest = max(room(nodes, s, c) for s, c in laws)
        return bool(work <= _WORK and largest <= _MEMORY)

    def row_blocks(self, values: int) -> list[slice]:
        """Blocks of rows for which the tables of the keys and of the values fit; their number is a
        multiple of 4."""
        per_pair = 6 * self.keys.size + 3 * values + 8
        bytes_per_row = 8 * self.b.nodes.u.size * per_pair
        rows = max(4, int(_BLOCK / bytes_per_row) // 4 * 4)
        count = self.a.nodes.u.size
        return [slice(i, min(i + rows, count)) for i in range(0, count, rows)]

    def rows(self, part: slice) -> Nodes:
        """Some of the nodes of the first head."""
        whole = self.a.nodes
        return Nodes(whole.u[part], whole.weight[part], whole.step, whole.uniform)


def pair_moments(
    a: Integrand,
    b: Integrand,
    law: PairLaw,
    V: HostValues,
    *,
    heads: tuple[HeadMoments, HeadMoments],
) -> PairMoments | None:
    """Covariance of two heads, or None where the integral would cost too much or is too rough for
    its nodes, two wide logits of one key being almost the same (sample it then)."""
    weights = np.stack([h.weights_mean for h in heads])
    keys, ignored = correlated(law, weights)
    if keys.size == 0:
        n, v = V.shape
        return PairMoments(np.zeros((v, v)), np.zeros(n), ignored)
    two = _Two(a, b, law, keys)
    if not two.affordable():
        return None

    C = V - heads[0].mean
    D = V - heads[1].mean
    sums = sum_pairs(two, C, D)
    largest = np.abs(C).max() * np.abs(D).max()
    size = max(largest, 1e-300)
    rule = sums.rule(size)
    if not rule <= budget.ROUGH_PAIR:
        return None
    ends = sum(h.first for h in heads)
    identity = abs(sums.total - 1.0)
    error = ignored + 4 * (ends + identity) + rule
    covariance_of_weights = sums.both - weights[0] * weights[1]
    return PairMoments(sums.covariance[0], covariance_of_weights, float(error))


@dataclass(frozen=True)
class PairSums:
    """Sums over all pairs of nodes: `covariance` on all nodes, on every second and on every fourth;
    `both` is E[alpha_i alpha'_i] key by key, `total` the sum of E[alpha_a alpha'_b] over all pairs
    of keys, which is one."""

    covariance: Float[np.ndarray, "3 v v"]
    both: HostPerKey
    total: float
    uniform: bool

    def rule(self, size: float) -> float:
        """The error of the rule, for values of size one. On uniform nodes the heads' own bound
        holds. An analytic rule squares its error when the step is halved; where two halvings do not
        show that (two wide logits of nearly one key make a kink), the differences fall by a
        constant factor at least."""
        if self.uniform:
            return 0.0
        differences = np.abs(self.covariance[:-1] - self.covariance[1:])
        last, before = (float(one.max() / size) for one in differences)
        if last <= _ANALYTIC * before**2:
            return 3 * last**2
        return 3 * last * min(1.0, last / max(before, TINY))


def sum_pairs(two: _Two, C: HostValues, D: HostValues) -> PairSums:
    """`C` and `D` are the values, counted from the mean of either head."""
    a, b, keys = two.a, two.b, two.keys
    C_keys = C[keys]
    D_keys = D[keys]
    R_others = a.r @ C - a.r[:, keys] @ C_keys
    S_others = b.r @ D - b.r[:, keys] @ D_keys
    others_a = _without(a, keys)
    others_b = _without(b, keys)
    covariance = np.zeros((3, C.shape[1], D.shape[1]))
    shared = np.zeros((3, keys.size))
    both = np.zeros(C.shape[0])
    tau_sum = np.zeros(keys.size)
    total = 0.0

    for part in two.row_blocks(C.shape[1] + D.shape[1]):
        grid = _pair_grid(two, part)
        R = np.tensordot(grid.rho, C_keys, axes=([0], [0]))
        R += R_others[part, None, :]
        S = np.tensordot(grid.rho_, D_keys, axes=([0], [0]))
        S += S_others[None, :, :]
        alone = grid.tau - grid.rho * grid.rho_
        for level, every in enumerate((1, 2, 4)):
            numbers = np.arange(part.start, part.stop)
            rows = np.flatnonzero(numbers % every == 0)
            density = every**2 * grid.density[rows, ::every]
            weighted = R[rows, ::every] * density[:, :, None]
            S_seen = S[rows, ::every] if every > 1 else S
            covariance[level] += np.tensordot(weighted, S_seen, axes=([0, 1], [0, 1]))
            alone_seen = alone[:, rows, ::every]
            shared[level] += np.tensordot(alone_seen, density, axes=2)
        seen_by_b = grid.density @ b.r
        both += np.sum(a.r[part] * seen_by_b, axis=0)
        tau_sum += np.tensordot(grid.tau, grid.density, axes=2)
        in_rows = others_a[part, None] + grid.rho.sum(axis=0)
        in_columns = others_b + grid.rho_.sum(axis=0)
        total += float((grid.density * in_rows * in_columns).sum())

    covariance += np.einsum("lk,ki,kj->lij", shared, C_keys, D_keys)
    both[keys] = tau_sum
    uniform = a.nodes.uniform and b.nodes.uniform
    total += float(shared[0].sum())
    return PairSums(covariance, both, total, uniform)


def _without(one: Integrand, keys: KeyNumbers) -> Float[np.ndarray, "u"]:
    """Sum r over all other keys."""
    return one.r.sum(axis=1) - one.r[:, keys].sum(axis=1)


@dataclass(frozen=True)
class PairGrid:
    """A block of rows: `density` is weight times e^Psi; rho, rho_, tau of the correlated keys."""

    density: OnPairs
    rho: OnPairsByKey
    rho_: OnPairsByKey
    tau: OnPairsByKey


def _pair_grid(two: _Two, part: slice) -> PairGrid:
    """Tables of the correlated keys on some rows of nodes."""
    law, keys, columns = two.law, two.keys, two.b.nodes
    rows = two.rows(part)
    m, m_ = law.m[:, keys]
    s, s_ = law.s[:, keys]
    psi = transform(rows.u[:, None] + m, s, top=0).psi
    psi_ = transform(columns.u[:, None] + m_, s_, top=0).psi
    total = two.a.total[part, None] + two.b.total[None, :]
    rho, rho_, tau = np.empty((3, keys.size, *total.shape))
    for at, i in enumerate(keys):
        c = float(law.c[i])
        table = bivariate((rows, columns), law.m[:, i], law.s[:, i], c=c, top=1)
        phi = table[0, 0]
        phi[~(phi > _UNKNOWN)] = 0.0
        # ln Phi replaces psi + psi', which stand in the totals of the two heads.
        log_phi = np.log(np.maximum(phi, TINY))
        total += log_phi - psi[:, at, None] - psi_[None, :, at]
        rho[at] = ratio(table, 1, 0)
        rho_[at] = ratio(table, 0, 1)
        tau[at] = ratio(table, 1, 1)
    weight = rows.weight[:, None] * columns.weight[None, :]
    density = weight * np.exp(np.minimum(total, 0.0))
    return PairGrid(density, rho, rho_, tau)


def ratio(table: PairTable, j: int, k: int) -> OnPairs:
    """`a_jk / Phi`; where Phi vanishes so does the weight of the point."""
    phi = table[0, 0]
    divided = table[j, k] / np.maximum(phi, TINY)
    return np.where(phi > TINY, divided, 0.0)
