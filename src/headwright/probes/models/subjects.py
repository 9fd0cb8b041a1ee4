"""An attention module of a model, and a model from its embeddings on, as layers that probes run."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from headwright.probes.layer.drawing import Shapes
from headwright.probes.layer.hidden import HiddenStates
from headwright.probes.layer.layer import CACHE, MASK, POSITIONS, Options, Refusal, Sizes
from headwright.probes.layer.library import Library
from headwright.probes.layer.signature import SWITCH_OF_CACHE, Signature
from headwright.probes.models.recording.calls import Calls, Place
from headwright.probes.models.recording.settings import Setting, configurations
from headwright.probes.models.recording.stacks import EMBEDDINGS, Stack
from headwright.probes.rounding import apart
from headwright.trained.library import torch

_TOKENS = 6


class Module(torch.nn.Module):
    """An attention module called as its model calls it, on other hidden states."""

    def __init__(self, place: Place, calls: Calls, setting: Setting | None = None) -> None:
        super().__init__()
        self.module = place.module
        self.place = place
        self.calls = calls
        self.setting = calls.setting if setting is None else setting

    def __deepcopy__(self, memory: Any) -> Module:
        copied = _copied(self.module, self.calls.stack.model)
        return Module(replace(self.place, module=copied), self.calls, self.setting)

    def forward(
        self, hidden_states: Any, attention_mask: Any = None, position_ids: Any = None
    ) -> Any:
        texts, tokens = hidden_states.shape[:2]
        size = (tokens, texts) if self.place.tokens_first else (texts, tokens)
        words = self.calls.words(self.place, size, attention_mask, position_ids)
        fitting = {name: as_dtype(value, hidden_states.dtype) for name, value in words.items()}
        with self.setting.in_place():
            return self.module(hidden_states, **fitting)


def _copied(module: Any, model: Any) -> Any:
    """All that a module may keep from call to call is copied. Weights lie in the same memory until
    the copy gets another dtype; configurations are shared, so that a setting reaches the copy."""
    memory: dict[int, Any] = {id(owner): owner for owner in configurations(model)}
    for weights in module.parameters():
        memory[id(weights)] = torch.nn.Parameter(weights.detach(), weights.requires_grad)
    return copy.deepcopy(module, memory)


def as_dtype(value: Any, dtype: Any) -> Any:
    """Recorded numbers in the dtype of the hidden states, where a copy of the module has another
    than the model."""
    if isinstance(value, tuple):
        return tuple(as_dtype(part, dtype) for part in value)
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.to(dtype)
    return value


class Whole(torch.nn.Module):
    """A model on embeddings; it keeps no cache unless it is asked to."""

    def __init__(self, calls: Calls, model: Any = None) -> None:
        super().__init__()
        self.model = calls.stack.model if model is None else model
        self.calls = calls

    def __deepcopy__(self, memory: Any) -> Whole:
        return Whole(self.calls, _copied(self.model, self.model))

    def forward(self, inputs_embeds: Any, **words: Any) -> Any:
        words = self.calls.stack.without_cache | words
        with self.calls.setting.in_place():
            return self.model(**{EMBEDDINGS: inputs_embeds}, **words)


def module_layer(place: Place, calls: Calls, tokens: int = _TOKENS) -> HiddenStates:
    """An attention module alone. It takes padding where the model does, and positions where they
    change its output."""
    function = Module(place, calls)
    known = {means: word for means, word in calls.stack.takes.items() if means != CACHE}
    layer = HiddenStates(
        f"{calls.stack.name} layer {place.index} ({calls.setting.implementation})",
        function,
        library_of(calls.stack),
        _signature("hidden_states", known),
        sizes=Sizes(tokens=tokens, width=place.width),
        tokens_first=place.tokens_first,
    )
    if POSITIONS in known and not _reads_positions(layer):
        del known[POSITIONS]
        layer = replace(layer, signature=_signature("hidden_states", known))
    return layer


def whole_layer(calls: Calls, tokens: int = _TOKENS, *, causal: bool = True) -> HiddenStates:
    """The model on embeddings of random tokens; only one that is causal has a use for a cache."""
    stack = calls.stack
    if not stack.reads_texts:
        raise Refusal(f"{type(stack.model).__name__} reads {stack.model.main_input_name}, no text")

    def embedded(rng: np.random.Generator, shapes: Shapes) -> dict[str, np.ndarray]:
        return {name: stack.embeddings(rng, *shape[:2]) for name, shape in shapes.items()}

    known = {means: word for means, word in stack.takes.items() if causal or means != CACHE}
    return HiddenStates(
        f"{stack.name} ({calls.setting.implementation})",
        Whole(calls),
        library_of(stack),
        _signature(EMBEDDINGS, known),
        sizes=Sizes(tokens=tokens, width=stack.width),
        source=embedded,
        depth=max(len(calls.modules), 1),
    )


def _signature(first: str, known: dict[str, str]) -> Signature:
    switch = {SWITCH_OF_CACHE} if CACHE in known else set()
    return Signature((first,), dict(known), frozenset({first, *known.values(), *switch}))


def library_of(stack: Stack) -> Library:
    dtype = str(stack.model.dtype).removeprefix("torch.")
    return Library("torch", dtype, stack.model.device)


def _reads_positions(layer: HiddenStates) -> bool:
    """Are outputs others where positions are further apart? With a mask of ones, for without one
    the library takes a jump of positions for the beginning of another document."""
    given = layer.draw(np.random.default_rng(0))
    near = np.arange(given.tokens)[None]
    real = np.ones_like(near) if MASK in layer.takes else None
    try:
        usual = layer.run(given, Options(mask=real, positions=near))
        apart_positions = layer.run(given, Options(mask=real, positions=2 * near))
    except Refusal:
        return False
    return apart(usual, apart_positions) > 0
