"""Many keys at the price of few: exact moments of one head at a small multiple of a forward pass.

psi, r and w depend on a key only through (m, s), so they are tabulated on a small grid (`grid`).
What is done with all n keys is one of three things: sums over keys become charges on the grid,
functions on the grid come to the keys (both in `carrier`), and values are added up with weights.

    Psi(u) = psi(u) @ charge                              the integrand, from all keys
    A_i = E[alpha_i],  B_i = E[alpha_i^2],  g_j(i)        functions of (m, s), known on the grid
    Cov[c] = sum_j R_j R_j' + V' diag(D) V,               R_j = sum_i g_j(i) v_i,   D_i = B_i - sum_j g_j(i)^2

where g_j(i) = int r_i phi_j e^Psi du and phi_1, phi_2, .. are few functions of u, orthonormal under
e^Psi du, that span nearly all r_i: leaving out a part e_i of each r_i costs at most (sum_i |e_i|)^2
for values of size one. Values are counted from their mean. (Rejected: a column of the table for
each key, a hundred numbers instead of a handful.)
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import dot, like, put
from headwright.inputs import finite
from headwright.noise.head.integral import FLOOR, HeadMoments, head_moments
from headwright.noise.head.nodes import Nodes
from headwright.noise.many.blocks import blocks, in_threads, on_host, one_blas_thread
from headwright.noise.many.cells import Cells, make_cells
from headwright.noise.many.cost import grid_pays
from headwright.noise.many.grid import tables
from headwright.noise.many.polynomials import choose, coefficients
from headwright.noise.many.transfer import Carrier
from headwright.result import to_numpy
from headwright.types import Array, Float

COLUMNS = 48  # up to so many keys every key is transformed by itself
# Rows of values in work at once on the host, and parts of all of them for threads
_CACHED, _PARTS = 1 << 13, 8
# Nodes on which polynomials are tried, among those with so much of the largest weight
_SAMPLED, _SEEN = 10, 1e-4
_SOME = 500  # columns from which phi is found, and values from which their centre
# Relative error of single-precision sums of products, and what it may cost
_SINGLE, _ROUNDED = 1e-6, 1e-9
# Shares of the promised accuracy (1e-9 for the mean, 1e-8 for the covariance) that may be spent on
# short polynomials and on single precision (for first and for second moments), and on few functions
# phi.
_SHORT, _SHORTER, _FEW = 3e-11, 3e-10, 1e-11
_RARE, _SMALL, _TINY = 1e-7, 1e-8, 1e-300


def logits_moments(m: Any, s: Any, V: Any) -> HeadMoments:
    """Moments of one head, by the cheapest exact route. Host arrays or those of any library;
    refuses values that are not finite."""
    if m.shape[0] <= COLUMNS or not bool(compat.array_namespace(s).any(s > 0)):
        V = to_numpy(finite("V", V)).astype(float, copy=False)
        return head_moments(to_numpy(m), to_numpy(s), V)
    # Tables are small: more BLAS threads would mostly wait, and busily. Another library's sums on
    # the host need them.
    with nullcontext() if on_host(m) and not compat.is_numpy_array(m) else one_blas_thread():
        cells = make_cells(m, s)
        if not grid_pays(cells):
            return _few(m, s, finite("V", V), cells)
        with np.errstate(invalid="ignore"):
            found = _many(V, cells)
    if not np.isfinite(found.spread):  # every value went into it
        finite("V", V)
    return found


def _few(m: Array, s: Array, V: Array, cells: Cells) -> HeadMoments:
    """Every key by itself, but for those that are out of reach and have no weight."""
    xp, keys = compat.array_namespace(m), cells.keys
    few = head_moments(
        to_numpy(xp.take(m, keys)),
        to_numpy(xp.take(s, keys)),
        to_numpy(V[keys, :]).astype(float, copy=False),
    )
    own = to_numpy(keys)
    weights, squares = np.zeros((2, m.shape[0]))
    weights[own], squares[own] = few.weights_mean, few.weights_square
    return HeadMoments(
        like(weights, m), like(squares, m), like(few.mean, m), like(few.covariance, m),
        # What is lost is lost of all values, not only of those in reach.
        first=few.first + cells.lost, second=few.second + cells.lost, spread=_spread(V, few.mean),
    )  # fmt: skip


def _spread(V: Array, mean: Float[np.ndarray, "v"]) -> float:
    xp = compat.array_namespace(V)
    return max(float(xp.max(xp.abs(x - y))) for x, y in zip(V.T, mean.tolist(), strict=True))


@dataclass(frozen=True)
class Sums:
    """The integrand of many keys: `table` holds psi, r and w (nodes x columns of the grid),
    `charge` the keys."""

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
    carrier = Carrier(cells)
    one, missed = _sums(cells, carrier)
    A, B = (np.maximum(one.density @ row, _TINY) for row in one.table[1:])
    g, beyond = _directions(one)
    common = g @ one.charge / (A @ one.charge)
    h = g / A - common[:, None]
    polynomial = coefficients(cells, np.concatenate([[np.log(A), np.log(B / A) - np.log(A)], h]))
    weight = cells.count * cells.middle(
        np.stack([A / _SHORT, B / _SHORTER, *[A / _SHORTER] * len(g)])
    )
    squares = float(B @ one.charge)
    terms = choose(cells, polynomial, weight, rounded=squares / _SHORTER)
    rounded = _SINGLE * squares

    def added(single: bool) -> Added:
        each = carrier.evaluate(
            polynomial,
            terms,
            lambda first, others: _finish(first, others, common),
            columns=2 + len(g),
            single=single,
        )
        return _add_up(V, *each, carrier.row)

    single = rounded <= _ROUNDED
    with np.errstate(over="ignore"):
        values = added(single)
    # Squares leave the range of single precision
    if single and not _SMALL <= values.spread <= 1 / _SMALL:
        single, values = False, added(False)
    short = terms.missed + terms.rounding
    first, second = _errors(cells, one, A, values.weight)
    # Of R_j in single precision: 2 |R_j| sum_i |A_i h_j(i)|.
    common_error = _SINGLE * float(
        2 * np.abs(values.R).max(axis=1) @ (np.abs(A * h) @ np.abs(one.charge))
    )
    rounding = single * (rounded + common_error / max(values.spread, _TINY))
    return HeadMoments(
        weights_mean=values.weights_mean,
        weights_square=values.weights_square,
        mean=like(values.mean, cells.m),
        covariance=like(values.covariance, cells.m),
        first=first + missed + short * _SHORT,
        second=second + missed + short * _SHORTER + beyond + rounding,
        spread=values.spread,
    )


def _sums(cells: Cells, carrier: Carrier) -> tuple[Sums, float]:
    """The integrand, and what short polynomials miss of it."""
    table = tables(cells.grid, cells.nodes)
    psi, r = (cells.middle(table[k]) @ cells.count for k in (0, 1))
    # An error of Psi costs int e^Psi (sum r)^k |error| du, one of sum r costs int k e^Psi (sum
    # r)^(k-1) |error| du, for first and second moments, k = 1 and 2; without the errors these
    # integrals are about 1.
    seen = np.exp(psi) * r ** np.array([[1], [2]])
    some = np.flatnonzero((seen > _SEEN * seen.max(axis=1, keepdims=True)).any(axis=0))
    some = some[np.linspace(0, some.size - 1, _SAMPLED).astype(int)]
    first, second = seen[:, some] / seen[:, some].sum(axis=1, keepdims=True) / _SHORT
    polynomial = coefficients(cells, table[:2, some, :].reshape(2 * _SAMPLED, -1))
    share = np.concatenate([first + second, (first + 2 * second) / r[some]])[:, None]
    terms = choose(cells, polynomial, share * cells.count, sums=True)
    return Sums(cells.nodes, table, carrier.charges(terms)), (
        terms.missed + terms.rounding
    ) * _SHORT


def _directions(one: Sums) -> tuple[Float[np.ndarray, "j g"], float]:
    """g_j on the grid for as few j as will do, and what the others would add to the covariance at
    most."""
    charge = np.abs(one.charge)
    size = np.sqrt(one.density) * (one.table[1] @ charge)
    seen = size > _RARE * size.max()
    r = np.sqrt(one.density[seen])[:, None] * one.table[1][seen]
    # Neighbouring columns are much alike: some decide on phi, all on what it misses.
    some = slice(None, None, max(1, charge.size // _SOME))
    with one_blas_thread():
        phi = np.linalg.svd(np.asarray(np.linalg.qr((r * charge)[:, some].T, mode="r")).T)[0]
        g = phi.T @ r
    missed = np.sqrt(np.cumsum((g * g)[::-1], axis=0)[::-1]) @ charge  # without g_j, g_j+1, ..
    squared = (np.append(missed[1:], 0.0) + size[~seen].sum()) ** 2
    few = int(np.argmax(squared <= max(_FEW, squared[-1]))) + 1
    return g[:few], float(squared[few - 1])


def _finish(
    first: Float[Array, "l w"], others: Float[Array, "l f w"], common: Float[np.ndarray, "j"]
) -> tuple[Float[Array, "l w"], Float[Array, "l w k"]]:
    """From ln A, and ln (B / A^2) and h_j = g_j / A - common_j, to A, and (D, A h_1, .., B / A^2)
    with D = B - sum_j g_j^2.

    As sum_i A_i (v_i - mean) = 0, A h_j adds the values up to the same R_j as g_j, and without
    cancellation."""
    xp = compat.array_namespace(first)
    A, ratio, h = xp.exp(first), xp.exp(others[:, 0, :]), others[:, 1:, :]
    a = xp.astype(A, others.dtype, copy=False)
    g = h + like(common[:, None], h)
    left = ratio - xp.sum(g * g, axis=1)
    D, h = xp.where(left > 0.0, left, 0.0) * a * a, h * a[:, None, :]
    return A, xp.stack([D, *(h[:, j, :] for j in range(h.shape[1])), ratio], axis=-1)


@dataclass(frozen=True)
class Added:
    """The sums over all values, and A and B key by key: `weight` is `sum_i A_i`, `spread` the
    largest |v_i - mean|."""

    weights_mean: Float[Array, "n"]
    weights_square: Float[Array, "n"]
    weight: float
    mean: Float[np.ndarray, "v"]
    covariance: Float[np.ndarray, "v v"]
    R: Float[np.ndarray, "j v"]
    spread: float


def _add_up(
    V: Float[Array, "n v"], A: Float[Array, "slots"], others: Float[Array, "slots k"], row: Array
) -> Added:
    """One pass over the values. Key i has A, and (D, A h_1, .., B / A^2), in row `row[i]` of two
    tables. With values counted from a centre c,

        sum_i D_i (v_i - mean)(v_i - mean)' = S - d T' - T d' + d d' sum D,        d = mean - c,

    where S and T are the sums of D (v - c)(v - c)' and D (v - c). All but the mean is taken in the
    precision of the last table."""
    xp, n, centre = compat.array_namespace(A), int(V.shape[0]), _centre(V, A)
    weights, squares = (xp.empty((n,), dtype=A.dtype, device=compat.device(A)) for _ in range(2))

    @np.errstate(invalid="ignore", over="ignore")  # a thread has its own
    def add_up(part: slice) -> tuple[Any, ...]:
        nonlocal weights, squares
        total, sums, linear, square, far = 0.0, 0.0, 0.0, 0.0, 0.0
        inner = blocks(part.stop - part.start, _CACHED, A)
        room = xp.empty((inner[0].stop, V.shape[1]), dtype=others.dtype, device=compat.device(A))
        for block in (slice(part.start + i.start, part.start + i.stop) for i in inner):
            weight, rest = xp.take(A, row[block]), xp.take(others, row[block], axis=0)
            weights, squares = (
                put(weights, block, weight),
                put(squares, block, weight * weight * rest[:, -1]),
            )
            values = xp.astype(V[block, :], A.dtype, copy=False)
            values = values if centre is None else values - centre
            total = total + dot(weight, values)
            values = put(room[: values.shape[0], :], ..., values)
            far = max(far, float(xp.max(values)), -float(xp.min(values)))
            sums = sums + xp.astype(dot(rest.T, xp.ones_like(rest[:, 0])), A.dtype)
            linear = linear + xp.astype(dot(rest.T, values), A.dtype)
            values *= xp.sqrt(rest[:, :1])
            square = square + xp.astype(values.T @ values, A.dtype)
        return *(to_numpy(x) for x in (total, sums, linear, square)), far

    *added, far = zip(
        *in_threads(add_up, blocks(n, max(_CACHED, -(-n // _PARTS)), A), A), strict=True
    )
    (total, sums, linear, square), weight = (
        (np.sum(x, axis=0) for x in added),
        float(xp.sum(weights)),
    )
    d = total / weight
    R = linear[1:-1] - sums[1:-1, None] * d
    S = square - np.outer(d, linear[0]) - np.outer(linear[0], d) + np.outer(d, d) * sums[0]
    return Added(
        weights_mean=weights,
        weights_square=squares,
        weight=weight,
        mean=d if centre is None else to_numpy(centre) + d,
        covariance=R.T @ R + S,
        R=R,
        spread=float(max(far) + np.abs(d).max()),
    )


def _centre(V: Float[Array, "n v"], like: Array) -> Float[Array, "v"] | None:
    """A point near the values, from some of them; None if they lie around zero anyway."""
    xp = compat.array_namespace(like)
    some = xp.astype(V[:: max(1, int(V.shape[0]) // _SOME), :], like.dtype, copy=False)
    centre = xp.mean(some, axis=0)
    return None if bool(xp.all(xp.abs(centre) <= xp.std(some, axis=0))) else centre


def _errors(
    cells: Cells, one: Sums, A: Float[np.ndarray, "g"], weights: float
) -> tuple[float, float]:
    """Ends, rule and the two identities, as in `exact.errors`."""
    density, charge, (_, r, w) = one.density, np.abs(one.charge), one.table
    ends = -np.expm1(one.total[0]) + np.exp(one.total[-1]) * (1.0 + one.r_sum[-1])
    identity = abs(float(density @ one.r_sum) - 1.0) + abs(weights - 1.0)
    pairs = float(charge @ np.abs((density * one.r_sum) @ r + density @ (w - r * r) - A))
    known = FLOOR + ends + identity + cells.lost
    alias = [one.nodes.alias(k) for k in (1, 2)]
    if not one.nodes.uniform:
        # As in `exact.errors`: every second node, on the total weight.
        half = 2 * (density * one.r_sum)[::2].sum()
        alias = [max(a, 3 * abs(half - density @ one.r_sum) ** 2) for a in alias]
    return float(known + alias[0]), float(known + pairs + alias[1])
