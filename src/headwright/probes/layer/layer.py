"""A layer as probes see it, whatever it is made of: numbers in, numbers out.

Inputs and outputs are NumPy arrays in double precision; the layer itself runs in its own library,
dtype and device. Probes ask what it takes (`takes`) before they use an option.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol, runtime_checkable

import numpy as np

from headwright.errors import HeadwrightError
from headwright.probes.layer.inputs import Inputs

# What a layer may take besides its input, as probes call it; `signature` has the names that
# libraries use.
MASK = "mask"  # (b, n), True where a token is real
PAIRS = "pairs"  # (b, 1, t, n), True where a query may see a key
POSITIONS = "positions"  # (b, n), whole numbers
DOCUMENTS = "documents"  # (b, n), the number of the document that a token belongs to
CAUSAL = "causal"  # a switch
CACHE = "cache"  # keys and values of earlier calls
WEIGHTS = "weights"  # a switch: return the weights as well
TRAINING = "training"  # a module that can be put in training mode, with its dropout at 0
GROUPED = "grouped"  # fewer key heads than query heads


@dataclass(frozen=True)
class Options:
    """How one call differs from the plain one. None: not given."""

    mask: np.ndarray | None = None
    pairs: np.ndarray | None = None
    positions: np.ndarray | None = None
    documents: np.ndarray | None = None
    causal: bool | None = None
    weights: bool | None = None
    training: bool = False
    gradient: bool = False  # run where the library records gradients
    strided: bool = False  # inputs as strided views of a larger array
    additive: bool = False  # masks as numbers that are added to the logits
    unbatched: bool = False  # one text without the axis of texts
    use_cache: bool | None = None  # ask for the keys and values of this call


@dataclass(frozen=True, repr=False)
class Sizes:
    """Lengths of the axes. `keys` and `key_heads` are None where they equal tokens and heads,
    `value_width` where it equals the width."""

    batch: int = 1
    heads: int = 1
    tokens: int = 6
    width: int = 8
    keys: int | None = None
    key_heads: int | None = None
    value_width: int | None = None

    def __repr__(self) -> str:
        """Short, for scripts: what is as usual is left out."""
        values = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        said = [f"{name}={value}" for name, (value, usual) in values.items() if value != usual]
        return f"Sizes({', '.join(said)})"


class Refusal(HeadwrightError):
    """A call that the layer did not answer: it raised, or returned no array. Not yet a fault: it
    may be a size or an option that it does not take."""


class OutOfTime(HeadwrightError):
    """The time allowed for the whole X-ray is over."""


@runtime_checkable
class Layer(Protocol):
    """What every form of layer can do."""

    name: str
    form: str  # "qkv" or "hidden"
    sizes: Sizes  # the sizes that were found or given

    @property
    def library(self) -> str: ...  # "torch", "jax" or "numpy"

    @property
    def dtype(self) -> str: ...

    @property
    def eps(self) -> float: ...  # of the dtype

    @property
    def takes(self) -> frozenset[str]: ...

    def draw(self, rng: np.random.Generator, sizes: Sizes | None = None) -> Inputs:
        """Random inputs, already rounded to the layer's dtype."""
        ...

    def run(self, given: Inputs, options: Options = ...) -> np.ndarray:
        """The output in double precision: (b, h, t, dv) or (b, n, w)."""
        ...

    def raw(self, given: Inputs, options: Options = ..., **words: Any) -> Any:
        """What the layer itself returns, with more keywords of its own."""
        ...

    def output(self, made: Any, options: Options = ...) -> np.ndarray:
        """The output in what `raw` returned, as `run` has it."""
        ...
