"""Input validation, in one place: bring what the caller has to one array library, one device and one
float dtype, and refuse what cannot be meant (non-finite, ragged, empty, wrongly shaped).

The library in use is decided by the arrays themselves (array-api-compat); lists and numbers follow.
"""

from __future__ import annotations

import operator
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.errors import InputError
from headwright.types import Array


def arrays(*, unchecked: tuple[str, ...] = (), **named: Any) -> tuple[Any, tuple[Any, ...]]:
    """`xp, (q, K) = arrays(q=q, K=K)`: the common namespace and every input as a float array of it.

    `None` stays `None`. Floats keep the widest precision given; integers and lists become float64 (the
    library's default float where it has no float64). All entries are finite but those of arrays named in
    `unchecked`, whose user finds out by other means.
    """
    given = {name: x for name, x in named.items() if x is not None}
    library = [x for x in given.values() if _is_foreign(x)]
    if not library:
        made = {name: _numpy(name, x, name not in unchecked) for name, x in given.items()}
        dtype = np.result_type(*(x.dtype for x in made.values())) if made else np.dtype(float)
        return compat.array_namespace(np.empty(0)), tuple(
            None if x is None else made[name].astype(dtype, copy=False) for name, x in named.items()
        )
    xp = compat.array_namespace(*library)
    device, floats = compat.device(library[0]), [x.dtype for x in library if _is_float(xp, x)]
    dtype = xp.result_type(*floats) if floats else xp.asarray(1.0).dtype
    made = {name: _foreign(name, x, xp, dtype, device, name not in unchecked) for name, x in given.items()}
    return xp, tuple(made.get(name) for name in named)


def _numpy(name: str, value: Any, check: bool) -> np.ndarray:
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(
            wanted=f"{name} as a rectangular array of numbers",
            got="rows of different length",
            attempt="pad or split the rows",
        ) from None
    if array.dtype.kind in "biu":
        array = array.astype(float)
    if array.dtype.kind != "f":
        raise InputError(
            wanted=f"{name} as an array of real numbers",
            got=f"dtype {array.dtype}",
            attempt="convert it to floats first",
        )
    array = array if array.dtype.itemsize >= 4 else array.astype(np.float32)
    return finite(name, array) if check else array


def _foreign(name: str, value: Any, xp: Any, dtype: Any, device: Any, check: bool) -> Array:
    if _is_foreign(value):
        if xp.isdtype(value.dtype, "complex floating"):
            raise InputError(wanted=f"{name} as real numbers", got=f"dtype {value.dtype}", attempt="take its real part")
        value = xp.astype(value, dtype, copy=False)
        return finite(name, value) if check else value
    return xp.asarray(_numpy(name, value, check), dtype=dtype, device=device)


def _is_foreign(value: Any) -> bool:
    """An array of a library other than NumPy."""
    return bool(compat.is_array_api_obj(value)) and not compat.is_numpy_array(value)


def _is_float(xp: Any, array: Array) -> bool:
    return bool(xp.isdtype(array.dtype, "real floating"))


def finite(name: str, array: Array) -> Array:
    """Refuse NaN and infinities. One reduction decides the usual case; no n x d temporary is made."""
    xp = compat.array_namespace(array)
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.isfinite(xp.sum(array))) or bool(xp.all(xp.isfinite(array))):
            return array
    bad = int(xp.sum(xp.astype(~xp.isfinite(array), xp.int64)))
    raise InputError(
        wanted=f"{name} with finite entries",
        got=f"{bad} NaN or infinite of {_size(array)}",
        attempt="remove them; to hide a key use mask=, not an infinite number",
    )


def _size(array: Array) -> int:
    size = 1
    for length in array.shape:
        size *= int(length)
    return size


def shape(name: str, array: Array, *wanted: int | str | None) -> Array:
    """Check the number of axes and the fixed lengths: `shape("K", K, "n", d)`. A word is free, `None` too."""
    fits = array.ndim == len(wanted) and all(
        not isinstance(w, int) or g == w for w, g in zip(wanted, array.shape, strict=True)
    )
    if not fits or 0 in array.shape:
        words = ", ".join(str(w if w is not None else "any") for w in wanted)
        raise InputError(
            wanted=f"{name} of shape ({words})",
            got=f"shape {tuple(array.shape)}" + (" (empty)" if 0 in array.shape else ""),
            attempt="check the order of the axes: rows are keys, columns are coordinates",
        )
    return array


def nonnegative(name: str, array: Array) -> Array:
    xp = compat.array_namespace(array)
    if bool(xp.any(array < 0)):
        raise InputError(
            wanted=f"{name} >= 0 (it is a variance)",
            got=f"{float(xp.min(array)):g}",
            attempt="pass variances, not offsets",
        )
    return array


def index(name: str, value: Any, n: int) -> int:
    """One key's number, 0 .. n-1. Negative numbers are refused: a typo must not pick the last key."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, (bool, np.bool_)) or not 0 <= number < n:
        raise InputError(wanted=f"{name} between 0 and {n - 1}", got=repr(value), attempt="count keys from 0")
    return number


def number(name: str, value: Any, *, low: float = -np.inf, high: float = np.inf, open_ends: bool = False) -> float:
    """One finite number in [low, high], or in (low, high) with `open_ends`."""
    try:
        x = float(value)
    except (TypeError, ValueError):
        x = float("nan")
    inside = low < x < high if open_ends else low <= x <= high
    if not np.isfinite(x) or not inside:
        bounds = f"{'(' if open_ends else '['}{low:g}, {high:g}{')' if open_ends else ']'}"
        raise InputError(wanted=f"{name} in {bounds}", got=repr(value), attempt="pass one finite number in that range")
    return x
