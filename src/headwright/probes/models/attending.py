"""The attention function that a layer calls, as a function of queries, keys and values: with the
layer's scale, mask, soft cap, sinks and bias, as the layer itself passes them.

What the layer passes is seen by a function registered with the library's attention interface, which
takes the place of the real one for one call; then the real one runs on other arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from headwright.probes.layer.function import AttentionFunction
from headwright.probes.layer.layer import Options, Refusal, Sizes
from headwright.probes.layer.mode import in_mode
from headwright.probes.layer.signature import Signature
from headwright.probes.models.recording.calls import Calls, Place
from headwright.probes.models.recording.settings import setting
from headwright.probes.models.subjects import Module, as_dtype, library_of
from headwright.trained.library import torch, transformers

_NAME = "headwright_probes"
_EAGER = "eager_attention_forward"


class _Told(Exception):
    """The words of one call: raised to end it."""


_seen: ContextVar[list[Any]] = ContextVar("headwright_told")


def _listening(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any = None, **words: Any
) -> Any:
    shapes = [tuple(array.shape) for array in (query, key, value)]
    _seen.get().append((shapes, words | {"attention_mask": attention_mask}))
    raise _Told


@dataclass(frozen=True)
class Told:
    """What a layer tells its attention function: sizes, and words."""

    shapes: list[tuple[int, ...]]
    words: dict[str, Any]

    @property
    def scale(self) -> float:
        stated = self.words.get("scaling")
        return float(self.shapes[0][-1] ** -0.5 if stated is None else stated)

    @property
    def is_own(self) -> bool:
        """Parameters of this layer are among the words: sinks, or a bias."""
        return any(self.words.get(name) is not None for name in ("s_aux", "position_bias"))

    @property
    def group(self) -> int:
        """Query heads per key head."""
        return self.shapes[0][1] // self.shapes[1][1]

    def sizes(self, tokens: int) -> Sizes:
        (_, heads, _, width), (_, key_heads, _, _), (_, _, _, value_width) = self.shapes
        return Sizes(
            heads=heads,
            tokens=tokens,
            width=width,
            key_heads=None if key_heads == heads else key_heads,
            value_width=None if value_width == width else value_width,
        )


@dataclass
class Attending:
    """f(q, k, v) -> (b, h, t, d)."""

    place: Place
    calls: Calls
    function: Callable[..., Any]
    _known: dict[tuple[int, int], Told] = field(default_factory=dict)

    def __call__(self, query: Any, key: Any, value: Any) -> Any:
        batch, _, tokens, _ = query.shape
        if key.shape[2] != tokens:
            raise Refusal("as many keys as queries are wanted: there is no cache here")
        told = self.told(batch, tokens)
        words = {name: as_dtype(value, query.dtype) for name, value in told.words.items()}
        # Where a key head serves several query heads and each has its own here, the query is asked
        # so many times.
        times = told.group if query.shape[1] == key.shape[1] else 1
        asked = query.repeat_interleave(times, dim=1)
        with self.calls.setting.in_place():
            output = self.function(self.place.module, asked, key, value, **words)[0]
        return output.transpose(1, 2)[:, ::times]

    def told(self, batch: int, tokens: int) -> Told:
        size = (batch, tokens)
        if size not in self._known:
            self._known[size] = _told(self.place, self.calls, size)
        return self._known[size]


def _told(place: Place, calls: Calls, size: tuple[int, int]) -> Told:
    transformers.AttentionInterface.register(_NAME, _listening)
    model = calls.stack.model
    module = Module(place, calls, setting(model, _NAME))
    axes = size[::-1] if place.tokens_first else size
    states = torch.zeros((*axes, place.width), dtype=model.dtype, device=model.device)
    seen: list[Any] = []
    token = _seen.set(seen)
    try:
        with suppress(_Told), in_mode(module, Options()), torch.no_grad():
            module(states)
    finally:
        _seen.reset(token)
    if not seen:
        raise Refusal("its attention is code of its own")
    return Told(*seen[0])


def attending_layer(place: Place, calls: Calls, tokens: int) -> AttentionFunction:
    """Refuses modules whose attention is code of their own."""
    function = _function(place.module, calls.setting.implementation)
    made = Attending(place, calls, function)
    sizes = made.told(1, tokens).sizes(tokens)
    lib = library_of(calls.stack)
    name = f"attention of {calls.stack.name} layer {place.index} ({calls.setting.implementation})"
    signature = Signature(("query", "key", "value"), {}, frozenset())
    return AttentionFunction(name, made, lib, signature, sizes=sizes)


def _function(module: Any, implementation: str) -> Callable[..., Any]:
    """As the library chooses it: by name, and eager from the file of the module."""
    if implementation != "eager":
        return transformers.AttentionInterface()[implementation]
    for kind in type(module).__mro__:
        found = getattr(sys.modules.get(kind.__module__), _EAGER, None)
        if found is not None:
            return found
    raise Refusal("its attention is code of its own")
