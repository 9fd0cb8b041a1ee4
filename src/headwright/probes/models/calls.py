"""How a model calls its attention modules: the keywords they get for so many texts and tokens, this
padding and these positions. Recorded by running the model, so that a module can be run alone on
other hidden states exactly as the model runs it.

Rejected: making masks and rotations here, which would be a second copy of what is to be examined.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.probes.layer.layer import MASK, POSITIONS, Options, Refusal
from headwright.probes.layer.mode import in_mode
from headwright.probes.models.settings import Setting
from headwright.probes.models.stacks import EMBEDDINGS, Stack
from headwright.trained.library import torch

# Recorded calls that are kept; probes of one layer ask for a few dozen, and for the same ones in
# the next layer.
_KEPT = 256
# Two texts of five tokens tell the axes of hidden states apart.
_TEXTS = 2
_TOKENS = 5
# What a module adds to its output belongs to the hidden states of the recording, not to ours.
_ADDED = ("residual",)
_OTHER_STATES = ("key_value_states", "encoder_hidden_states")


@dataclass(frozen=True)
class Place:
    """An attention module in its stack. `index` counts from 0; `skipped` says why it cannot be run
    alone."""

    index: int
    name: str
    module: Any
    width: int = 0  # of its hidden states
    tokens_first: bool = False
    skipped: str = ""


@dataclass
class Calls:
    """Of one stack in one setting."""

    stack: Stack
    setting: Setting
    _recorded: OrderedDict[Any, dict[str, dict[str, Any]]] = field(default_factory=OrderedDict)

    def __deepcopy__(self, memory: Any) -> Calls:
        """A copy of a module asks the same model for its words."""
        return self

    def words(
        self, place: Place, size: tuple[int, int], mask: Any = None, positions: Any = None
    ) -> dict[str, Any]:
        """The keywords for `size` (texts, tokens)."""
        if not self.stack.reads_texts:
            return self._without_size(place)
        key = (size, _bytes(mask), _bytes(positions))
        if key not in self._recorded:
            self._recorded[key] = self._run(size, {MASK: mask, POSITIONS: positions})
            if len(self._recorded) > _KEPT:
                self._recorded.popitem(last=False)
        return self._recorded[key][place.name]

    def _without_size(self, place: Place) -> dict[str, Any]:
        """What does not read texts has one size; its words serve others where no array is among
        them."""
        if not self._recorded:
            self._recorded[None] = self._run(None, {})
        words = self._recorded[None][place.name]
        if any(isinstance(value, torch.Tensor) for value in words.values()):
            raise Refusal("its keywords cannot be made for another number of tokens")
        return words

    def _run(self, size: tuple[int, int] | None, options: dict[str, Any]) -> Any:
        first_calls = {}
        with _watched(self.stack.model) as seen:
            self._forward(size, options)
        for name, module, arguments, words in seen:
            if name not in first_calls:
                first_calls[name] = _bound(module, arguments, words)[1]
        return first_calls

    def _forward(self, size: tuple[int, int] | None, options: dict[str, Any]) -> None:
        model = self.stack.model
        if size is None:
            given = self.stack.own_input()
        else:
            numbers = self.stack.embeddings(np.random.default_rng(0), *size)
            embeddings = torch.from_numpy(numbers).to(model.device, model.dtype)
            given = {EMBEDDINGS: embeddings} | self.stack.without_cache
        for means, value in options.items():
            if value is not None:
                given[self.stack.takes[means]] = value
        with self.setting.in_place(), in_mode(model, Options()), torch.no_grad():
            model(**given)

    def places(self) -> list[Place]:
        """The attention modules that run, in the order in which they do."""
        size = (_TEXTS, _TOKENS) if self.stack.reads_texts else None
        with _watched(self.stack.model) as seen:
            self._forward(size, {})
        names = list(dict.fromkeys(name for name, *_ in seen))
        inner = [n for n in names if not any(o.startswith(f"{n}.") for o in names)]
        calls = {name: call for name, *call in reversed(seen)}
        return [_place(i, name, size, *calls[name]) for i, name in enumerate(inner)]


def _place(index: int, name: str, size: Any, module: Any, arguments: Any, words: Any) -> Place:
    states, others = _bound(module, arguments, words)
    if states is None or states.ndim != 3:
        return Place(index, name, module, skipped="it is not called on hidden states")
    if any(others.get(word) is not None for word in _OTHER_STATES):
        return Place(index, name, module, skipped="it reads the states of another stack")
    turned = size is not None and tuple(states.shape[:2]) == (size[1], size[0])
    if size is not None and not turned and tuple(states.shape[:2]) != size:
        shape = tuple(states.shape)
        return Place(index, name, module, skipped=f"its hidden states have the shape {shape}")
    return Place(index, name, module, width=int(states.shape[-1]), tokens_first=turned)


@contextmanager
def _watched(model: Any) -> Iterator[list[Any]]:
    """Every call of an attention module while it is open: name, module, arguments, keywords."""
    seen: list[Any] = []
    handles = []
    for name, module in model.named_modules():
        if name and is_attention(module):

            def remember(module: Any, arguments: Any, words: Any, name: str = name) -> None:
                seen.append((name, module, arguments, words))

            handles.append(module.register_forward_pre_hook(remember, with_kwargs=True))
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def is_attention(module: Any) -> bool:
    """By the name of its class or of one that it extends."""
    names = [kind.__name__.lower() for kind in type(module).__mro__]
    return any("attention" in name or "attn" in name for name in names)


def _bound(module: Any, arguments: Any, words: Any) -> tuple[Any, dict[str, Any]]:
    """The hidden states of a call, and everything else by name."""
    try:
        bound = inspect.signature(module.forward).bind(*arguments, **words)
    except TypeError:
        return None, {}
    kinds = inspect.signature(module.forward).parameters
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if kinds[name].kind is inspect.Parameter.VAR_KEYWORD:
            named |= value
        elif kinds[name].kind is not inspect.Parameter.VAR_POSITIONAL:
            named[name] = value
    first = next(iter(named), "")
    states = named.pop(first, None)
    for name in _ADDED:
        if named.get(name) is not None:
            named[name] = torch.zeros_like(named[name])
    return (states if isinstance(states, torch.Tensor) else None), named


def _bytes(array: Any) -> bytes | None:
    return None if array is None else np.asarray(array.cpu()).tobytes()
