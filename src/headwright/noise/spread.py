"""Many keys at the price of few: exact moments of one head at a small multiple of a forward pass.

psi, r and w depend on a key only through (m, s), so they are tabulated on a small grid (`grid`). Every n-sized step
is one of three (`polynomials`): sums over keys become charges on the grid, functions on the grid come to the keys,
and values are added up with weights.

    Psi(u) = psi(u) @ charge                                 the integrand, from all keys
    A_i = int r_i e^Psi,  B_i = int w_i e^Psi,  D_i          three functions of (m, s), known on the grid
    Cov[c] = sum_j R_j R_j' + V' diag(D) V,                  R_j = sum_i g_j(i) v_i

where g_j(i) = <r_i, phi_j> in the inner product int . e^Psi du and phi_1, phi_2, .. are few orthonormal functions of
u that span nearly all r_i; what they miss, e_i, costs (sum_i |e_i|)^2 times the spread of the values, squared. Values
are counted from the mean. (Rejected: a column of the table per key, 100 numbers each instead of a handful.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.noise.blocks import blocks
from headwright.noise.cells import Cells, make_cells
from headwright.noise.exact import FLOOR, HeadMoments, head_moments
from headwright.noise.grid import tables
from headwright.noise.nodes import Nodes
from headwright.noise.polynomials import Carrier, choose, coefficients
from headwright.result import to_numpy
from headwright.types import Array, Float

COLUMNS = 200  # up to so many keys every key is transformed by itself
_WORTH = 10  # or as long as the grid has more columns than this for each key
_CACHED = 1 << 11  # rows of values in work at once on the host
_SAMPLED = 8  # nodes on which polynomials are tried
_SINGLE = 1e-6  # relative error of single-precision sums of products
# Shares of the promised accuracy (1e-9 for the mean, 1e-8 for the covariance) that may be spent on short polynomials,
# on few functions phi, and on single precision.
_SHORT, _FEW, _ROUNDED = 1e-11, 1e-11, 1e-9
_TINY = 1e-300


def logits_moments(m: Any, s: Any, V: Any) -> HeadMoments:
    """Moments of one head, by the cheapest exact route. Host arrays or those of any library."""
    if m.shape[0] <= COLUMNS or not bool(compat.array_namespace(s).any(s > 0)):
        return head_moments(to_numpy(m), to_numpy(s), to_numpy(V).astype(float, copy=False))
    cells = make_cells(m, s)
    alive = cells.keys.shape[0]
    return _few(m, s, V, cells) if alive <= max(COLUMNS, cells.grid.size // _WORTH) else _many(V, cells)


def _few(m: Array, s: Array, V: Array, cells: Cells) -> HeadMoments:
    """Most keys are out of reach and have no weight; the others are few."""
    xp, keys = compat.array_namespace(m), cells.keys
    few = head_moments(
        to_numpy(xp.take(m, keys)), to_numpy(xp.take(s, keys)), to_numpy(V[keys, :]).astype(float, copy=False)
    )
    own = to_numpy(keys)
    weights, squares = np.zeros((2, m.shape[0]))
    weights[own], squares[own] = few.weights_mean, few.weights_square
    return HeadMoments(
        _like(weights, m), _like(squares, m), _like(few.mean, m), _like(few.covariance, m),
        first=few.first + cells.lost, second=few.second + cells.lost, spread=few.spread,
    )  # fmt: skip


@dataclass(frozen=True)
class Sums:
    """The integrand of many keys: `table` holds psi, r and w (nodes x columns of the grid), `charge` the keys."""

    nodes: Nodes
    table: Float[np.ndarray, "3 u g"]
    charge: Float[np.ndarray, "g"]

    @cached_property
    def total(self) -> Float[np.ndarray, "u"]:
        """Psi"""
        return np.minimum(self.table[0] @ self.charge, 0.0)

    @cached_property
    def density(self) -> Float[np.ndarray, "u"]:
        return self.nodes.weight * np.exp(self.total)

    @cached_property
    def r_sum(self) -> Float[np.ndarray, "u"]:
        return self.table[1] @ self.charge


def _many(V: Array, cells: Cells) -> HeadMoments:
    n, carrier = int(V.shape[0]), Carrier(cells)
    one, missed = _sums(cells, carrier)
    density, r = one.density, one.table[1]
    A, B = np.maximum(density @ r, _TINY), np.maximum(density @ one.table[2], _TINY)
    D = np.maximum(B - density @ (r * r), 0.0)
    g, beyond = _directions(one)
    functions = np.concatenate([np.log([A, B]), [D / B], g / A])
    polynomial = coefficients(cells, functions)
    weight = cells.count * cells.middle(np.stack([A / _SHORT, B / _FEW, B / _FEW, *[A / _FEW] * len(g)]))
    terms = choose(polynomial, weight)
    keys = carrier.evaluate(polynomial, terms, _finish, n)
    values = _add_up(V, keys)
    short = (terms.dropped + terms.tail) * _SHORT
    first, second = _errors(cells, one, (A, D), values.weight)
    return HeadMoments(
        weights_mean=keys[0, :],
        weights_square=keys[1, :],
        mean=_like(values.mean, keys),
        covariance=_like(values.covariance, keys),
        first=first + missed + short,
        second=second + missed + short + beyond + values.rounding,
        spread=values.spread,
    )


def _sums(cells: Cells, carrier: Carrier) -> tuple[Sums, float]:
    """The integrand, and what short polynomials miss of it.

    The reference r_0 = sum_k r(u_k) e^{Psi(u_k)/2}, about the weight a key can have, leaves psi / r_0 and r / r_0 of
    size one and nearly constant for keys of little weight, so that polynomials of low degree carry them."""
    table = tables(cells.grid, cells.nodes)
    rough = cells.middle(table[0]) @ cells.count
    log_reference = np.log(np.maximum(np.exp(rough / 2) @ table[1], _TINY))
    # An error of Psi or of sum r at a node is seen with e^Psi (1 + sum r), whose integral is about 1.
    seen = np.exp(rough) * (1.0 + cells.middle(table[1]) @ cells.count)
    some = np.flatnonzero(seen > 1e-9 * seen.max())
    some = some[np.linspace(0, some.size - 1, _SAMPLED).astype(int)]
    rows = table[:2, some, :].reshape(2 * _SAMPLED, -1)
    share = np.tile(np.minimum(seen[some], 1.0), 2)[:, None] / (2 * _SAMPLED * _SHORT)
    size = cells.count * share * np.abs(cells.middle(rows))
    polynomial = coefficients(cells, np.concatenate([log_reference[None, :], rows * np.exp(-log_reference)]))
    weight = np.concatenate([size.sum(axis=0)[None], cells.count * share * np.exp(cells.middle(log_reference))])
    terms = choose(polynomial, weight)
    charge = carrier.charges(log_reference, terms)
    return Sums(cells.nodes, table, charge), (terms.dropped + terms.tail) * _SHORT


def _directions(one: Sums) -> tuple[Float[np.ndarray, "j g"], float]:
    """g_j on the grid for as few j as will do, and what the others would add to the covariance at most."""
    r = np.sqrt(one.density)[:, None] * one.table[1]
    charge = np.abs(one.charge)
    phi = np.linalg.svd(np.linalg.qr((r * charge).T, mode="r").T)[0]
    g = phi.T @ r
    missed = np.sqrt(np.cumsum((g * g)[::-1], axis=0)[::-1]) @ charge  # without g_j, g_j+1, ..
    squared = np.append(missed[1:], 0.0) ** 2
    few = int(np.argmax(squared <= _FEW)) + 1
    return g[:few], float(squared[few - 1])


def _finish(values: Float[Array, "l f w"]) -> Float[Array, "l f w"]:
    """From ln A, ln B, D / B and g_j / A to A, B, D and g_j."""
    xp = compat.array_namespace(values)
    powers = xp.exp(values[:, :2, :])
    A, B = powers[:, :1, :], powers[:, 1:, :]
    return xp.concat([powers, xp.clip(values[:, 2:3, :], min=0.0) * B, values[:, 3:, :] * A], axis=1)


@dataclass(frozen=True)
class Added:
    """The sums over all values: `weight` is `sum_i A_i`, `spread` the largest |v_i - mean|."""

    weight: float
    mean: Float[np.ndarray, "v"]
    covariance: Float[np.ndarray, "v v"]
    spread: float
    rounding: float


def _add_up(V: Float[Array, "n v"], keys: Float[Array, "f n"]) -> Added:
    """One pass over the values, counted from a centre c near their mean.

    `sum_i D_i (v_i - mean)(v_i - mean)' = S - d T' - T d' + d d' sum D` with d = mean - c, S and T the sums of
    D (v - c)(v - c)' and D (v - c). Where sum D is small, single precision is exact enough for S."""
    xp, n = compat.array_namespace(keys), int(V.shape[0])
    sums = to_numpy(xp.sum(keys, axis=1))
    rounding = float(sums[2]) * _SINGLE
    dtype = xp.float32 if rounding <= _ROUNDED else keys.dtype
    some = slice(None, None, max(1, n // _CACHED))
    like = keys[0, some] + float(sums[0]) * _SINGLE / n
    centre = (like @ xp.astype(V[some, :], keys.dtype, copy=False)) / xp.sum(like)

    linear, square, far = 0.0, 0.0, 0.0
    for block in blocks(n, _CACHED, keys):
        values = xp.astype(V[block, :], keys.dtype, copy=False) - centre
        linear = linear + keys[:, block] @ values
        values = xp.astype(values, dtype, copy=False)
        far = max(far, float(xp.max(values)), -float(xp.min(values)))
        values = values * xp.astype(xp.sqrt(keys[2, block]), dtype)[:, None]
        square = square + xp.astype(values.T @ values, keys.dtype)
    linear = to_numpy(linear)
    d = linear[0] / sums[0]
    R = linear[3:] - sums[3:, None] * d
    S = to_numpy(square) - np.outer(d, linear[2]) - np.outer(linear[2], d) + np.outer(d, d) * sums[2]
    return Added(
        weight=float(sums[0]),
        mean=to_numpy(centre) + d,
        covariance=R.T @ R + S,
        spread=float(far + np.abs(d).max()),
        rounding=rounding if dtype != keys.dtype else 0.0,
    )


def _errors(cells: Cells, one: Sums, functions: tuple[np.ndarray, np.ndarray], weights: float) -> tuple[float, float]:
    """Ends, rule and the two identities, as in `exact.errors`."""
    density, charge, (A, D) = one.density, np.abs(one.charge), functions
    ends = -np.expm1(one.total[0]) + np.exp(one.total[-1]) * (1.0 + one.r_sum[-1])
    identity = abs(float(density @ one.r_sum) - 1.0) + abs(weights - 1.0)
    pairs = float(charge @ np.abs((density * one.r_sum) @ one.table[1] + D - A))
    known = FLOOR + ends + identity + cells.lost
    alias = [one.nodes.alias(k) for k in (1, 2)]
    if not one.nodes.uniform:
        # As in `exact.errors`: every second node, on the total weight.
        half = 2 * (density * one.r_sum)[::2].sum()
        alias = [max(a, 3 * abs(half - density @ one.r_sum) ** 2) for a in alias]
    return float(known + alias[0]), float(known + pairs + alias[1])


def _like(host: np.ndarray, array: Array) -> Array:
    xp = compat.array_namespace(array)
    return xp.asarray(host, dtype=array.dtype, device=compat.device(array))
