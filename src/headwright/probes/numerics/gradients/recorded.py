"""The gradient of <u, f(x)> as the layer's library records it.

The layer's own call is used, with a function in the place of its function that differentiates on
the way: arrays, keywords and mode are those of every other call.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from headwright.probes.layer.calling import first_array
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options, Refusal
from headwright.probes.layer.library import is_torch_module, numbers
from headwright.probes.layer.mode import in_mode


class NoBackward(Refusal):
    """The forward pass went well, the backward pass raised."""


class NoRecord(Refusal):
    """The output carries no gradient."""


@dataclass
class Gradient:
    """By the names of the inputs, and by the names of the parameters; None where nothing came
    back."""

    inputs: dict[str, np.ndarray | None]
    parameters: dict[str, np.ndarray | None] = field(default_factory=dict)


def output_of(layer: Any, given: Inputs, options: Options) -> np.ndarray:
    """As the library's array has it, tokens first or not."""
    return numbers(first_array(layer.raw(given, options)))


def gradient(layer: Any, given: Inputs, u: np.ndarray, options: Options) -> Gradient:
    """`u` has the shape of `output_of`."""
    tap = _Tap(layer, u, options)
    try:
        replace(layer, function=tap).raw(given, options)
    except Refusal as reason:
        if tap.recorded is False:
            raise NoRecord("the output carries no gradient") from reason
        if tap.went_forward:
            raise NoBackward(str(reason)) from reason
        raise
    names = ("q", "k", "v") if layer.form == "qkv" else ("x",)
    turned = [None if a is None else turned_back(layer, a) for a in tap.by_input]
    return Gradient(dict(zip(names, turned, strict=True)), tap.by_parameter)


def turned_back(layer: Any, array: np.ndarray) -> np.ndarray:
    if not layer.tokens_first:
        return array
    return np.swapaxes(array, 1, 2) if layer.form == "qkv" else np.swapaxes(array, 0, 1)


class _Tap:
    """Called in the place of the layer's function."""

    def __init__(self, layer: Any, u: np.ndarray, options: Options) -> None:
        self.layer = layer
        self.u = u
        self.options = options
        self.went_forward = False
        self.recorded: bool | None = None
        self.by_input: list[np.ndarray | None] = []
        self.by_parameter: dict[str, np.ndarray | None] = {}

    def __call__(self, *arrays: Any, **words: Any) -> Any:
        with in_mode(self.layer.function, self.options):
            if self.layer.library == "jax":
                return self._jax(arrays, words)
            return self._torch(arrays, words)

    def _torch(self, arrays: tuple[Any, ...], words: dict[str, Any]) -> Any:
        import torch

        unique = list({id(a): a for a in arrays}.values())
        leaves = [a.detach().clone().requires_grad_() for a in unique]
        # Not the leaves themselves: a layer may write into hidden states, which are none.
        passed = {id(a): leaf * 1 for a, leaf in zip(unique, leaves, strict=True)}
        function = self.layer.function
        named = dict(function.named_parameters()) if is_torch_module(function) else {}
        named = {name: p for name, p in named.items() if p.requires_grad}
        with torch.enable_grad():
            made = function(*[passed[id(a)] for a in arrays], **words)
            output = first_array(made)
            self.went_forward = True
            self.recorded = bool(output.requires_grad)
            if not self.recorded:
                raise RuntimeError("no gradient")
            weight = torch.from_numpy(self.u).to(dtype=output.dtype, device=output.device)
            asked = [*leaves, *named.values()]
            found = torch.autograd.grad((output * weight).sum(), asked, allow_unused=True)
        given = [None if g is None else numbers(g.detach()) for g in found]
        self.by_input = given[: len(leaves)]
        self.by_parameter = dict(zip(named, given[len(leaves) :], strict=True))
        return made

    def _jax(self, arrays: tuple[Any, ...], words: dict[str, Any]) -> Any:
        import jax
        import jax.numpy as jnp

        def function(*inputs: Any) -> Any:
            return first_array(self.layer.function(*inputs, **words))

        output, pull = jax.vjp(function, *arrays)
        self.went_forward = True
        self.recorded = True
        self.by_input = [numbers(g) for g in pull(jnp.asarray(self.u, dtype=output.dtype))]
        return output
