"""Can one query put a set S of keys above all others? Yes with a witness, no with a proof, or
undecided.

Floats first (`pursuit`), whose verdicts are proven by error bounds; what they leave open is decided
in rationals (`rational`). Keys that fill only part of their space are first reduced to it (`hull`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from headwright import inputs
from headwright.design.proofs.ceiling import ceiling
from headwright.design.proofs.proof import Combination
from headwright.design.separation import hull
from headwright.design.separation.exact_rows import floats, margin
from headwright.design.separation.placed import Placement, combination, rational_combination
from headwright.design.separation.pursuit import KeyTable, Pursuit, pursue
from headwright.design.separation.rational import Origin, nearest_point
from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.types import Keys, Query

# A coordinate of a key that was computed from others carries a few roundings.
_UNITS = 8
_ABOVE = 1 + 1e-12  # room for the rounding of a distance
_HUGE = 1e140  # squares of larger keys overflow


@dataclass(frozen=True)
class Selectable:
    """The verdict on one set. `query` has unit length and equal scores on S (up to rounding),
    larger than all others by at least `margin`; `proof` and `ceiling` (the most mass any query with
    equal scores on S can give it) are there when no query does. A query found in rational
    arithmetic stands in `rational`, as whole numbers in text; where float64 has too few digits for
    it, `margin` is not positive and `query` is only its rounding."""

    status: str  # "selectable" | "unselectable" | "undecided"
    query: Query | None
    margin: float
    proof: Combination | None
    ceiling: float
    message: str
    rational: tuple[str, ...] | None = None


def selectable(
    K: Any,
    S: Any,
    *,
    exact: bool = True,
    start: Any = None,
    tolerance: float | None = None,
    seed: int = 0,
) -> Selectable:
    """Decide whether some query gives the keys in S (one number, or several) equal scores, strictly
    above those of all other keys.

    `exact=False` stops where floats cannot tell. `start` is a query to begin with. A set closer to
    the hull of the others than `tolerance` times the largest key involved counts as inside
    (default: 8 units of the dtype's rounding, so that a rounded midpoint is a midpoint); 0 judges
    the numbers as stored. `seed` draws working sets.

    >>> K = [[1, 0], [0, 1], [-1, -1], [0.1, 0.1]]
    >>> hw.design.selectable(K, [0, 1]).status, hw.design.selectable(K, 3).status
    ('selectable', 'unselectable')
    """
    K, resolution = keys_and_resolution(K, tolerance)
    _, (start,) = inputs.arrays(start=start)
    members = set_of_keys(S, len(K))
    if len(members) == len(K):
        return everything(K.shape[1])

    if start is None:
        query = K[members[0]] - K.mean(axis=0)
    else:
        query = np.asarray(inputs.shape("start", start, K.shape[1]), dtype=float)
    rounding = resolution * np.linalg.norm(K, axis=1)
    table = KeyTable.of(K, rounding=rounding, seed=seed)
    pursuit = next(pursue([Pursuit(table, members, query)]))
    if pursuit.status == "undecided" and exact:
        columns = hull.used_columns(K, resolution=resolution)
        if 0 < len(columns) < K.shape[1]:
            seen = np.ascontiguousarray(K[:, columns])
            table = KeyTable.of(seen, rounding=rounding, seed=seed)
            start = seen[members[0]] - seen.mean(axis=0)
            found = verdict(next(pursue([Pursuit(table, members, start)])))
            return restored(found, K, Placement(columns, np.arange(len(K))))
    return verdict(pursuit, exact=exact)


def restored(result: Selectable, K: Keys, placement: Placement) -> Selectable:
    """A verdict on the coordinates in use, as one on the keys."""
    d = K.shape[1]
    query = None if result.query is None else placement.lift(result.query, d)
    digits = None if result.rational is None else placement.lift_digits(result.rational, d)
    proof = result.proof
    if proof is not None:
        proof = placement.restore(proof, K, proof.inside)
    return replace(result, query=query, proof=proof, rational=digits)


def everything(d: int) -> Selectable:
    """The verdict on the set of all keys: nothing is left to beat."""
    return _wins(np.zeros(d), np.inf, "S is all keys: the zero query will do")


def keys_and_resolution(K: Any, tolerance: float | None) -> tuple[Keys, float]:
    """The keys in float64, and the relative size below which a distance is rounding and not
    geometry."""
    _, (K,) = inputs.arrays(K=to_numpy(K) if hasattr(K, "__dlpack__") else K)
    inputs.shape("K", K, "n", "d")
    largest = max(float(K.max()), -float(K.min()))
    if largest != 0 and not 1 / _HUGE <= largest <= _HUGE:
        raise InputError(
            wanted=f"keys of size {1 / _HUGE:g} to {_HUGE:g}",
            got=f"{largest:.3g}",
            attempt="rescale them",
        )
    if tolerance is None:
        tolerance = _UNITS * float(np.finfo(K.dtype).eps)
    resolution = inputs.number("tolerance", tolerance, low=0.0, high=1.0)
    return np.ascontiguousarray(K, dtype=float), resolution


def set_of_keys(S: Any, n: int) -> tuple[int, ...]:
    """Distinct key numbers, in the given order."""
    items = [S] if np.ndim(S) == 0 else list(S)
    members = tuple(inputs.index("a key of S", i, n) for i in items)
    if not members or len(set(members)) < len(members):
        raise InputError(
            wanted="a set of distinct keys",
            got=f"{list(items)}",
            attempt="name each key once, at least one",
        )
    return members


def verdict(pursuit: Pursuit, *, exact: bool = True) -> Selectable:
    """What a finished pursuit proves; an undecided one is settled in rationals unless `exact` is
    False."""
    if pursuit.status == "selectable":
        size = float(np.linalg.norm(pursuit.query))
        return _wins(pursuit.query / size, pursuit.margin / size, "by a query")
    if pursuit.status == "unselectable":
        return _loses(_combination(pursuit), "by a convex combination")
    if not exact:
        return _undecided("cannot be decided in float64; exact=True decides")
    return _in_rationals(pursuit)


def _wins(query: Query, lead: float, message: str) -> Selectable:
    return Selectable("selectable", query, lead, None, 1.0, message)


def _loses(proof: Combination, message: str) -> Selectable:
    return Selectable("unselectable", None, np.nan, proof, ceiling(proof), message)


def _undecided(message: str) -> Selectable:
    return Selectable("undecided", None, np.nan, None, 1.0, message)


def _combination(pursuit: Pursuit) -> Combination:
    """`sum w_i x_i = -sum f_a e_a` for the members; f by least squares, its existence is already
    proven."""
    K = pursuit.table.K
    S = pursuit.S
    f = np.zeros(len(S))
    if len(S) > 1:
        E = K[list(S[1:])] - pursuit.base
        point = pursuit.weights @ (K[pursuit.rows] - pursuit.base)
        f[1:] = np.linalg.lstsq(E.T, point, rcond=None)[0]
    f[0] = 1.0 - f[1:].sum()
    return combination(K, outside=(pursuit.rows.tolist(), pursuit.weights), inside=(S, f))


def _in_rationals(pursuit: Pursuit) -> Selectable:
    K = pursuit.table.K
    S = pursuit.S
    near = _near_copy(pursuit)
    if near is not None:
        return near
    rows, weights = pursuit.candidates()
    noise = pursuit.table.rounding[[*S, *rows]].max()
    found = nearest_point(K, S, candidates=rows, weights=weights, enough=noise)
    if found.inside is None:
        return _undecided("the exact method ran out of cycles")

    # sum w_i (k_i - k_0) + sum f_a (k_a - k_0) = 0, so the members carry -f_a and k_0 the rest
    inside = [-f for f in found.free]
    inside[0] = 1 - sum(inside[1:], Fraction(0))
    proof = rational_combination(K, outside=(found.rows, found.weights), inside=(S, inside))
    if found.inside:
        return _loses(proof, "by rational arithmetic")
    # At resolution 0 only the rationals count: the residual of floats may round to 0 where the
    # truth is not 0.
    if 0 < noise >= proof.residual:
        proof = replace(proof, exact=False, rational=None)
        rounding = f"below the rounding of the keys ({noise:.1g})"
        return _loses(proof, f"a convex combination up to {proof.residual:.1g}, {rounding}")
    return _separated(K, S, found)


def _near_copy(pursuit: Pursuit) -> Selectable | None:
    """A single key that is within rounding of another one lies inside."""
    table = pursuit.table
    member = pursuit.S[0]
    if table.rounding[member] == 0 or len(pursuit.S) > 1:
        return None
    distances = np.linalg.norm(table.K - pursuit.base, axis=1) * _ABOVE
    distances[member] = np.inf
    allowed = np.maximum(table.rounding, table.rounding[member])
    nearest = int((distances - allowed).argmin())
    if distances[nearest] > allowed[nearest]:
        return None
    one = np.ones(1)
    proof = combination(table.K, outside=((nearest,), one), inside=((member,), one))
    rounding = f"below the rounding of the keys ({allowed[nearest]:.1g})"
    return _loses(replace(proof, exact=False), f"a copy up to {proof.residual:.1g}, {rounding}")


def _separated(K: Keys, S: Sequence[int], found: Origin) -> Selectable:
    """The point nearest the origin is the witness, with the sign turned."""
    query = -floats(found.point)
    query /= np.linalg.norm(query)
    lead = margin(K, S, query)
    message = "by rational arithmetic"
    if lead <= 0:
        message += "; its query needs more digits than float64 has, and `query` is its rounding"
    digits = tuple(str(-v) for v in found.point)
    return replace(_wins(query, lead, message), rational=digits)
