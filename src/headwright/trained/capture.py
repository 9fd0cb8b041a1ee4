"""Queries, keys and values of every attention layer, as the model itself uses them.

A function registered with transformers' attention interface sees q, k, v after position rotation,
query-key norms, the split of fused projections and the cache, with the true scale; the mask
function registered under the same name makes the library build the masks. Rejected: hooks on the
projections. They see q and k before the rotation and need one splitting rule per model family.

The function replaces the attention of the model, so that a layer's logits are computed once, for
the measures and for the output. `verify` therefore compares the tapped output with the untouched
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from headwright.errors import InputError
from headwright.trained.heads import Heads
from headwright.trained.library import torch, transformers
from headwright.types import Array

_NAME = "headwright"

# How modules that read another stack's tokens are called across the library.
_CROSS = ("encdec", "encoder_attn", "crossattention", "cross_attn", "cross_attention")
# Module names that tell two stacks of one model apart; alone they mean nothing (BERT is all
# "encoder").
_STACKS = {
    True: ("encoder", "decoder"),
    False: ("vision_model", "text_model", "vision_tower", "language_model"),
}


@dataclass(frozen=True)
class Layer:
    """One attention layer of one forward pass: `q` (b, h, t, d), `k` and `v` (b, h/g, n, .), and
    what is done to the logits. `stack` says where it sits ("encoder", "decoder", "cross", "model"),
    `index` counts from 0 there."""

    stack: str
    index: int
    module: str
    q: Array
    k: Array
    v: Array
    scale: float
    causal: bool
    mask: Array | None
    bias: Array | None
    softcap: float | None

    def __repr__(self) -> str:
        shapes = ", ".join(
            f"{name} {tuple(x.shape)}" for name, x in (("q", self.q), ("k", self.k), ("v", self.v))
        )
        return f"<Layer {self.index} of {self.stack} ({self.module}): {shapes}>"

    def text(self, b: int) -> Heads:
        """The heads of the b-th text of the batch."""

        def one(x: Array | None) -> Array | None:
            return None if x is None else x[b if x.shape[0] > 1 else 0]

        return Heads(
            q=self.q[b], k=self.k[b], v=self.v[b], scale=self.scale, causal=self.causal,
            mask=one(self.mask), bias=one(self.bias), softcap=self.softcap,
        )  # fmt: skip


Visit = Callable[[Layer], Array]


class Refused(InputError):
    """This model's attention cannot be audited, and why."""


@dataclass
class _Tap:
    names: dict[int, str]
    stacks: tuple[str, ...]
    visit: Visit
    calls: dict[str, int]

    def place(self, module: Any) -> tuple[str, int, str]:
        name = self.names.get(id(module), type(module).__name__)
        stack = _stack(name, self.stacks)
        index = self.calls.get(stack, 0)
        self.calls[stack] = index + 1
        return stack, index, name


_tap: ContextVar[_Tap] = ContextVar("headwright_tap")


def _stack(name: str, stacks: tuple[str, ...]) -> str:
    low = name.lower()
    if any(word in low for word in _CROSS):
        return "cross"
    return next((word for word in stacks if word in low.split(".")), "model")


def _attention(
    module: Any,
    query: Array,
    key: Array,
    value: Array,
    attention_mask: Array | None = None,
    **told: Any,
) -> tuple[Array, None]:
    """What transformers calls instead of its own attention. Unknown words in `told` that change the
    logits would show in `verify`."""
    tap = _tap.get()
    stack, index, name = tap.place(module)
    if told.get("s_aux") is not None:
        raise Refused(
            wanted="attention whose weights over the keys sum to 1",
            got=f"learned sinks in {name}: part of every row goes to no key",
            attempt="audit a model without learned sinks",
        )
    _refuse_nan(f"layer {index} ({name})", query, key, value)
    # As in the library's own SDPA function: no mask can still mean causal.
    causal = told.get("is_causal")
    causal = getattr(module, "is_causal", True) if causal is None else causal
    causal = bool(causal) and attention_mask is None and query.shape[2] > 1
    if causal and key.shape[2] > query.shape[2]:
        key, value = key[:, :, : query.shape[2]], value[:, :, : query.shape[2]]
    mask, bias = _mask_and_bias(attention_mask, told.get("position_bias"), key.shape[2])
    scale = told.get("scaling")
    layer = Layer(
        stack, index, name, query, key, value,
        scale=float(query.shape[-1] ** -0.5 if scale is None else scale),
        causal=causal, mask=mask, bias=bias, softcap=told.get("softcap"),
    )  # fmt: skip
    output = tap.visit(layer)
    return output.to(value.dtype).transpose(1, 2).contiguous(), None


def _refuse_nan(where: str, *arrays: Array) -> None:
    if not all(bool(torch.isfinite(x.sum(dtype=torch.float32))) for x in arrays):
        raise InputError(
            wanted="finite activations",
            got=f"NaN or infinity in {where}",
            attempt="load the weights again, or in float32: half precision overflows in some models",
        )


