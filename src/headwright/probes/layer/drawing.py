"""Where a layer's inputs come from: normal numbers, or what was captured from a run of a model.

Random numbers cannot show what only real activations trigger. From captured ones every draw takes
another stretch of tokens, so that probes which need two inputs have two; axes that the captured
arrays do not have in that length are filled by going round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from headwright.errors import InputError
from headwright.inputs import finite
from headwright.result import to_numpy

Shapes = dict[str, tuple[int, ...]]
# What people call the hidden states.
_HIDDEN = ("x", "hidden_states", "hidden", "input", "inputs")
_FORMS = "q, k and v (batch, heads, tokens, head size), or x (batch, tokens, width)"
_SAVE = "safetensors.numpy.save_file({'x': hidden_states}, 'F.safetensors')"


@runtime_checkable
class Source(Protocol):
    def __call__(self, rng: np.random.Generator, shapes: Shapes) -> dict[str, np.ndarray]:
        """An array of every shape."""
        ...


def normal(rng: np.random.Generator, shapes: Shapes) -> dict[str, np.ndarray]:
    """Normal numbers: logits of deviation 1 under the usual scale."""
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


@dataclass(frozen=True)
class Captured:
    """Arrays by the names of a layer's inputs, batch first and tokens next to last."""

    arrays: dict[str, np.ndarray]

    @property
    def tokens(self) -> int:
        return next(iter(self.arrays.values())).shape[-2]

    @property
    def width(self) -> int:
        return next(iter(self.arrays.values())).shape[-1]

    def __call__(self, rng: np.random.Generator, shapes: Shapes) -> dict[str, np.ndarray]:
        """The same stretch of all arrays, from a random token of a random text on."""
        first = next(iter(self.arrays.values()))
        start = {0: int(rng.integers(first.shape[0])), -2: int(rng.integers(first.shape[-2]))}
        return {name: self._stretch(name, shape, start) for name, shape in shapes.items()}

    def _stretch(self, name: str, shape: tuple[int, ...], start: dict[int, int]) -> np.ndarray:
        made = self.arrays[name]
        for axis in range(made.ndim):
            begin = start.get(axis, start.get(axis - made.ndim, 0))
            places = (begin + np.arange(shape[axis])) % made.shape[axis]
            made = np.take(made, places, axis=axis)
        return made


def captured(given: str | Path | Mapping[str, object] | Captured | None) -> Captured | None:
    """From a safetensors file, or from arrays by name."""
    if given is None or isinstance(given, Captured):
        return given
    arrays = dict(given) if isinstance(given, Mapping) else _read(Path(given))
    found = {name: np.asarray(array, dtype=float) for name, array in arrays.items()}
    hidden = next((name for name in _HIDDEN if name in found), None)
    if {"q", "k", "v"} <= set(found):
        return Captured({name: _checked(name, found[name], 4) for name in ("q", "k", "v")})
    if hidden is not None:
        return Captured({"x": _checked(hidden, found[hidden], 3)})
    got = ", ".join(found)[:120] or "no arrays"
    raise InputError(wanted=f"captured inputs named {_FORMS}", got=got, attempt=_SAVE)


def _checked(name: str, array: np.ndarray, axes: int) -> np.ndarray:
    """With the axes that were meant; one text may lack the batch."""
    if array.ndim == axes - 1:
        array = array[None]
    if array.ndim != axes or 0 in array.shape:
        got = f"{name} of shape {array.shape}"
        raise InputError(wanted=f"captured inputs: {_FORMS}", got=got, attempt=_SAVE)
    return finite(f"captured {name}", array)


def _read(path: Path) -> dict[str, np.ndarray]:
    """Every array of the file; through torch where NumPy lacks the dtype, as it does bfloat16."""
    try:
        try:
            return _arrays(path, "numpy")
        except (TypeError, AttributeError):
            return _arrays(path, "torch")
    except Exception as reason:  # a missing or damaged file fails in many ways
        words = (str(reason).splitlines() or [type(reason).__name__])[0]
        got = f"{path}: {words[:120]}"
        raise InputError(wanted="a readable safetensors file", got=got, attempt=_SAVE) from None


def _arrays(path: Path, library: str) -> dict[str, np.ndarray]:
    from safetensors import safe_open

    with safe_open(str(path), framework=library) as bundle:
        names = list(bundle.keys())
        return {name: to_numpy(bundle.get_tensor(name)) for name in names}
