"""Many keys at the price of few: exact moments of one head at a small multiple of a forward pass.

psi, r and w depend on a key only through (m, s), so they are tabulated on a small grid (`tables`).
What is done with all n keys is one of three things: sums over keys become charges on the grid,
functions on the grid come to the keys (both in `transfer`), and values are added up with weights
(`value_sums`).

    Psi(u) = psi(u) @ charge                              the integrand, from all keys
    A_i = E[alpha_i],  B_i = E[alpha_i^2],  g_j(i)        functions of (m, s), known on the grid
    Cov[c] = sum_j R_j R_j' + V' diag(D) V,
    R_j = sum_i g_j(i) v_i,   D_i = B_i - sum_j g_j(i)^2

where g_j(i) = int r_i phi_j e^Psi du and phi_1, phi_2, .. are few functions of u, orthonormal under
e^Psi du, that span nearly all r_i: leaving out a part e_i of each r_i costs at most (sum_i |e_i|)^2
for values of size one. Values are counted from their mean. (Rejected: a column of the table for
each key, a hundred numbers instead of a handful.)
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright.arrays import like
from headwright.inputs import finite
from headwright.noise import budget
from headwright.noise.head.integral import HeadMoments, head_moments
from headwright.noise.many.blocks import on_host, one_blas_thread
from headwright.noise.many.cells import Cells, make_cells
from headwright.noise.many.cost import grid_pays, surely_by_itself
from headwright.noise.many.integrand import Integrand, OnGrid, directions, errors, make_integrand
from headwright.noise.many.polynomials import Terms, choose, coefficients
from headwright.noise.many.transfer import Finish, Transfer
from headwright.noise.many.value_sums import KeyTables, ValueSums, add_values
from headwright.result import to_numpy
from headwright.types import Array, Float, HostMean, PerKey, Values

_SINGLE = 1e-6  # relative error of single-precision sums of products
# Values of this size or its inverse: their squares leave the range of single precision.
_SMALL = 1e-8
_TINY = 1e-300


def many_moments(m: PerKey, s: PerKey, V: Values) -> HeadMoments:
    """Moments of one head by the cheaper of two exact routes: a grid that carries the keys, or
    every key by itself. Arrays of any library; refuses values that are not finite."""
    # Tables are small: more BLAS threads would mostly wait, and busily. Another library's sums on
    # the host need them.
    own_threads = on_host(m) and not compat.is_numpy_array(m)
    with nullcontext() if own_threads else one_blas_thread():
        if compat.is_numpy_array(m) and surely_by_itself(m, s):
            return head_moments(m, s, to_numpy(finite("V", V)).astype(float, copy=False))
        cells = make_cells(m, s)
        if not grid_pays(cells):
            return _by_themselves(m, s, finite("V", V), cells)
        with np.errstate(invalid="ignore"):
            found = _by_grid(V, cells)
    if not np.isfinite(found.farthest):  # every value went into it
        finite("V", V)
    return found


def _by_themselves(m: PerKey, s: PerKey, V: Values, cells: Cells) -> HeadMoments:
    """Every key by itself, but for those that are out of reach and have no weight."""
    xp = compat.array_namespace(m)
    keys = cells.keys
    values = to_numpy(V[keys, :]).astype(float, copy=False)
    means = to_numpy(xp.take(m, keys))
    deviations = to_numpy(xp.take(s, keys))
    few = head_moments(means, deviations, values)

    reached = to_numpy(keys)
    weights, squares = np.zeros((2, m.shape[0]))
    weights[reached] = few.weights_mean
    squares[reached] = few.weights_square
    return HeadMoments(
        weights_mean=like(weights, m),
        weights_square=like(squares, m),
        mean=like(few.mean, m),
        covariance=like(few.covariance, m),
        # What is lost is lost of all values, not only of those in reach.
        first=few.first + cells.lost,
        second=few.second + cells.lost,
        farthest=_farthest(V, few.mean),
    )


def _farthest(V: Values, mean: HostMean) -> float:
    """The largest |v_i - mean|, column by column: no temporary of the size of V."""
    xp = compat.array_namespace(V)
    columns = zip(V.T, mean.tolist(), strict=True)
    return max(float(xp.max(xp.abs(column - centre))) for column, centre in columns)


@dataclass(frozen=True)
class _OnGrid:
    """What the keys want to know, as functions on the grid: A, B, and h_j = g_j / A - common_j.
    `beyond` is what the directions left out would add to the covariance."""

    A: OnGrid
    B: OnGrid
    h: Float[np.ndarray, "j g"]
    common: Float[np.ndarray, "j"]
    beyond: float

    @property
    def functions(self) -> Float[np.ndarray, "f g"]:
        """ln A, ln (B / A^2) and h_j: what is interpolated."""
        log = np.log(self.A)
        log_ratio = np.log(self.B / self.A) - log
        return np.concatenate([[log, log_ratio], self.h])

    def costs(self, cells: Cells) -> Float[np.ndarray, "f c"]:
        """What an error of each of them costs, in shares of the budget, on each cell."""
        second = self.A / budget.POLYNOMIALS_COVARIANCE
        of_B = self.B / budget.POLYNOMIALS_COVARIANCE
        first = self.A / budget.POLYNOMIALS_MEAN
        each = [first, of_B, *[second] * len(self.h)]
        return cells.count * cells.middle(np.stack(each))


def _on_grid(one: Integrand) -> _OnGrid:
    """From integrals over u, column by column."""
    _, r, w = one.table
    A = np.maximum(one.density @ r, _TINY)
    B = np.maximum(one.density @ w, _TINY)
    g, beyond = directions(one)
    common = g @ one.charge / (A @ one.charge)
    h = g / A - common[:, None]
    return _OnGrid(A, B, h, common, beyond)


def _by_grid(V: Values, cells: Cells) -> HeadMoments:
    """A grid carries the keys."""
    transfer = Transfer(cells)
    one = make_integrand(cells, transfer)
    known = _on_grid(one)
    polynomial = coefficients(cells, known.functions)
    squares = float(known.B @ one.charge)
    rounded = squares / budget.POLYNOMIALS_COVARIANCE
    terms = choose(cells, polynomial, known.costs(cells), rounded=rounded)

    def added(single: bool) -> ValueSums:
        """One pass over all keys and values."""
        columns = 2 + len(known.h)
        A, others = transfer.evaluate(
            polynomial, terms, _to_keys(known.common), columns=columns, single=single
        )
        return add_values(V, KeyTables(A, others, transfer.row))

    single = _SINGLE * squares <= budget.SINGLE_SUMS
    with np.errstate(over="ignore"):
        values = added(single)
    if single and not _SMALL <= values.farthest <= 1 / _SMALL:
        single = False
        values = added(False)

    rounding = _single_sums(one, known, values, squares) if single else 0.0
    first, second = errors(cells, one, known.A, values.weight)
    return HeadMoments(
        weights_mean=values.weights_mean,
        weights_square=values.weights_square,
        mean=like(values.mean, cells.m),
        covariance=like(values.covariance, cells.m),
        first=first + one.missed + terms.cost * budget.POLYNOMIALS_MEAN,
        second=second + one.missed + _second(terms) + known.beyond + rounding,
        farthest=values.farthest,
    )


def _second(terms: Terms) -> float:
    """What short polynomials cost second moments."""
    return terms.cost * budget.POLYNOMIALS_COVARIANCE


def _single_sums(one: Integrand, known: _OnGrid, values: ValueSums, squares: float) -> float:
    """What sums of D v v' and of R_j in single precision cost: the latter 2 |R_j| sum_i |A_i
    h_j(i)|."""
    each = np.abs(known.A * known.h)
    sizes = each @ np.abs(one.charge)
    largest = np.abs(values.R).max(axis=1)
    common = _SINGLE * float(2 * largest @ sizes)
    return _SINGLE * squares + common / max(values.farthest, _TINY)


def _to_keys(common: Float[np.ndarray, "j"]) -> Finish:
    """From ln A, and ln (B / A^2) and h_j = g_j / A - common_j, to A, and (D, A h_1, .., B / A^2)
    with D = B - sum_j g_j^2.

    As sum_i A_i (v_i - mean) = 0, A h_j adds the values up to the same R_j as g_j, and without
    cancellation."""

    def finish(
        first: Float[Array, "l w"], others: Float[Array, "l f w"]
    ) -> tuple[Float[Array, "l w"], Float[Array, "l w k"]]:
        xp = compat.array_namespace(first)
        A = xp.exp(first)
        ratio = xp.exp(others[:, 0, :])
        h = others[:, 1:, :]
        a = xp.astype(A, others.dtype, copy=False)
        g = h + like(common[:, None], h)
        left = ratio - xp.sum(g * g, axis=1)
        positive = xp.where(left > 0.0, left, 0.0)
        D = positive * a * a
        h = h * a[:, None, :]
        each_h = [h[:, j, :] for j in range(h.shape[1])]
        columns = [D, *each_h, ratio]
        return A, xp.stack(columns, axis=-1)

    return finish
