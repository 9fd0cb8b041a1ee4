"""Arithmetic of numbers, column vectors and matrices, as answers use it."""

from __future__ import annotations

import functools
import math

import numpy as np

Value = float | np.ndarray

# A matrix with a larger condition number counts as singular.
WORST_CONDITION = 1e12


class Unknown(Exception):
    """The expression cannot be evaluated here; `str(error)` says which part."""


class Mismatch(Exception):
    """The expression is evaluable but its shapes contradict each other: a mistake, not a gap in
    reading."""


def add(left: Value, right: Value) -> Value:
    if np.shape(left) != np.shape(right) and not (_is_zero(left) or _is_zero(right)):
        raise Mismatch(f"{describe(left)} is added to {describe(right)}")
    return left + right


def _is_zero(value: Value) -> bool:
    """`v_j + 0`: the rest of a sum that vanishes, whatever its shape."""
    return not isinstance(value, np.ndarray) and value == 0


def total(values: list[Value]) -> Value:
    """The sum of the terms of one series; 0 without terms."""
    if not values:
        return 0.0
    if any(np.shape(v) != np.shape(values[0]) for v in values):
        raise Mismatch("a sum of terms of different shape")
    return functools.reduce(lambda x, y: x + y, values)


def multiply(left: Value, right: Value) -> Value:
    """Matrix product where shapes allow; two columns side by side (`k_j q`, `k_j . q`) are their
    inner product."""
    if not isinstance(left, np.ndarray) or not isinstance(right, np.ndarray):
        return left * right

    if left.shape[1] == right.shape[0]:
        product = left @ right
    elif left.shape == right.shape and left.shape[1] == 1:
        product = left.T @ right
    elif left.shape == right.shape and left.shape[0] == 1:
        product = left @ right.T
    else:
        raise Mismatch(f"{describe(left)} is multiplied by {describe(right)}")
    return float(product[0, 0]) if product.shape == (1, 1) else product


def inner_product(left: Value, right: Value) -> Value:
    """`<x, y>` of two vectors or of two numbers; one of each is a formula that was misread, most
    likely."""
    if isinstance(left, np.ndarray) != isinstance(right, np.ndarray):
        raise Unknown(f"the inner product of {describe(left)} and {describe(right)}")
    return multiply(left.T if isinstance(left, np.ndarray) else left, right)


def outer_product(left: Value, right: Value) -> Value:
    """`x y'` of two columns; a product of anything else."""
    columns = [np.ndim(value) == 2 and np.shape(value)[1] == 1 for value in (left, right)]
    if isinstance(right, np.ndarray) and all(columns):
        return multiply(left, right.T)
    return multiply(left, right)


def divide(above: Value, below: Value) -> Value:
    if isinstance(below, np.ndarray):
        raise Mismatch(f"division by {describe(below)}")
    quotient = np.divide(above, below)
    return quotient if isinstance(above, np.ndarray) else float(quotient)


def power(base: Value, exponent: Value) -> Value:
    if isinstance(exponent, np.ndarray):
        raise Mismatch(f"an exponent that is {describe(exponent)}")
    if isinstance(base, np.ndarray):
        return _matrix_power(base, exponent)
    whole = math.isfinite(exponent) and exponent == round(exponent)
    return float(np.power(base, exponent)) if base >= 0 or whole else math.nan


def _matrix_power(base: np.ndarray, exponent: float) -> Value:
    if base.shape[1] == 1 and exponent == 2:  # k^2 is read as k'k
        return float((base.T @ base)[0, 0])
    if base.shape[0] != base.shape[1]:
        raise Mismatch(f"{describe(base)} raised to {exponent:g}")
    if exponent == -1:
        if np.linalg.cond(base) > WORST_CONDITION:
            raise Mismatch(f"{describe(base)} that has no inverse is inverted")
        return np.linalg.inv(base)
    if exponent in (0, 1, 2, 3):
        return np.linalg.matrix_power(base, int(exponent))
    raise Unknown("the value of that power of a matrix")


def pseudo_inverse(value: Value) -> Value:
    if not isinstance(value, np.ndarray) and value:
        return 1.0 / value
    return np.linalg.pinv(np.atleast_2d(value))


def blocks(rows: list[list[Value]]) -> np.ndarray:
    """One matrix of blocks in rows."""
    shaped = [[np.atleast_2d(block) for block in row] for row in rows]
    try:
        return np.block(shaped)
    except ValueError:
        sizes = [block.shape for row in shaped for block in row]
        if (1, 1) in sizes:  # `[A, 0]`: zeros, as many as fit
            raise Unknown("the size of a block that is written as a number") from None
        raise Mismatch("blocks that do not fit stand in one matrix") from None


def softmax(z: Value) -> Value:
    """Row by row for a matrix, over all entries for one column."""
    z = np.atleast_2d(np.asarray(z, dtype=float))
    axis = 0 if z.shape[1] == 1 else 1
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def trace(matrix: Value) -> Value:
    if not isinstance(matrix, np.ndarray) or matrix.shape[0] != matrix.shape[1]:
        raise Mismatch(f"the trace of {describe(matrix)}")
    return float(np.trace(matrix))


def describe(value: Value) -> str:
    """`a number`, `a vector of 9`, `a 4 x 9 matrix`."""
    if not isinstance(value, np.ndarray) or np.ndim(value) == 0:
        return "a number"
    rows, columns = value.shape
    if columns == 1:
        return f"a vector of {rows}"
    return f"a row of {columns}" if rows == 1 else f"a {rows} x {columns} matrix"


def agree(left: Value, right: Value, tolerance: float) -> bool:
    """Equal up to `tolerance`, relative to the larger of the two sizes and 1. Different shapes
    never agree (but the number 0 agrees with a zero vector)."""
    if np.shape(left) != np.shape(right):
        number = right if isinstance(left, np.ndarray) else left
        if isinstance(number, np.ndarray) or number != 0.0:
            return False
    if np.any(np.isinf(left)) or np.any(np.isinf(right)):
        return bool(np.all(np.equal(left, right)))

    size = max(1.0, float(np.max(np.abs(left))), float(np.max(np.abs(right))))
    difference = np.max(np.abs(np.subtract(left, right)))
    return bool(difference <= tolerance * size)
