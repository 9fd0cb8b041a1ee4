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

from headwright.arrays import beside, like, picked, single_is_single
from headwright.blocks import on_host, one_blas_thread
from headwright.inputs import finite
from headwright.noise import budget
from headwright.noise.head.integral import HeadMoments, head_moments
from headwright.noise.many.cells import Cells, make_cells
from headwright.noise.many.columns import Columns, Rows, Weights, to_faint_keys, to_keys
from headwright.noise.many.cost import grid_pays, surely_by_itself
from headwright.noise.many.groups import FAINT_COST, Group, by_weight, picture
from headwright.noise.many.integrand import (
    Integrand,
    directions,
    errors,
    make_integrand,
    unmatched,
)
from headwright.noise.many.polynomials import Functions, Terms, choose
from headwright.noise.many.table.device import DeviceTable
from headwright.noise.many.table.host import R, W, tables
from headwright.noise.many.transfer import Transfer
from headwright.noise.many.value_sums import SINGLE, Around, ValueSums, add_values, look
from headwright.result import to_numpy
from headwright.types import Array, Float, HostMean, OnGrid, PerKey, Values

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
    keys = cells.keys
    values = to_numpy(V[keys, :]).astype(float, copy=False)
    means = to_numpy(picked(m, keys))
    deviations = to_numpy(picked(s, keys))
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
    `beyond` is what the directions left out would add to the covariance, `pairs` what the identity
    of all pairs of keys misses."""

    A: OnGrid
    B: OnGrid
    h: Float[Array, "j g"]
    common: Float[np.ndarray, "j"]
    beyond: float
    pairs: Float[Array, ""]

    def functions(self, *, faint: bool) -> Functions:
        """ln A, ln (B / A^2) and, but for faint keys, h_j: what is interpolated."""
        xp = compat.array_namespace(self.A)
        log = xp.log(self.A)
        log_ratio = xp.log(self.B / self.A) - log
        two = xp.stack([log, log_ratio])
        return two if faint else xp.concat([two, self.h])

    def costs(self, group: Group) -> Float[Array, "f c"]:
        """What an error of each of them costs, in shares of the budget, on each cell."""
        xp = compat.array_namespace(self.A)
        count = like(group.cells.count, self.A)
        middle = beside(group.cells.middle, self.A)
        A = count * picked(self.A, middle)
        of_B = count * picked(self.B, middle) / budget.POLYNOMIALS_COVARIANCE
        first = A / budget.POLYNOMIALS_MEAN
        if group.faint:
            return xp.stack([first, of_B])
        second = A / budget.POLYNOMIALS_COVARIANCE
        return xp.stack([first, of_B, *[second] * self.h.shape[0]])


def _on_grid(one: Integrand) -> _OnGrid:
    """From integrals over u, column by column."""
    xp = compat.array_namespace(one.charge)
    A = xp.clip(one.integral(R), min=_TINY)
    B = xp.clip(one.integral(W), min=_TINY)
    g, beyond = directions(one)
    common = (g @ one.counted) / (A @ one.counted)
    h = g / A - common[:, None]
    return _OnGrid(A, B, h, to_numpy(common), beyond, unmatched(one, A, B))


@dataclass(frozen=True)
class _Carried:
    """A group of keys, ready to be carried: the functions it wants, in which terms, and what its
    squares add up to."""

    group: Group
    charge: OnGrid
    transfer: Transfer
    functions: Functions
    terms: Terms
    squares: float

    @property
    def single(self) -> bool:
        """Are its values added up well enough in single precision?"""
        return SINGLE * self.squares <= budget.SINGLE_SUMS


def _by_grid(V: Values, cells: Cells) -> HeadMoments:
    """A grid carries the keys."""
    hosted = on_host(cells.m)
    # What an accelerator can do without the tables it does while the host makes them.
    around = look(V, cells.m)
    table = (
        tables(cells.grid, cells.nodes)
        if hosted
        else DeviceTable.of(cells.grid, cells.nodes, cells.m)
    )
    seen = picture(cells, table)
    # One group suits an accelerator, which would wait for the host three times as often.
    groups = by_weight(cells, seen) if hosted else [Group(cells, False)]
    transfers = [Transfer(group.cells) for group in groups]
    one = make_integrand(table, seen, groups, transfers)
    known = _on_grid(one)
    triples = zip(groups, one.charges, transfers, strict=True)
    carried = [_carried(known, *triple, share=1.0 / len(groups)) for triple in triples]

    # An accelerator adds up a million rows at once, too many for single precision, and what takes
    # its time is memory.
    may = hosted and single_is_single(cells.m)
    single = [may and part.single for part in carried]
    weights, values = _added(V, around, known, carried, single)
    if any(single) and not _SMALL <= values.farthest <= 1 / _SMALL:
        single = [False for _ in carried]
        weights, values = _added(V, around, known, carried, single)

    first, second = errors(cells, one, known.pairs, weights=values.weight)
    missed = one.missed + sum(part.terms.cost for part in carried) * budget.POLYNOMIALS_MEAN
    pairs = zip(carried, single, strict=True)
    of_groups = [_left_out(part, known, values, rounded) for part, rounded in pairs]
    return HeadMoments(
        weights_mean=weights.mean,
        weights_square=weights.square,
        mean=like(values.mean, cells.m),
        covariance=like(values.covariance, cells.m),
        first=first + missed,
        second=second + one.missed + known.beyond + sum(of_groups),
        farthest=values.farthest,
    )


def _carried(
    known: _OnGrid, group: Group, charge: OnGrid, transfer: Transfer, *, share: float
) -> _Carried:
    """The functions that a group wants, in as few terms as will do."""
    functions = known.functions(faint=group.faint)
    squares = float(known.B @ charge)
    rounded = squares / budget.POLYNOMIALS_COVARIANCE
    costs = known.costs(group)
    # Of faint keys anything would be good enough for the sums, but their weights are asked for too.
    wanted = budget.FAINT_WEIGHTS if group.faint else None
    read = picked(functions, beside(group.cells.read, functions), axis=1)
    terms = choose(group.cells, read, costs, rounded=rounded, allowed=share, wanted=wanted)
    return _Carried(group, charge, transfer, functions, terms, squares)


def _added(
    V: Values, around: Around, known: _OnGrid, carried: list[_Carried], single: list[bool]
) -> tuple[Weights | Rows, ValueSums]:
    """One pass over all keys, and one over their values."""
    m = carried[0].group.cells.m
    xp = compat.array_namespace(m)
    stored = 1 + known.h.shape[0]
    if not on_host(m):
        (part,) = carried
        rows = Rows(m, stored)
        part.transfer.evaluate(part.functions, part.terms, to_keys(known.common), into=rows)
        return rows, add_values(V, rows, around)

    weights = Weights(m)
    of_groups = []
    for part, rounded in zip(carried, single, strict=True):
        faint = part.group.faint
        dtype = xp.float32 if rounded else m.dtype
        columns = Columns(part.group.cells, weights, 0 if faint else stored, dtype)
        finish = to_faint_keys if faint else to_keys(known.common)
        part.transfer.evaluate(part.functions, part.terms, finish, into=columns)
        if not faint:
            of_groups.append(columns)
    return weights, add_values(V, of_groups, around)


def _left_out(part: _Carried, known: _OnGrid, values: ValueSums, single: bool) -> float:
    """What it costs the covariance that a group is taken by short polynomials, in single precision,
    or not at all.

    Sums of D v v' in single precision, and those of R_j: the latter 2 |R_j| sum_i |A_i h_j(i)|."""
    polynomials = part.terms.cost * budget.POLYNOMIALS_COVARIANCE
    if part.group.faint:
        return polynomials + FAINT_COST * abs(float(known.A @ part.charge))
    if not single:
        return polynomials
    xp = compat.array_namespace(known.A)
    sizes = to_numpy(xp.abs(known.A * known.h) @ xp.abs(part.charge))
    largest = np.abs(values.R).max(axis=1)
    common = float(2 * largest @ sizes) / max(values.farthest, _TINY)
    return polynomials + SINGLE * (part.squares + common)
