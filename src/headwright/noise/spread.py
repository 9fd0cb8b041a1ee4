"""Many keys at the price of few: exact moments of one head at a small multiple of a forward pass.

psi, r and w depend on a key only through (m, s), so they are tabulated on a small grid and interpolated. The few
keys that can carry much weight keep a whole column each. The others span a space of a dozen functions, and each of
them is reduced to its values b_1 .. b_q of q skeleton functions:

    psi(u_k + m_i, s_i) = sum_q L^psi_kq b_q(i)          and the same for r and w.

Then Psi = L^psi sum_i b(i), sum_a r_a v_a = L^r (B'V), E[alpha_i] and E[alpha_i^2] are linear and int r_i^2 e^Psi
is quadratic in b(i): two matrix products with V and nothing else touches the n keys. (Rejected: adding V up on the
grid, 84 rows of v numbers per key instead of q.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.noise.cells import Cells, interpolate, make_cells, put
from headwright.noise.exact import FLOOR, HeadMoments, Integral, from_integral, head_moments
from headwright.noise.grid import tables
from headwright.noise.nodes import Nodes
from headwright.noise.skeleton import Skeleton, make_skeleton, reference
from headwright.noise.transform import transform
from headwright.result import to_numpy
from headwright.types import Array, Float

COLUMNS = 200  # up to so many keys every key is transformed by itself
DIRECT = 4096  # up to so many keys every key has its own column; the heaviest ones among more keys, too
_SORTED, _CACHED = 1 << 14, 1 << 12  # keys per block that is sorted, and that stays in cache
_SAMPLE = 12  # keys whose interpolated moments are confronted with direct ones
_SINGLE = 1e-6  # relative error of single-precision sums of products
_NEGLIGIBLE = 1e-11
_GONE = -31.0  # Psi below which nothing is left to integrate


def logits_moments(m: Any, s: Any, V: Any) -> HeadMoments:
    """Moments of one head, by the cheapest exact route. Host arrays up to `DIRECT` keys, any library beyond."""
    if m.shape[0] <= COLUMNS or not bool(compat.array_namespace(s).any(s > 0)):
        return _on_host(m, s, V, head_moments)
    cells = make_cells(m, s)
    if cells.alive <= DIRECT:
        return _few(m, s, V, cells)
    return _many(m, s, V, cells)


def _on_host(m, s, V, route) -> HeadMoments:
    return route(to_numpy(m), to_numpy(s), to_numpy(V).astype(float, copy=False))


def _few(m: Array, s: Array, V: Array, cells: Cells) -> HeadMoments:
    """Keys out of reach have no weight; the others are few enough for a column each."""
    xp, n = compat.array_namespace(m), m.shape[0]
    table = tables(cells.grid, cells.nodes)
    own, one = _columns(cells, np.ones(cells.count.size, dtype=bool), table)
    keys = _index(own, m)
    law = to_numpy(xp.take(m, keys)), to_numpy(xp.take(s, keys))
    values = to_numpy(V[_index(own, V), :]).astype(float, copy=False)
    few = (
        head_moments(law[0], law[1], values)
        if own.size <= COLUMNS
        else from_integral(one, values, missed=_missed(one, law))
    )
    out = put(n, keys, _like(np.stack([few.weights_mean, few.weights_square], axis=1), m))
    return HeadMoments(
        out[:, 0], out[:, 1], _like(few.mean, m), _like(few.covariance, m),
        first=few.first + cells.lost, second=few.second + cells.lost, spread=few.spread,
    )  # fmt: skip


def _columns(cells: Cells, wanted: np.ndarray, table: Float[np.ndarray, "3 u g"]) -> tuple[np.ndarray, Integral]:
    """The keys of some cells and their psi, r, w on all nodes; `total` is the Psi of these keys alone."""
    scaled, log_reference = reference(table, cells.rough_total(table[0]))
    columns = _like(np.column_stack([scaled.reshape(-1, scaled.shape[2]).T, log_reference]), cells.place)
    keys, rows = [], []
    for block in blocks(cells.name, _SORTED):
        at, values = interpolate(cells, block, wanted, columns)
        keys.append(to_numpy(at) + block.start)
        rows.append(to_numpy(values))
    psi, r, w = np.moveaxis(np.concatenate(rows).reshape(-1, *table.shape[:2]), 0, -1)
    return np.concatenate(keys), Integral(cells.nodes, np.minimum(psi, 0.0).sum(axis=1), r, w)


def _missed(one: Integral, law: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
    """Interpolation error of keys that have a column each."""
    found = np.stack([one.density @ one.r, one.density @ one.w], axis=1)
    heavy = np.argsort(-found[:, 0])[:_SAMPLE]
    some = np.linspace(0, found.shape[0] - 1, _SAMPLE).astype(int)
    return _gaps(one, law, found, (heavy, some), found.shape[0])


def _gaps(one: Any, law: tuple[np.ndarray, np.ndarray], found: np.ndarray, which: tuple, n: int) -> tuple[float, float]:
    """`sum_i |error_i|` of E[alpha_i] and E[alpha_i^2]: summed over the heaviest keys, which decide, and estimated
    from keys spread evenly for the others; twice what is seen is stated."""
    gaps = []
    for at in which:
        t = transform(one.nodes.u[:, None] + law[0][at], law[1][at])
        gaps.append(np.abs(found[at, :2] - np.stack([one.density @ t.r, one.density @ t.w], axis=1)))
    total = gaps[0].sum(axis=0) + n * gaps[1].mean(axis=0)
    return 2 * float(total[0]), 2 * float(total.sum())


def _many(m: Array, s: Array, V: Array, cells: Cells) -> HeadMoments:
    table = tables(cells.grid, cells.nodes)
    rough = cells.rough_total(table[0])
    heavy = _heaviest(cells, table, rough)
    own, column = _columns(cells, heavy, table)
    skeleton = make_skeleton(table, rough, cells.columns_of(np.flatnonzero(~heavy)))
    b, sums, with_values, extremes = _reduce(cells, ~heavy, skeleton, V)
    psi, r, _ = skeleton.expand
    # Far to the right the product of all phi is gone and so is the accuracy of its logarithm.
    total = np.minimum(np.where(rough < _GONE, rough, column.total + psi @ sums), 0.0)
    one = Sums(cells.nodes, total, r @ sums + column.r.sum(axis=1))
    R = r @ with_values + column.r @ to_numpy(V[_index(own, V), :]).astype(float, copy=False)
    mean = one.density @ R / (one.density @ one.r_sum)
    R = R - one.r_sum[:, None] * mean
    spread = float(max(extremes[1] - mean.min(), mean.max() - extremes[0]))
    few = put(m.shape[0], _index(own, m), _like(_heavy_keys(one, column), m))
    keys = _every_key(one, skeleton, b) + few
    covariance = (R * one.density[:, None]).T @ R + _scatter(V, mean, keys[:, 3], spread)
    first, second = _errors(cells, one, keys, (m, s), own)
    return HeadMoments(
        weights_mean=keys[:, 0],
        weights_square=keys[:, 1],
        mean=_like(mean, m),
        covariance=_like(covariance, m),
        first=first + skeleton.missed,
        second=second + skeleton.missed,
        spread=spread,
    )


@dataclass(frozen=True)
class Sums:
    """The integrand of many keys."""

    nodes: Nodes
    total: Float[np.ndarray, "u"]  # Psi
    r_sum: Float[np.ndarray, "u"]

    @property
    def density(self) -> Float[np.ndarray, "u"]:
        return self.nodes.weight * np.exp(self.total)


def _reduce(cells: Cells, light: np.ndarray, skeleton: Skeleton, V: Array) -> tuple[Array, Any, Any, tuple]:
    """b of every light key (zero for the others), `sum_i b(i)`, `sum_i b(i) v_i'`, smallest and largest value."""
    xp = compat.array_namespace(cells.place)
    columns = _like(np.column_stack([skeleton.functions.T, skeleton.log_reference]), cells.place)
    parts, products, low, high = [], 0.0, np.inf, -np.inf
    for block in blocks(cells.name, _SORTED):
        part = put(min(block.stop, cells.name.shape[0]) - block.start, *interpolate(cells, block, light, columns))
        parts.append(part)
        for inner in blocks(part, _CACHED):
            values = xp.astype(V[block.start + inner.start : block.start + inner.stop, :], part.dtype, copy=False)
            products = products + part[inner, :].T @ values
            low, high = min(low, float(xp.min(values))), max(high, float(xp.max(values)))
    b = xp.concat(parts)
    return b, to_numpy(xp.sum(b, axis=0)), to_numpy(products), (low, high)


def _every_key(one: Sums, skeleton: Skeleton, b: Float[Array, "n q"]) -> Float[Array, "n 4"]:
    """E[alpha], E[alpha^2], int r r_sum e^Psi and D of every light key; zero for the others."""
    xp, (_, r, w), density = compat.array_namespace(b), skeleton.expand, one.density
    # int r_i^2 e^Psi = |G b(i)|^2 with G'G = r' diag(density) r
    factor = np.asarray(np.linalg.qr(np.sqrt(density)[:, None] * r, mode="r"))
    linear = np.stack([density @ r, density @ w, (density * one.r_sum) @ r], axis=1)
    maps = _like(np.concatenate([linear, factor.T], axis=1), b)
    parts = []
    for block in blocks(b, _CACHED):
        row = b[block, :] @ maps
        D = xp.clip(row[:, 1] - xp.sum(row[:, 3:] ** 2, axis=1), min=0.0)
        parts.append(xp.concat([row[:, :3], D[:, None]], axis=1))
    return xp.concat(parts)


def _heavy_keys(one: Sums, column: Integral) -> Float[np.ndarray, "k 4"]:
    """The same of the heavy keys."""
    density, r, w = one.density, column.r, column.w
    return np.stack([density @ r, density @ w, (density * one.r_sum) @ r, density @ (w - r * r)], axis=1)


def _errors(cells: Cells, one: Sums, keys: Array, law: tuple[Array, Array], own: np.ndarray) -> tuple[float, float]:
    """Ends, rule, the two identities (as in `exact.errors`) and interpolation, measured on some keys."""
    xp, density, n = compat.array_namespace(keys), one.density, keys.shape[0]
    ends = -np.expm1(one.total[0]) + np.exp(one.total[-1]) * (1.0 + one.r_sum[-1])
    identity = abs(float(density @ one.r_sum) - 1.0)
    pairs = float(xp.sum(xp.abs(keys[:, 2] + keys[:, 3] - keys[:, 0])))
    heavy = own[np.argsort(-to_numpy(keys[_index(own, keys), 0]))[:_SAMPLE]]
    at = _index(np.concatenate([heavy, np.linspace(0, n - 1, _SAMPLE).astype(int)]), keys)
    m, s, found = (to_numpy(xp.take(x, at, axis=0)) for x in (*law, keys))
    which = np.arange(heavy.size), heavy.size + np.flatnonzero(np.isfinite(m[heavy.size :]))
    first, second = _gaps(one, (m, s), found, which, n)
    known = FLOOR + ends + identity + cells.lost
    alias = [one.nodes.alias(k) for k in (1, 2)]
    if not one.nodes.uniform:
        # As in `exact.errors`: every second node, on the total weight.
        half = 2 * (density * one.r_sum)[::2].sum()
        alias = [max(a, 3 * abs(half - density @ one.r_sum) ** 2) for a in alias]
    return known + first + alias[0], known + second + pairs + alias[1]


def _heaviest(cells: Cells, table: np.ndarray, rough: np.ndarray) -> np.ndarray:
    """The cells whose keys can carry most weight, as many as fit into `DIRECT` keys: True."""
    late = int(np.argmin(np.abs(rough + 10.0)))
    order = np.argsort(cells.middle(table[0, late]))
    heavy = np.zeros(order.size, dtype=bool)
    heavy[order[np.cumsum(cells.count[order]) <= DIRECT]] = True
    return heavy


def _index(keys: np.ndarray, like: Array) -> Array:
    return compat.array_namespace(like).asarray(keys, device=compat.device(like))


def blocks(rows: Array, size: int) -> list[slice]:
    """Slices of `size` rows on the host; an accelerator takes a million at once."""
    n = int(rows.shape[0])
    size = size if compat.is_numpy_array(rows) or str(compat.device(rows)) == "cpu" else 1 << 20
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


def _like(host: np.ndarray, array: Array) -> Array:
    xp = compat.array_namespace(array)
    return xp.asarray(host, dtype=array.dtype, device=compat.device(array))


def _scatter(V: Float[Array, "n v"], mean: np.ndarray, D: Float[Array, "n"], spread: float) -> np.ndarray:
    """`sum_i D_i (v_i - mean)(v_i - mean)'`. Where all of it is small, single precision is exact enough."""
    xp = compat.array_namespace(D)
    single = float(xp.sum(D)) * _SINGLE < _NEGLIGIBLE
    dtype = xp.float32 if single else D.dtype
    root, centre = xp.astype(xp.sqrt(D), dtype), xp.astype(_like(mean, D), dtype)
    total = np.zeros((V.shape[1],) * 2)
    for block in blocks(D, _CACHED):
        rows = (xp.astype(V[block, :], dtype, copy=False) - centre) * root[block, None]
        total += to_numpy(rows.T @ rows)
    return total
