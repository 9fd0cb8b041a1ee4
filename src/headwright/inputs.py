"""Input validation, in one place: bring what the caller has to one array library, one device and
one float dtype, and refuse what cannot be meant (non-finite, ragged, empty, wrongly shaped).

The library in use is decided by the arrays themselves (array-api-compat); lists and numbers follow.
"""

from __future__ import annotations

import operator
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.errors import InputError
from headwright.types import Array

# The arguments that may be left out, wherever they occur: a name has one sense in the whole
# package. Any other None is a mistake of the caller's.
OPTIONAL = frozenset(
    {
        "bias",
        "covariance",
        "diagonal",
        "factors",
        "isotropic",
        "mask",
        "mix",
        "start",
        "value_noise",
    }
)

_LONGEST = 60  # characters of a value that a message repeats


def arrays(*, unchecked: tuple[str, ...] = (), **named: Any) -> tuple[Any, tuple[Any, ...]]:
    """`xp, (q, K) = arrays(q=q, K=K)`: the common namespace and every input as a float array of it.

    `None` stays `None` where it is `OPTIONAL`. Floats keep the widest precision given; integers and
    lists become float64 (the library's default float where it has no float64). All entries are
    finite but those of arrays named in `unchecked`, whose user finds out by other means.
    """
    given = {name: x for name, x in named.items() if x is not None or name not in OPTIONAL}
    library: list[Any] = [x for x in given.values() if _is_foreign(x)]
    if not library:
        return _all_numpy(given, tuple(named), unchecked)
    xp, device = _common(library)
    floats = [x.dtype for x in library if _is_float(xp, x)]
    dtype = xp.result_type(*floats) if floats else xp.asarray(1.0).dtype
    made = {
        name: _foreign(name, x, xp, dtype, device, name not in unchecked)
        for name, x in given.items()
    }
    return xp, tuple(made.get(name) for name in named)


def _all_numpy(
    given: dict[str, Any], names: tuple[str, ...], unchecked: tuple[str, ...]
) -> tuple[Any, tuple[Any, ...]]:
    """Every input that was given as a NumPy array of the widest precision among them."""
    made = {name: _numpy(name, x, name not in unchecked) for name, x in given.items()}
    dtypes = [x.dtype for x in made.values()]
    dtype = np.result_type(*dtypes) if dtypes else np.dtype(float)
    made = {name: x.astype(dtype, copy=False) for name, x in made.items()}
    return compat.array_namespace(np.empty(0)), tuple(made.get(name) for name in names)


def _common(library: list[Any]) -> tuple[Any, Any]:
    """The one library and the one device of all arrays that are not NumPy's."""
    try:
        xp = compat.array_namespace(*library)
    except TypeError:
        kinds = sorted({type(x).__module__.partition(".")[0] for x in library})
        raise InputError(
            wanted="arrays of one library",
            got=" and ".join(kinds),
            attempt="convert all of them to one",
        ) from None
    devices = {str(compat.device(x)) for x in library}
    if len(devices) > 1:
        raise InputError(
            wanted="arrays on one device",
            got=" and ".join(sorted(devices)),
            attempt="move them together",
        )
    return xp, compat.device(library[0])


def _numpy(name: str, value: Any, check: bool) -> np.ndarray:
    if value is None:
        raise InputError(
            wanted=f"{name} as an array of numbers", got="None", attempt=f"pass {name}"
        )
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(
            wanted=f"{name} without masked entries",
            got="a masked array",
            attempt="remove those rows, or fill them",
        )
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(
            wanted=f"{name} as a rectangular array of numbers",
            got="rows of different length",
            attempt="pad or split the rows",
        ) from None
    except Exception as reason:  # an object that calls itself an array and cannot be made one
        raise InputError(
            wanted=f"{name} as an array of numbers",
            got=f"{type(value).__name__} ({type(reason).__name__})",
            attempt="convert it to a NumPy array first",
        ) from None
    if array.dtype.kind in "biu":
        array = array.astype(float)
    if array.dtype.kind != "f":
        raise InputError(
            wanted=f"{name} as an array of real numbers",
            got=f"dtype {array.dtype}" if array.ndim else shown(value),
            attempt="convert it to floats first",
        )
    array = array if array.dtype.itemsize >= 4 else array.astype(np.float32)
    return finite(name, array) if check else array


