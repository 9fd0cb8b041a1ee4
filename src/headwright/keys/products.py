"""Products of rows with queries in double precision, and how far rounding may have moved them.

With unit roundoff u and gamma_d = d u / (1 - d u) a plain product is off, in any order of
summation, by at most

    |fl(k . q) - k . q| <= gamma_d ||k|| ||q|| .

Where that is too much, because what all keys have in common cancels in every difference of logits
but not in this bound, the compensated product of Ogita, Rump and Oishi keeps what each rounding
cuts off in a second number:

    |high + low - k . q| <= 4 (d + 6)^2 u^2 sum_j |k_j q_j| ,

as if computed with twice the digits. (Rejected: subtracting a mean key first. It helps against one
common channel, not against large parts of the keys that are merely orthogonal to the query.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.blocks import blocks, in_threads
from headwright.result import to_numpy
from headwright.types import Array, Float, Heads

UNIT = float(np.finfo(float).eps) / 2
_SPLITTER = 2.0**27 + 1.0  # Dekker: cuts 53 bits into 26 and 26 (and a sign)
# Well above what products of numbers of size one lose below the range of doubles
_SMALLEST = 2.0**-1000
_GRAIN = 2.0**-1070  # what is lost where a result is below the range of normal doubles
_ROWS = 1 << 12  # rows converted at a time
_LONG = 32  # entries of a row from which a product row by row is as fast as memory
_PART = 1 << 16  # rows that a thread takes at a time: some milliseconds
_ENTRIES = 1 << 16  # numbers in work at once in a compensated product: they stay in cache


def gamma(d: int) -> float:
    """gamma_d = d u / (1 - d u)"""
    return d * UNIT / (1 - d * UNIT)


def lengths(rows: Float[Array, "m d"]) -> Float[Array, "m"]:
    """Upper bounds of ||row||, in one pass and without a temporary; not finite where an entry is
    not."""
    xp = compat.array_namespace(rows)
    rows = rows.detach() if hasattr(rows, "detach") else rows
    d = int(rows.shape[1])
    info = xp.finfo(rows.dtype)
    eps = float(info.eps)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = xp.vecdot(rows, rows) + d * float(info.smallest_normal)
        found = xp.sqrt(squares) * (1 + 2 * d * eps)
        if not bool(xp.all(xp.isfinite(found))):  # squares overflow before the entries do
            largest = xp.max(xp.abs(rows), axis=1)
            found = largest * (d**0.5 * (1 + 2 * eps))
    return found


def product(Q: Heads, rows: Float[Array, "m d"]) -> Float[Array, "h m"]:
    """`Q @ rows.T` in the precision of Q; rows of another precision are converted in blocks."""
    xp = compat.array_namespace(Q)
    if rows.dtype == Q.dtype:
        heads, d = Q.shape
        # One query is read from memory along with long rows: NumPy's product takes twice the time.
        if compat.is_numpy_array(rows) and heads == 1 and d >= _LONG:
            parts = blocks(len(rows), _PART, rows)
            found = np.empty((1, len(rows)), dtype=Q.dtype)
            in_threads(lambda part: xp.vecdot(rows[part], Q, out=found[0, part]), parts, rows)
            return found
        return Q @ rows.T
    some = (rows[i : i + _ROWS, :] for i in range(0, int(rows.shape[0]), _ROWS))
    return xp.concat([Q @ xp.astype(block, Q.dtype).T for block in some], axis=1)


@dataclass(frozen=True)
class Accurate:
    """`high + low` is `scale * (row . q)` up to `error`, and `plain` is `row . q` rounded once, up
    to `plain_error`. Host arrays."""

    high: Float[np.ndarray, "h m"]
    low: Float[np.ndarray, "h m"]
    error: Float[np.ndarray, "h m"]
    plain: Float[np.ndarray, "h m"]
    plain_error: Float[np.ndarray, "h m"]


def accurate_product(Q: Any, rows: Any, scale: float) -> Accurate:
    """Every row with every query, to twice the digits of a double."""
    Q = to_numpy(Q).astype(float)
    rows = to_numpy(rows)
    m, d = rows.shape
    # Powers of two bring everything to size one: neither a product nor a splitting can overflow
    # then.
    row_power = int(np.frexp(np.abs(rows).max())[1])
    largest = np.abs(Q).max(axis=1, keepdims=True)
    query_power = np.frexp(largest)[1]
    factor, scale_power = np.frexp(scale)
    queries = np.ldexp(Q, -query_power)
    found = np.empty((4, len(Q), m))
    step = max(1, _ENTRIES // d)
    for start in range(0, m, step):
        part = slice(start, start + step)
        some = rows[part].T.astype(float)
        columns = np.ldexp(some, -row_power)
        for h, q in enumerate(queries):
            found[:, h, part] = _compensated(columns, q, float(factor))
    high, low, plain, size = found
    error = 4.0 * (d + 6) ** 2 * UNIT**2 * size + d * _SMALLEST
    plain_error = error + UNIT * np.abs(plain)
    power = row_power + query_power
    scaled = power + int(scale_power)
    with np.errstate(over="ignore"):
        return Accurate(
            high=np.ldexp(high, scaled),
            low=np.ldexp(low, scaled),
            error=np.ldexp(error, scaled) + _GRAIN,
            plain=np.ldexp(plain, power),
            plain_error=np.ldexp(plain_error, power) + _GRAIN,
        )


def _compensated(
    columns: Float[np.ndarray, "d b"], q: Float[np.ndarray, "d"], factor: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """`factor * (k . q)` in two numbers, `k . q` in one, and sum_j |k_j q_j|."""
    products, cut = two_product(columns, q[:, None])
    high = np.zeros(columns.shape[1])
    low = cut.sum(axis=0)
    for term in products:
        high, lost = two_sum(high, term)
        low += lost
    scaled, cut_again = two_product(high, np.float64(factor))
    rest = cut_again + factor * low
    size = np.abs(products).sum(axis=0)
    return scaled, rest, high + low, size


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Knuth: the rounded sum and, exactly, what rounding cut off."""
    total = a + b
    back = total - a
    cut = (a - (total - back)) + (b - back)
    return total, cut


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """Dekker: the rounded product and, exactly, what rounding cut off."""
    rounded = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    cut = (a_high * b_high - rounded) + a_high * b_low + a_low * b_high
    return rounded, cut + a_low * b_low


def _split(a: Any) -> tuple[Any, Any]:
    """Two numbers of half the digits each, whose sum is a."""
    stretched = _SPLITTER * a
    high = stretched - (stretched - a)
    return high, a - high