def _mask_and_bias(
    mask: Array | None, bias: Array | None, n: int
) -> tuple[Array | None, Array | None]:
    if mask is not None and mask.dtype != torch.bool:
        # An additive mask: entries near the dtype's lowest number hide a key, the rest is a bias.
        seen = mask > torch.finfo(mask.dtype).min / 2
        soft = torch.where(seen, mask, 0.0)
        mask, bias = seen, soft if bias is None else bias + soft
    return (
        None if mask is None else mask[..., :n],
        None if bias is None else bias[..., :n],
    )


def _mask(*arguments: Any, **told: Any) -> Any:
    return transformers.masking_utils.sdpa_mask(*arguments, **told)


@contextmanager
def _tapped(model: transformers.PreTrainedModel, visit: Visit) -> Iterator[_Tap]:
    """`model` with our attention in place; whatever happens inside, it leaves as it came."""
    transformers.AttentionInterface.register(_NAME, _attention)
    transformers.masking_utils.AttentionMaskInterface.register(_NAME, _mask)
    configs = {
        id(m.config): m.config
        for m in model.modules()
        if isinstance(m, transformers.PreTrainedModel)
    }
    before = {i: config._attn_implementation_internal for i, config in configs.items()}
    training = model.training
    stacks = _STACKS[bool(model.config.is_encoder_decoder)]
    tap = _Tap({id(m): name for name, m in model.named_modules()}, stacks, visit, {})
    token = _tap.set(tap)
    try:
        model.eval()
        model.set_attn_implementation(_NAME)
        with torch.inference_mode():
            yield tap
    finally:
        _tap.reset(token)
        for i, config in configs.items():
            config._attn_implementation_internal = before[i]
        model.train(training)


def run(model: Any, batch: Mapping[str, Any], visit: Visit) -> Any:
    """One forward pass of `model` on `batch`; `visit` gets each attention layer in turn and returns
    its output (b, h, t, v). Nothing of a layer is kept after its turn. Returns the model's output.
    """
    _refuse_own_code(model)
    with _tapped(model, visit) as tap:
        output = model(**batch, **_without_cache(model))
    if not tap.calls:
        raise Refused(
            wanted="attention layers that call the registered function",
            got=f"none in {type(model).__name__}",
            attempt="a model family that supports SDPA through the interface",
        )
    return output


def _refuse_own_code(model: Any) -> None:
    if not isinstance(model, transformers.PreTrainedModel):
        raise Refused(
            wanted="a transformers model",
            got=type(model).__name__,
            attempt="AutoModel.from_pretrained(folder)",
        )
    if not model._can_set_attn_implementation():
        raise Refused(
            wanted="a model that uses transformers' attention interface",
            got=f"{type(model).__name__}, which computes attention in its own code",
            attempt="a newer transformers, or a model family that supports SDPA through the interface",
        )


def _without_cache(model: transformers.PreTrainedModel) -> dict[str, bool]:
    # A key-value cache would keep every layer's keys alive.
    return {"use_cache": False} if hasattr(model.config, "use_cache") else {}


def verify(model: Any, batch: Mapping[str, Any], visit: Visit) -> float:
    """Largest difference between the tapped and the untouched model's output, relative to its size.
    Refuses the model when that is more than rounding."""
    _refuse_own_code(model)
    plain = _tensors(_untouched(model, batch))
    tapped = _tensors(run(model, batch, visit))
    _refuse_nan(f"the output of {type(model).__name__}", *plain)
    difference = max(_difference(a, b) for a, b in zip(tapped, plain, strict=True))
    # sqrt(eps): rounding over all layers stays below it, a forgotten mask or soft cap does not.
    # Never finer than single precision, in which some of the library's own functions take the
    # softmax of a double model.
    eps = max(torch.finfo(model.dtype).eps, torch.finfo(torch.float32).eps)
    if not difference <= eps**0.5:
        raise Refused(
            wanted="the model's own output from its captured queries, keys and values",
            got=f"a relative difference of {difference:.2g} in {type(model).__name__}",
            attempt="report the model family: it does something to the logits that the interface does not tell",
        )
    return difference


def _untouched(model: Any, batch: Mapping[str, Any]) -> Any:
    """The model's own output. What it cannot run on, it says itself, and no later step could."""
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            return model(**batch, **_without_cache(model))
    except Exception as reason:
        said = (str(reason).splitlines() or [""])[0][:160]
        raise InputError(
            wanted=f"what {type(model).__name__} runs on",
            got=f"{', '.join(batch) or 'nothing'}, to which it answers {type(reason).__name__}: {said}",
            attempt="in Python: hw.audit(model, {name: tensor, ...}) with the model's own arguments",
        ) from None
    finally:
        model.train(training)


def _tensors(output: Any) -> list[Array]:
    flat = output.to_tuple() if hasattr(output, "to_tuple") else tuple(output)
    return [x for x in flat if isinstance(x, torch.Tensor) and x.is_floating_point()]


def _difference(a: Array, b: Array) -> float:
    return float((a - b).abs().max() / b.abs().max().clamp_min(torch.finfo(b.dtype).tiny))