def _foreign(name: str, value: Any, xp: Any, dtype: Any, device: Any, check: bool) -> Array:
    if _is_foreign(value):
        if xp.isdtype(value.dtype, "complex floating"):
            raise InputError(
                wanted=f"{name} as real numbers",
                got=f"dtype {value.dtype}",
                attempt="take its real part",
            )
        if compat.is_torch_array(value) and (value.is_meta or "strided" not in str(value.layout)):
            raise InputError(
                wanted=f"{name} as a dense array of numbers",
                got="a sparse array, or one without data",
                attempt="x.to_dense()",
            )
        value = xp.astype(value, dtype, copy=False)
        return finite(name, value) if check else value
    return xp.asarray(_numpy(name, value, check), dtype=dtype, device=device)


def flags(name: str, value: Any, *, like: Array) -> Array:
    """A boolean array of the library and on the device of `like`."""
    xp = compat.array_namespace(like)
    try:
        made = xp.asarray(value, device=compat.device(like))
        boolean = xp.isdtype(made.dtype, "bool")
    except Exception:  # ragged, sparse, of another library, or no array at all
        raise InputError(
            wanted=f"a boolean {name}, one flag per key",
            got=shown(value),
            attempt=f"{name}=[True, False, True]",
        ) from None
    if not boolean:
        raise InputError(
            wanted=f"a boolean {name}, True where a key may be seen",
            got=f"dtype {made.dtype}",
            attempt=f"{name}.astype(bool); additive masks go to bias=",
        )
    return made


def _is_foreign(value: Any) -> bool:
    """An array of a library other than NumPy."""
    return bool(compat.is_array_api_obj(value)) and not compat.is_numpy_array(value)


def _is_float(xp: Any, array: Array) -> bool:
    return bool(xp.isdtype(array.dtype, "real floating"))


def finite(name: str, array: Array) -> Array:
    """Refuse NaN and infinities. One reduction decides the usual case, without a temporary."""
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
    """Check the number of axes and the fixed lengths: `shape("K", K, "n", d)`. A word is free,
    `None` too."""
    empty = 0 in array.shape
    if empty or not _fits(tuple(array.shape), wanted):
        words = ", ".join("any" if word is None else str(word) for word in wanted)
        note = " (empty)" if empty else ""
        raise InputError(
            wanted=f"{name} of shape ({words})",
            got=f"shape {tuple(array.shape)}{note}",
            attempt="check the order of the axes: rows are keys, columns are coordinates",
        )
    return array


def _fits(found: tuple[int, ...], wanted: tuple[int | str | None, ...]) -> bool:
    """As many axes, and the lengths that are fixed."""
    if len(found) != len(wanted):
        return False
    pairs = zip(found, wanted, strict=True)
    return all(length == word for length, word in pairs if isinstance(word, int))


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
    """One key's number, 0 .. n-1. Negative ones are refused: a typo must not pick the last key."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, (bool, np.bool_)) or not 0 <= number < n:
        raise InputError(
            wanted=f"{name} between 0 and {n - 1}", got=shown(value), attempt="count keys from 0"
        )
    return number


def number(
    name: str, value: Any, *, low: float = -np.inf, high: float = np.inf, open_ends: bool = False
) -> float:
    """One finite number in [low, high], or in (low, high) with `open_ends`. Text is no number."""
    x = float("nan")
    try:
        if not isinstance(value, (str, bytes, bytearray)) and not np.ndim(value):
            x = float(value)
    except Exception:  # whatever an object raises that is no number, 10**400 among them
        x = float("nan")
    inside = low < x < high if open_ends else low <= x <= high
    if not np.isfinite(x) or not inside:
        bounds = f"{'(' if open_ends else '['}{low:g}, {high:g}{')' if open_ends else ']'}"
        raise InputError(
            wanted=f"{name} in {bounds}",
            got=shown(value),
            attempt="pass one finite number in that range",
        )
    return x


def whole(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """One whole number in [low, high]; 3.0 is one, 3.5, "3" and True are not."""
    top = np.inf if high is None else high
    x = number(name, value, low=low, high=top)
    if isinstance(value, (bool, np.bool_)) or x != int(x):
        raise InputError(
            wanted=f"{name} as a whole number", got=shown(value), attempt=f"{name}={max(low, 1)}"
        )
    return int(x)


def shown(value: Any) -> str:
    """What the caller gave, short enough for a message; some objects cannot even be printed."""
    try:
        text = repr(value)
    except Exception:  # an integer of 5,000 digits, a broken __repr__
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
