"""The inner loops of `compiled`, in the subset of Python that numba turns into machine code: no
annotations, every constant in single precision.

The loops are written so that LLVM turns each into vector instructions: every sum is a plain
reduction, the exponential is arithmetic on the bits of a float, and minima and maxima are taken of
integers that are ordered as the floats are. Rejected: a flag that lets the compiler forget NaN (a
NaN would become a number), and a library linked with fast-math (it flushes subnormal numbers to
zero in the whole process).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from headwright.trained.rows.largest import HIDDEN

_F = np.float32
_I = np.int32
_LEAST = _I(-(2**31))
_MOST = _I(2**31 - 1)
# Logits whose largest is looked up together; its place is then searched for among so many.
_CHUNK = 64
# Below this e^x is no normal number of single precision, and its weight is 0.
_LOW = _F(-87.0)
# e^x = 2^k e^r with k = round(x / ln 2) and r = x - k ln 2; ln 2 in two parts, so that k ln 2 is
# exact.
_PER_LN2 = _F(1.4426950408889634)
_LN2 = _F(0.693359375)
_LN2_REST = _F(-2.12194440e-4)
# Added to a small number it leaves the nearest integer in the low bits of the sum.
_ROUND = _F(1.5 * 2**23)
# (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, relative error of e^r 1e-7: minimax coefficients, highest
# power first.
_C5 = _F(1.9875691500e-4)
_C4 = _F(1.3981999507e-3)
_C3 = _F(8.3334519073e-3)
_C2 = _F(4.1665795894e-2)
_C1 = _F(1.6666665459e-1)
_C0 = _F(5.0000001201e-1)
# The distance of a hidden key, or more, is no distance.
_UNSEEN = _F(HIDDEN / 4)


def _compiled(*flags: str) -> Callable[[Callable[..., Any]], Any]:
    """Compiled at the first call; kept on disk where there is a place to write to."""

    def decorate(function: Callable[..., Any]) -> Any:
        options = {"nogil": True, "error_model": "numpy", "fastmath": set(flags)}
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # neither the package's folder nor the user's can be written
            return numba.njit(**options)(function)

    return decorate


def _cast(source: Any, target: Any, width: Any) -> Any:
    """The same 32 bits, read as another type."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], width)

    def typed(_: Any, x: Any) -> Any:
        return target(source), emit

    return intrinsic(typed)


_bits = _cast(numba.types.float32, numba.types.int32, ir.IntType(32))
_float = _cast(numba.types.int32, numba.types.float32, ir.FloatType())


@_compiled()
def _flipped(b):
    """Bits of floats to integers in the floats' order, and back."""
    return _I(b ^ _I(_I(b >> _I(31)) & _MOST))


@_compiled("contract")
def _exp(x):
    """e^x for x <= 0, zero below `_LOW`."""
    t = x * _PER_LN2 + _ROUND
    k = t - _ROUND
    r = x - k * _LN2 - k * _LN2_REST
    p = (((((_C5 * r + _C4) * r + _C3) * r + _C2) * r + _C1) * r + _C0) * r * r + r + _F(1)
    # 2^k p: k goes to the bits of the exponent.
    exponent = _I(_bits(t) << _I(23))
    return _float(_I(_bits(p) + exponent)) if x >= _LOW else _F(0)


@_compiled()
def _largest(row):
    """The largest logit and its place. Whole chunks have a length that the compiler knows: vector
    instructions without a remainder, at a sixth of the price."""
    most = _LEAST
    chunk = 0
    whole = row.size - row.size % _CHUNK
    for start in range(0, whole, _CHUNK):
        m = _LEAST
        for j in range(_CHUNK):
            b = _flipped(_bits(row[start + j]))
            m = b if b > m else m
        if m > most:
            most = m
            chunk = start

    m = _LEAST
    for j in range(whole, row.size):
        b = _flipped(_bits(row[j]))
        m = b if b > m else m
    if m > most:
        most = m
        chunk = whole

    best = _float(_flipped(most))
    for j in range(chunk, row.size):
        if row[j] == best:
            return best, j
    return best, 0


@_compiled("reassoc", "contract", "nsz")
def _weigh(row, best, separators):
    """The row becomes e = exp(z - best). Sums over it, the number of keys at `best`, and the bits
    of the smallest distance to a key below it: among negative floats the least integer is the one
    nearest to 0."""
    others = _F(0)
    below = _F(0)
    shifted = _F(0)
    apart = _F(0)
    nearest = _MOST
    for j in range(row.size):
        d = row[j] - best
        e = _exp(d)
        row[j] = e
        lower = _F(d < _F(0))
        others += e * lower
        below += lower
        shifted += e * d
        apart += e * _F(separators[j])
        b = _bits(d)
        nearest = b if b < nearest else nearest
    return others, _F(row.size) - below, shifted, apart, nearest


@_compiled("reassoc")
def _sum_at(row, places):
    total = _F(0)
    for j in range(places.size):
        total += row[places[j]]
    return total


@_compiled()
def _margin(ties, nearest):
    """From the smallest distance to a key below the best; inf where no other key is seen."""
    if ties != _F(1):
        return _F(0)
    if nearest < _I(0) and _float(nearest) > _UNSEEN:
        return -_float(nearest)
    return _F(np.inf)


@_compiled()
def read_rows(z, numbers, patterns, seen, first, separators, bounds, columns):
    """Row by row the numbers of `operations.NAMES` and the patterns' shares; the logits z become
    e = exp(z - best)."""
    for h in range(z.shape[0]):
        for i in range(z.shape[1]):
            row = z[h, i, : seen[i]]
            best, top = _largest(row)
            others, ties, shifted, apart, nearest = _weigh(row, best, separators)
            z[h, i, seen[i] :] = _F(0)

            leak = others + (ties - _F(1))
            margin = _margin(ties, nearest)
            found = (margin, leak, shifted, z[h, i, first], apart, _F(top))  # as in NAMES
            for s in range(len(found)):
                numbers[h, s, i] = found[s]

            for p in range(bounds.shape[0]):
                mass = _sum_at(row, columns[bounds[p, i] : bounds[p, i + 1]])
                patterns[h, p] += mass / (_F(1) + leak)
