"""A function of queries, keys and values, each (batch, heads, tokens, head size), as PyTorch's
`scaled_dot_product_attention` is. Functions that want tokens before heads are told by running."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from headwright.probes.layer import layer as words
from headwright.probes.layer.calling import Caller, first_array
from headwright.probes.layer.drawing import Source, normal
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options, Refusal, Sizes
from headwright.probes.layer.library import Library, numbers, placed
from headwright.probes.layer.signature import GROUPED_SWITCH, Signature

_PLAIN = Options()


@dataclass
class AttentionFunction:
    """`f(q, k, v, **)`, on arrays of its library."""

    name: str
    function: Any
    lib: Library
    signature: Signature
    sizes: Sizes = field(default_factory=lambda: Sizes(batch=1, heads=2, tokens=6, width=8))
    tokens_first: bool = False  # (batch, tokens, heads, head size)
    source: Source = normal
    caller: Caller = field(default_factory=Caller)
    form: str = "qkv"

    @property
    def library(self) -> str:
        return self.lib.name

    @property
    def dtype(self) -> str:
        return self.lib.dtype

    @property
    def eps(self) -> float:
        return self.lib.eps

    @property
    def takes(self) -> frozenset[str]:
        return frozenset(self.signature.known) - {words.CACHE}

    def draw(self, rng: np.random.Generator, sizes: Sizes | None = None) -> Inputs:
        """From the layer's source, rounded to its dtype."""
        s = sizes or self.sizes
        keys = s.tokens if s.keys is None else s.keys
        key_heads = s.heads if s.key_heads is None else s.key_heads
        value_width = s.width if s.value_width is None else s.value_width
        shapes = {
            "q": (s.batch, s.heads, s.tokens, s.width),
            "k": (s.batch, key_heads, keys, s.width),
            "v": (s.batch, key_heads, keys, value_width),
        }
        drawn = self.source(rng, shapes)
        return Inputs({name: self.lib.rounded(array) for name, array in drawn.items()})

    def run(self, given: Inputs, options: Options = _PLAIN) -> np.ndarray:
        output = self.output(self.raw(given, options), options)
        if output.shape[-2] != given.tokens:
            raise Refusal(f"returned {output.shape[-2]} rows for {given.tokens} queries")
        return output

    def output(self, made: Any, options: Options = _PLAIN) -> np.ndarray:
        output = first_array(made)
        if output.ndim != (3 if options.unbatched else 4):
            raise Refusal(f"returned an array of shape {tuple(output.shape)}, not (b, h, t, d)")
        array = self._turned(numbers(output))
        return array[None] if options.unbatched else array

    def raw(self, given: Inputs, options: Options = _PLAIN, **more: Any) -> Any:
        arrays = [self._turned(given[name]) for name in ("q", "k", "v")]
        if options.unbatched:
            arrays = [array[0] for array in arrays]
        tensors = [placed(array, self.lib, options) for array in arrays]
        if given["k"].shape[1] != given["q"].shape[1] and GROUPED_SWITCH in self.signature.names:
            more[GROUPED_SWITCH] = True
        more |= self.signature.words(options, self.lib, given.tokens)
        return self.caller.call(self.function, *tensors, **more)

    def _turned(self, array: np.ndarray) -> np.ndarray:
        return np.swapaxes(array, -3, -2) if self.tokens_first else array

    def with_tokens_first(self) -> AttentionFunction:
        return replace(self, tokens_first=True)
