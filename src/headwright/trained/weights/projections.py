"""The query, key, value and output matrices of every head, as the model itself applies them.

They are not read out of the weights, whose names, order and fusing differ from family to family:
one forward pass is given a batch of one-token texts, and every attention layer an identity in place
of its hidden states. What arrives at the attention function are then the rows of W_Q, W_K and W_V;
the function answers with another identity, and the module that is fed with it shows W_O. One more
random row says whether a map is linear at all: behind a norm of queries or keys it is not.

At position 0 a rotary embedding turns nothing. Rows are multiplied from the left: q = x W_Q.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headwright.errors import InputError
from headwright.trained import capture
from headwright.trained.heads import Layer
from headwright.trained.library import torch
from headwright.trained.weights.watching import Place, Probe, linear_maps, watched
from headwright.types import Array, Float


@dataclass(frozen=True)
class Projections:
    """One layer of `h = heads` query heads on `h/g` key heads, from and to a hidden state of size
    `m`. None where the model applies no linear map. `folded`: the scale of the norm that the hidden
    state comes from is multiplied into W_Q, W_K and W_V."""

    W_Q: Float[Array, "h m d"] | None
    W_K: Float[Array, "hk m d"] | None
    W_V: Float[Array, "hk m v"] | None
    W_O: Float[Array, "h v m"] | None
    heads: int
    folded: bool

    def __repr__(self) -> str:
        named = {name: getattr(self, name) for name in ("W_Q", "W_K", "W_V", "W_O")}
        known = {name: tuple(w.shape) for name, w in named.items() if w is not None}
        return f"<Projections {known}>"


def projections(model: Any) -> dict[Place, Projections]:
    """Of every layer in which a text attends to itself, by its stack and number."""
    if model.main_input_name != "input_ids":
        raise InputError(
            wanted="a model that reads tokens, whose weights can be probed",
            got=f"{type(model).__name__}, which reads {model.main_input_name}",
            attempt="leave --weights (weights= in Python) out",
        )
    with torch.inference_mode():
        probes = _probes(model)
        by_module = {probe.module: probe for probe in probes}
        size = probes[0].inputs.shape[0]

        def visit(layer: Layer) -> Array:
            probe = by_module.get(model.get_submodule(layer.module))
            if probe is None:
                return _own_values(layer)
            for name, x in (("W_Q", layer.q), ("W_K", layer.k), ("W_V", layer.v)):
                probe.found[name] = linear_maps(probe.inputs, x[:, :, 0, :])
            watch.answered = probe
            return probe.answers[:, :, None, :]

        with watched(model, by_module) as watch:
            capture.run(model, _one_token_texts(model, size), visit)
    return {probe.place: _finished(probe) for probe in probes}


def _one_token_texts(model: Any, size: int) -> dict[str, Array]:
    arguments = {"input_ids": torch.ones((size, 1), dtype=torch.long, device=model.device)}
    if model.config.is_encoder_decoder:
        arguments |= {f"decoder_{name}": x for name, x in arguments.items()}
    return arguments


def _own_values(layer: Layer) -> Array:
    """What attention gives where there is one key: its value."""
    return layer.v[:, :, :1].repeat_interleave(layer.q.shape[1] // layer.v.shape[1], dim=1)


def _probes(model: Any) -> list[Probe]:
    """One for every layer of self-attention, all with as many rows: an identity, a random row and
    zeros, both for its hidden state and for what its heads give."""
    seen: list[Layer] = []

    def visit(layer: Layer) -> Array:
        seen.append(layer)
        return _own_values(layer)

    capture.run(model, _one_token_texts(model, 1), visit)
    layers = [layer for layer in seen if layer.stack != "cross"]
    if not layers:
        raise capture.Refused(
            wanted="layers in which a text attends to itself",
            got="none",
            attempt="leave weights out",
        )
    width = model.get_input_embeddings().weight.shape[1]
    given = [layer.q.shape[1] * layer.v.shape[3] for layer in layers]
    size = max(width, *given) + 2
    probes = []
    for layer, outputs in zip(layers, given, strict=True):
        answers = _rows(size, outputs, layer.v)
        probe = Probe(
            place=(layer.stack, layer.index),
            module=model.get_submodule(layer.module),
            inputs=_rows(size, width, layer.q),
            answers=answers.reshape(size, layer.q.shape[1], layer.v.shape[3]),
        )
        probes.append(probe)
    return probes


def _rows(size: int, width: int, like: Array) -> Float[Array, "b m"]:
    """An identity, zeros, and as the last row but one a random vector."""
    rows = torch.zeros((size, width), dtype=like.dtype, device=like.device)
    rows[:width] = torch.eye(width, dtype=like.dtype, device=like.device)
    generator = torch.Generator().manual_seed(0)
    rows[-2] = torch.randn(width, generator=generator).to(rows)
    return rows


def _finished(probe: Probe) -> Projections:
    scale = probe.scale
    read = {name: probe.found.get(name) for name in ("W_Q", "W_K", "W_V")}
    if scale is not None:
        read = {name: None if w is None else scale[:, None] * w for name, w in read.items()}

    _, h, v = probe.answers.shape
    W_O = probe.found.get("W_O")
    if W_O is not None:
        W_O = W_O.reshape(h, v, -1)
    return Projections(**read, W_O=W_O, heads=h, folded=scale is not None)
