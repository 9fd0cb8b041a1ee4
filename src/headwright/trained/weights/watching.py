"""Hooks for one probing pass: hidden states replaced where attention begins, and what is done with
the answer of the attention function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from headwright.trained.library import torch
from headwright.types import Array, Float

# By the stack of a layer and its number there.
Place = tuple[str, int]
# Hidden states of this size, so that the small number a norm adds to their mean square is nothing;
# and how far a norm may answer differently to twice as much, in half precision too.
_LARGE = 64.0
_SAME = 0.02


@dataclass
class Probe:
    """What is put into one attention layer, and what is found. Both are an identity, zeros, and as
    the last row but one a random vector."""

    place: Place
    module: Any
    inputs: Float[Array, "b m"]
    answers: Float[Array, "b h v"]
    scale: Float[Array, "m"] | None = None
    found: dict[str, Array | None] = field(default_factory=dict)


def linear_maps(x: Float[Array, "b m"], y: Float[Array, "b h d"]) -> Float[Array, "h m d"] | None:
    """The maps from a probe's rows x to each y[:, i], less their biases; None if they are not
    linear."""
    if y.shape[0] != x.shape[0]:
        return None
    eps = torch.finfo(x.dtype).eps
    wide = torch.promote_types(x.dtype, torch.float32)
    y = y.to(wide)
    bias = y[-1]
    maps = y[: x.shape[1]] - bias

    expected = torch.einsum("m,mhd->hd", x[-2].to(wide), maps) + bias
    off = (y[-2] - expected).abs().max()
    linear = bool(off <= eps**0.5 * y[-2].abs().max())
    return maps.permute(1, 0, 2).contiguous() if linear else None


@dataclass
class Watch:
    """`answered`: the layer whose attention function spoke last. `normed`: the last norm and what
    it gave."""

    answered: Probe | None = None
    normed: tuple[Any, Array] | None = None


@contextmanager
def watched(model: Any, by_module: Mapping[Any, Probe]) -> Iterator[Watch]:
    """`model` with the hooks on; they are taken off whatever happens."""
    watch = Watch()

    def before(module: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return _replaced(by_module[module], watch, given, named)

    def after(module: Any, given: tuple[Any, ...], output: Any) -> None:
        if given and isinstance(given[0], torch.Tensor) and isinstance(output, torch.Tensor):
            _look_at(module, given[0], output, watch)

    with ExitStack() as hooks:
        for module in by_module:
            hook = module.register_forward_pre_hook(before, with_kwargs=True)
            hooks.callback(hook.remove)
        for module in model.modules():
            hooks.callback(module.register_forward_hook(after).remove)
        yield watch


def _replaced(
    probe: Probe, watch: Watch, given: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of an attention module with the probe's rows as hidden states."""
    watch.answered = None
    own = given[0] if given else named["hidden_states"]
    if watch.normed is not None:
        norm, output = watch.normed
        if output.data_ptr() == own.data_ptr():
            probe.scale = norm_scale(norm, own)

    rows = probe.inputs.to(own.dtype).reshape(own.shape)
    if given:
        return (rows, *given[1:]), named
    return given, named | {"hidden_states": rows}


def _look_at(module: Any, x: Array, y: Array, watch: Watch) -> None:
    """A norm is remembered for the attention after it. A module fed with the attention function's
    answer may be W_O: the outermost linear one is, with whatever adapters are inside."""
    weight = getattr(module, "weight", None)
    if weight is not None and weight.ndim == 1 and x.shape == y.shape:
        watch.normed = module, y

    probe = watch.answered
    if probe is None or x.numel() != probe.answers.numel():
        return
    answers = probe.answers.reshape(probe.answers.shape[0], -1)
    if torch.equal(x.reshape(answers.shape), answers):
        maps = linear_maps(answers, y.reshape(answers.shape[0], 1, -1))
        if maps is not None:
            probe.found["W_O"] = maps[0]


def norm_scale(norm: Any, like: Array) -> Float[Array, "m"] | None:
    """The scale of a norm: s (N(s) - N(-s)) / 2 for signs s, which have mean 0 and size 1. None if
    the module is no norm: twice as much would give something else."""
    m = like.shape[-1]
    signs = 1.0 - 2.0 * (torch.arange(m, device=like.device) % 2)
    large = _LARGE * signs
    given = torch.stack([large, -large, 2.0 * large]).to(like.dtype)
    wide = torch.promote_types(like.dtype, torch.float32)
    up, down, twice = norm.forward(given[:, None, :])[:, 0, :].to(wide)
    if not bool((up - twice).abs().max() <= _SAME * up.abs().max()):
        return None
    return signs.to(wide) * (up - down) / 2.0
