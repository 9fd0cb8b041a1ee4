"""A layer on hidden states (batch, tokens, width): a torch module, or a function of one array.

Modules that want queries, keys and values apart get the hidden states three times, which is
self-attention. They run in evaluation mode and come back in the mode they had.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.probes.layer.calling import Caller, first_array
from headwright.probes.layer.drawing import Source, normal
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import TRAINING, Options, Refusal, Sizes
from headwright.probes.layer.library import Library, is_torch_module, numbers, placed
from headwright.probes.layer.mode import in_mode
from headwright.probes.layer.signature import Signature

_PLAIN = Options()
_MEASURED_DEPTH = 6

# More keywords for a call on such an input: what a model passes to its layers.
Extra = Callable[[Inputs, Options], dict[str, Any]]


@dataclass
class HiddenStates:
    """`f(x, **)`, on arrays of its library."""

    name: str
    function: Any
    lib: Library
    signature: Signature
    sizes: Sizes = field(default_factory=Sizes)
    times: int = 1  # how often the hidden states are passed
    tokens_first: bool = False  # (tokens, batch, width)
    extra: Extra | None = None
    source: Source = normal
    depth: int = 1  # layers of attention, one after another
    caller: Caller = field(default_factory=Caller)
    form: str = "hidden"

    @property
    def library(self) -> str:
        return self.lib.name

    @property
    def dtype(self) -> str:
        return self.lib.dtype

    @property
    def eps(self) -> float:
        """Of the dtype; in a deep stack every layer rounds anew, and the errors add up like steps
        at random. Bounds were measured on stacks of up to six."""
        return self.lib.eps * math.sqrt(max(self.depth / _MEASURED_DEPTH, 1.0))

    @property
    def takes(self) -> frozenset[str]:
        can_train = {TRAINING} if is_torch_module(self.function) else set()
        return frozenset(self.signature.known) | can_train

    def draw(self, rng: np.random.Generator, sizes: Sizes | None = None) -> Inputs:
        s = sizes or self.sizes
        drawn = self.source(rng, {"x": (s.batch, s.tokens, s.width)})
        return Inputs({"x": self.lib.rounded(drawn["x"])})

    def run(self, given: Inputs, options: Options = _PLAIN) -> np.ndarray:
        return self.output(self.raw(given, options), options)

    def output(self, made: Any, options: Options = _PLAIN) -> np.ndarray:
        output = first_array(made)
        if output.ndim != (2 if options.unbatched else 3):
            raise Refusal(f"returned an array of shape {tuple(output.shape)}, not (b, n, w)")
        array = numbers(output)
        return array[None] if options.unbatched else self._turned(array)

    def raw(self, given: Inputs, options: Options = _PLAIN, **more: Any) -> Any:
        array = given["x"][0] if options.unbatched else self._turned(given["x"])
        x = placed(array, self.lib, options)
        more |= self.signature.words(options, self.lib, given.tokens)
        if self.extra is not None:
            more = self.extra(given, options) | more
        with in_mode(self.function, options), self._gradient(options):
            return self.caller.call(self.function, *[x] * self.times, **more)

    def _turned(self, array: np.ndarray) -> np.ndarray:
        return np.swapaxes(array, 0, 1) if self.tokens_first else array

    def _gradient(self, options: Options) -> Any:
        if self.lib.name != "torch" or options.gradient:
            return nullcontext()
        import torch

        return torch.no_grad()
