"""Arithmetic of numbers, column vectors and matrices, as answers use it."""

from __future__ import annotations

import numpy as np

Value = float | np.ndarray


class Unknown(Exception):
    """The expression cannot be evaluated here; `str(error)` says which part."""


class Mismatch(Exception):
    """The expression is evaluable but its shapes contradict each other: a mistake, not a gap in
    reading."""


def softmax(z: Value) -> Value:
    """Row by row for a matrix, over all entries for one column."""
    z = np.atleast_2d(np.asarray(z, dtype=float))
    axis = 0 if z.shape[1] == 1 else 1
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


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
        zero = right if isinstance(left, np.ndarray) else left
        if isinstance(zero, np.ndarray) or zero != 0.0:
            return False
    if np.any(np.isinf(left)) or np.any(np.isinf(right)):
        return bool(np.all(np.equal(left, right)))
    size = max(1.0, float(np.max(np.abs(left))), float(np.max(np.abs(right))))
    return bool(np.max(np.abs(np.subtract(left, right))) <= tolerance * size)
