"""How a model calls its attention modules: the keywords they get for so many texts and tokens, this
padding and these positions. Recorded by running the model, so that a module can be run alone on
other hidden states exactly as the model runs it.

Rejected: making masks and rotations here, which would be a second copy of what is to be examined.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.probes.layer.layer import MASK, POSITIONS, Options, Refusal
from headwright.probes.layer.mode import in_mode
from headwright.probes.models.recording.settings import Setting
from headwright.probes.models.recording.stacks import EMBEDDINGS, Stack
from headwright.probes.models.recording.watching import AllSeen, watched
from headwright.trained.library import torch

# Recorded calls that are kept; probes of one layer ask for a few dozen, and for the same ones in
# the next layer.
_KEPT = 256
# Two texts of six tokens tell the axes of hidden states apart.
_TEXTS = 2
_TOKENS = 6
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
    """Of one stack in one setting, on texts of so many tokens where it makes no difference."""

    stack: Stack
    setting: Setting
    tokens: int = _TOKENS
    _same: dict[str, str] = field(default_factory=dict, repr=False)
    _recorded: OrderedDict[Any, dict[str, dict[str, Any]]] = field(
        default_factory=OrderedDict, repr=False
    )

    @property
    def modules(self) -> list[str]:
        """The names of the attention modules, once they have been looked for."""
        return list(self._same)

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
            self._recorded[key] = self._first_calls(size, {MASK: mask, POSITIONS: positions})
            if len(self._recorded) > _KEPT:
                self._recorded.popitem(last=False)
        return self._recorded[key][self._same[place.name]]

    def _without_size(self, place: Place) -> dict[str, Any]:
        """What does not read texts has one size; its words serve others where no array is among
        them."""
        if not self._recorded:
            self._recorded[None] = self._first_calls(None, {})
        words = self._recorded[None][self._same[place.name]]
        if any(isinstance(value, torch.Tensor) for value in words.values()):
            raise Refusal("its keywords cannot be made for another number of tokens")
        return words

    def _first_calls(self, size: tuple[int, int] | None, options: dict[str, Any]) -> Any:
        """The words of every module whose words are its own; the run ends after the last of
        them."""
        wanted = set(self._same.values())
        seen = self._run(size, options, wanted)
        found = {name: _bound(*call)[1] for name, *call in reversed(seen) if name in wanted}
        if set(found) != wanted:
            raise Refusal("it was not called")
        return found

    def _run(self, size: Any, options: dict[str, Any], wanted: set[str]) -> list[Any]:
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
        with watched(model, wanted) as seen:
            self._forward(given)
        return seen

    def _forward(self, given: dict[str, Any]) -> None:
        model = self.stack.model
        in_place = self.setting.in_place()
        with suppress(AllSeen), in_place, in_mode(model, Options()), torch.no_grad():
            model(**given)

    def places(self) -> list[Place]:
        """The attention modules that run, in the order in which they do."""
        size = (_TEXTS, self.tokens) if self.stack.reads_texts else None
        options = {}
        if size is not None and MASK in self.stack.takes:
            # With padding, and past any window: layers of two kinds are then given two masks.
            options[MASK] = torch.ones(size, dtype=torch.long, device=self.stack.model.device)
            options[MASK][0, -1] = 0
        seen = self._run(size, options, set())
        names = list(dict.fromkeys(name for name, *_ in seen))
        inner = [n for n in names if not any(o.startswith(f"{n}.") for o in names)]
        calls = {name: call for name, *call in reversed(seen)}
        self._same = _representatives({name: _bound(*calls[name])[1] for name in inner})
        return [_place(i, name, size, *calls[name]) for i, name in enumerate(inner)]


def _representatives(words: dict[str, dict[str, Any]]) -> dict[str, str]:
    """For each module the first one that is given the same words, the arrays being the same
    objects."""
    firsts: dict[Any, str] = {}
    found = {}
    for name, its in words.items():
        key = tuple(sorted((word, _identity(value)) for word, value in its.items()))
        found[name] = firsts.setdefault(key, name)
    return found


def _identity(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(_identity(part) for part in value)
    return f"array {id(value)}" if isinstance(value, torch.Tensor) else repr(value)


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


def holds_numbers(value: Any) -> bool:
    """An array of floating-point numbers, or a tuple of them."""
    if isinstance(value, tuple):
        return any(holds_numbers(part) for part in value)
    return isinstance(value, torch.Tensor) and value.is_floating_point()
