"""Arrays of the layer's own library, from NumPy's and back. A library is imported when a layer
needs it."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.probes.layer.layer import Options
from headwright.result import to_numpy

DTYPES = ("float32", "bfloat16", "float16", "float64")
# Distance from 1 to the next number.
EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


@dataclass(frozen=True)
class Library:
    """Where a layer's arrays live."""

    name: str  # "torch", "jax" or "numpy"
    dtype: str
    device: Any = None

    @property
    def eps(self) -> float:
        return EPS[self.dtype]

    def floats(self, array: np.ndarray) -> Any:
        """An array of the layer's dtype, on its device."""
        if self.name == "torch":
            import torch

            made = torch.from_numpy(np.array(array, dtype=float))
            return made.to(dtype=getattr(torch, self.dtype), device=self.device)
        if self.name == "jax":
            import jax.numpy as jnp

            return jnp.asarray(array, dtype=getattr(jnp, self.dtype))
        return np.array(array, dtype=self.dtype)

    def whole(self, array: np.ndarray) -> Any:
        """Whole numbers or flags, with the dtype they have."""
        if self.name == "torch":
            import torch

            return torch.from_numpy(np.array(array)).to(device=self.device)
        if self.name == "jax":
            import jax.numpy as jnp

            return jnp.asarray(array)
        return np.array(array)

    def rounded(self, array: np.ndarray) -> np.ndarray:
        """The numbers that the layer will see, in double precision."""
        return numbers(self.floats(array))


def numbers(array: Any) -> np.ndarray:
    """In double precision."""
    if type(array).__module__.startswith("jax"):
        array = array.astype("float32") if "bfloat16" in str(array.dtype) else array
    return to_numpy(array).astype(float)


def placed(array: np.ndarray, lib: Library, options: Options) -> Any:
    """A NumPy array as the layer's own: contiguous, or a strided view such as the split of a fused
    projection gives, with a gradient recorded or not."""
    if not options.strided or lib.name == "jax":
        made = lib.floats(array)
    else:
        # Every other one along the last axis, and the axes next to last laid out in another order.
        wide = np.repeat(np.swapaxes(array, -2, -3) if array.ndim > 2 else array, 2, axis=-1)
        made = lib.floats(wide)[..., ::2]
        made = made.swapaxes(-2, -3) if array.ndim > 2 else made
    if lib.name == "torch":
        made.requires_grad_(options.gradient)
    return made


def is_array(thing: Any) -> bool:
    return hasattr(thing, "shape") and hasattr(thing, "dtype") and hasattr(thing, "ndim")


def libraries_of(thing: Any, dtype: str | None) -> list[Library]:
    """A module's own library, dtype and device; for a function those it may want, the likeliest
    first."""
    refuse_unknown(dtype)
    if is_torch_module(thing):
        return [_own(thing, dtype)]
    made = []
    for name in _likely(thing):
        if name == "numpy":
            made += [Library(name, dtype or "float64")] if dtype != "bfloat16" else []
        elif name == "jax" and dtype == "float64" and not jax_has_doubles():
            continue  # it would compute in single precision without a word
        else:
            made.append(Library(name, dtype or "float32"))
    return made


def jax_has_doubles() -> bool:
    """Double precision is switched on."""
    import jax.numpy as jnp

    return jnp.zeros(1).dtype == jnp.float64


def refuse_unknown(dtype: str | None) -> None:
    if dtype is not None and dtype not in DTYPES:
        raise InputError(
            wanted=f"a dtype: {', '.join(DTYPES)}", got=repr(dtype), attempt="--dtype float32"
        )


def _own(module: Any, dtype: str | None) -> Library:
    first = next((p for p in module.parameters() if p.is_floating_point()), None)
    if first is None:
        return Library("torch", dtype or "float32")
    if first.device.type == "meta":
        raise InputError(
            wanted="a module with weights",
            got="parameters on the meta device, which has none",
            attempt="load the weights first, or module.to_empty(device='cpu') and initialise them",
        )
    own = str(first.dtype).removeprefix("torch.")
    if dtype not in (None, own):
        raise InputError(
            wanted=f"the dtype of the module's parameters, {own}",
            got=dtype,
            attempt=f"pass the module as module.to(torch.{dtype})",
        )
    return Library("torch", own, first.device)


def is_torch_module(thing: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.nn.Module)


def _likely(function: Any) -> list[str]:
    """Where the function comes from, then what its code names, then what its file has; a library
    that nobody has imported is not wanted."""
    inner = inspect.unwrap(getattr(function, "func", function))
    if not hasattr(inner, "__code__"):
        inner = type(inner).__call__
    scope = getattr(inner, "__globals__", {})
    used = getattr(getattr(inner, "__code__", None), "co_names", ())
    held = [_held(cell) for cell in getattr(inner, "__closure__", None) or ()]
    places = [
        [getattr(function, "__module__", None) or ""],
        [getattr(scope.get(name), "__name__", "") for name in used],
        [getattr(value, "__name__", "") for value in held],
        [getattr(value, "__name__", "") for value in scope.values()],
        list(sys.modules),
    ]
    roots = [str(module).partition(".")[0] for place in places for module in place]
    return [name for name in dict.fromkeys(roots) if name in ("torch", "jax", "numpy")]


def _held(cell: Any) -> Any:
    """The value of an outer function's variable; None where it has none yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
