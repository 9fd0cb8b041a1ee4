"""What the array API standard leaves out, for arrays of any library."""

from __future__ import annotations

from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.types import Array


def put(array: Array, place: Any, values: Any) -> Array:
    """`array[place] = values` in the precision of `array`, in place where the library can write."""
    xp = compat.array_namespace(array)
    if compat.is_jax_array(array):
        return array.at[place].set(xp.asarray(values, dtype=array.dtype))
    # NumPy rounds on the way; PyTorch refuses other precisions where places are listed.
    if compat.is_torch_array(values):
        values = xp.astype(values, array.dtype, copy=False)
    array[place] = values
    return array


def picked(array: Array, places: Array, axis: int = 0) -> Array:
    """`take` of places that are not negative. PyTorch would look for negative ones, in three passes
    over the places."""
    if compat.is_torch_array(array):
        return array.index_select(axis, places)
    return compat.array_namespace(array).take(array, places, axis=axis)


def beside(host: np.ndarray, array: Array) -> Array:
    """A host array with the library and on the device of `array`."""
    xp = compat.array_namespace(array)
    host = np.require(host, requirements="W")
    if compat.is_torch_array(array):
        # `asarray` with a device would wait until all that was asked of the device before is done.
        return xp.asarray(host).to(compat.device(array), non_blocking=True)
    return xp.asarray(host, device=compat.device(array))


def like(host: np.ndarray, array: Array) -> Array:
    """The same in the dtype of `array`."""
    xp = compat.array_namespace(array)
    return xp.astype(beside(host, array), array.dtype, copy=False)


def dot(a: Array, b: Array) -> Array:
    """`a @ b` while other threads run: NumPy's matmul holds the interpreter when its result is
    small."""
    return np.dot(a, b) if compat.is_numpy_array(a) else a @ b


def single_is_single(array: Array) -> bool:
    """Are factors of a product in single precision read with all their digits, by the library and
    on the device of `array`? Accelerators may take fewer (TF32, bfloat16), if they were told to or
    because their library likes it."""
    if compat.is_numpy_array(array):
        return True
    xp = compat.array_namespace(array)
    kind = {"dtype": xp.float32, "device": compat.device(array)}
    number = 1.0 + 2.0**-23
    factors = xp.full((8, 16, 16), number, **kind) * xp.eye(16, **kind)
    return bool(xp.all(factors @ xp.ones((8, 16, 64), **kind) == number))
