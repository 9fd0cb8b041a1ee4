"""A layer of a model, or one of its stacks as a whole, by its place: what scripts start from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headwright.errors import InputError
from headwright.probes.intent import Intent
from headwright.probes.layer.function import AttentionFunction
from headwright.probes.layer.hidden import HiddenStates
from headwright.probes.layer.layer import Refusal
from headwright.probes.layer.library import refuse_unknown
from headwright.probes.models.attending import attending_layer
from headwright.probes.models.intents import (
    configured_window,
    is_causal,
    layer_intent,
    whole_intent,
)
from headwright.probes.models.recording.calls import Calls, Place, holds_numbers
from headwright.probes.models.recording.settings import implementations, setting, shortened
from headwright.probes.models.recording.stacks import Stack, stacks
from headwright.probes.models.subjects import module_layer, whole_layer
from headwright.trained.library import torch, transformers
from headwright.trained.loading.load import load, quiet

# Tokens of a text: six, and so many past the longest window.
_TOKENS = 6
_PAST_WINDOW = 3


@dataclass
class Opened:
    """One stack in one implementation: its attention modules, and both as layers."""

    stack: Stack
    implementation: str
    calls: Calls = field(repr=False)
    places: list[Place] = field(repr=False)

    @property
    def tokens(self) -> int:
        return self.calls.tokens

    @property
    def left_out(self) -> list[Place]:
        return [place for place in self.places if place.skipped]

    @property
    def shortened_window(self) -> tuple[int, int] | None:
        """The window of the configuration and the one used instead, where they differ."""
        own = configured_window(self.stack.model.config)
        return (own, shortened(own)) if own and shortened(own) != own else None

    def intent(self, place: Place) -> Intent | None:
        return layer_intent(self.stack.model.config, place)

    def tells_positions(self, place: Place) -> bool:
        """Numbers besides the mask are handed to the module, or it has a table of distances."""
        words = self.calls.words(place, (1, self.tokens))
        arrays = [name for name, value in words.items() if value is not None and "mask" not in name]
        numbers = [name for name in arrays if holds_numbers(words[name])]
        return bool(numbers) or getattr(place.module, "has_relative_attention_bias", False)

    def whole_intent(self) -> Intent | None:
        return whole_intent([self.intent(place) for place in self.places])

    def layer(self, place: Place) -> HiddenStates:
        return module_layer(place, self.calls, self.tokens)

    def whole(self) -> HiddenStates:
        config = self.stack.model.config
        causal = any(is_causal(config, place.module) for place in self.places)
        return whole_layer(self.calls, self.tokens, causal=causal)


def opened_model(model: Any, dtype: str | None = None) -> Any:
    """The model without the head on top, which has no attention; by its name where it is one."""
    refuse_unknown(dtype)
    placed = is_place(model)
    if placed:
        model, _ = load(model)
    model = getattr(model, "base_model", model)
    if not isinstance(model, transformers.PreTrainedModel):
        raise InputError(
            wanted="a transformers model, or the folder of one",
            got=type(model).__name__,
            attempt="pass a folder",
        )
    own = str(model.dtype).removeprefix("torch.")
    if dtype is None or dtype == own:
        return model
    if not placed:
        # It belongs to the caller, and would come back changed.
        raise InputError(
            wanted=f"the dtype of the model, {own}",
            got=dtype,
            attempt=f"pass the model as model.to(torch.{dtype})",
        )
    return model.to(getattr(torch, dtype))


def is_place(model: Any) -> bool:
    """Where a model lies, and no model itself."""
    return isinstance(model, str) or hasattr(model, "__fspath__")


def opened_stacks(model: Any) -> tuple[list[list[Opened]], list[str]]:
    """Every stack in the implementations it has; and a line for each that does not run."""
    found = []
    notes = []
    for stack in stacks(model):
        try:
            found.append([opened(stack, name) for name in implementations(stack.model)])
        except Refusal as reason:
            notes.append(f"{type(stack.model).__name__} was left out: {reason}.")
    return found, notes


def opened(stack: Stack, implementation: str) -> Opened:
    window = shortened(configured_window(stack.model.config))
    tokens = max(_TOKENS, window + _PAST_WINDOW if window else 0)
    calls = Calls(stack, setting(stack.model, implementation), tokens)
    with quiet():
        try:
            return Opened(stack, implementation, calls, calls.places())
        except Refusal:
            raise
        except Exception as reason:  # a model fails in its own words
            lines = str(reason).splitlines() or [""]
            raise Refusal(f"{type(reason).__name__}: {lines[0][:160]}") from reason


def part_of(
    model: Any, stack: str = "model", layer: int | None = None, implementation: str = "eager"
) -> HiddenStates:
    """One layer, or the whole stack where no layer is named, as a layer that probes can run."""
    part = _opened(model, stack, implementation)
    return part.whole() if layer is None else part.layer(part.places[layer])


def part_line(stack: str, layer: int | None, implementation: str, name: str = "layer") -> str:
    """The Python that makes it."""
    return f"{name} = part_of(model, {stack!r}, {layer}, {implementation!r})"


def function_of(model: Any, stack: str, layer: int, implementation: str) -> AttentionFunction:
    """The attention function inside a layer, on queries, keys and values."""
    part = _opened(model, stack, implementation)
    return attending_layer(part.places[layer], part.calls, part.tokens)


def _opened(model: Any, name: str, implementation: str) -> Opened:
    found = {stack.name: stack for stack in stacks(opened_model(model))}
    if name not in found:
        wanted = f"a stack of this model: {', '.join(found)}"
        raise InputError(wanted=wanted, got=name, attempt=f"stack={next(iter(found))!r}")
    return opened(found[name], implementation)


def function_line(stack: str, layer: int, implementation: str) -> str:
    """The Python that makes it."""
    return f"layer = function_of(model, {stack!r}, {layer}, {implementation!r})"


def opening_line(source: str, dtype: str | None) -> str:
    """The Python that opens the model; an object that no name finds is the reader's to fill in."""
    given = repr(source) if source else "YOUR_MODEL"
    given += "" if dtype is None else f", {dtype!r}"
    return f"model = opened_model({given})"
