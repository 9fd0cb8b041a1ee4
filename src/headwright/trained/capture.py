"""Queries, keys and values of every attention layer, as the model itself uses them.

A function registered with transformers' attention interface sees q, k, v after position rotation,
query-key norms, the split of fused projections and the cache, with the true scale; the mask
function registered under the same name makes the library build the masks. Rejected: hooks on the
projections. They see q and k before the rotation and need one splitting rule per model family.
Families that do not ask the interface have an adapter that calls the same function (`own_code/`).

The function replaces the attention of the model, so that a layer's logits are computed once, for
the measures and for the output. `verify` therefore compares the tapped output with the untouched
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from headwright.errors import InputError
from headwright.trained.device.finite import Finite
from headwright.trained.heads import Layer
from headwright.trained.library import torch, transformers
from headwright.trained.own_code.adapter import visible
from headwright.trained.own_code.table import adapted, has_adapter
from headwright.types import Array

_NAME = "headwright"

# How modules that read another stack's tokens are called across the library.
_CROSS = ("encdec", "encoder_attn", "crossattention", "cross_attn", "cross_attention")
# Module names that tell two stacks of one model apart; alone they mean nothing (BERT is all
# "encoder"). By whether the model has an encoder and a decoder.
_STACKS = {
    True: ("encoder", "decoder"),
    False: ("vision_model", "text_model", "vision_tower", "language_model"),
}


Visit = Callable[[Layer], Array]


class Refused(InputError):
    """This model's attention cannot be audited, and why."""


@dataclass
class _Tap:
    """What our attention function needs to know of the model that calls it: its modules' names by
    their id, its stacks, whom to tell, how many layers of each stack were there already, and what
    must turn out to be finite."""

    names: dict[int, str]
    stacks: tuple[str, ...]
    visit: Visit
    calls: dict[str, int]
    finite: Finite = field(default_factory=Finite)

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
    parts = low.split(".")
    return next((stack for stack in stacks if stack in parts), "model")


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
    sinks = told.get("s_aux")
    learned = () if sinks is None else (sinks,)
    tap.finite.expect(f"layer {index} ({name})", query, key, value, *learned)
    causal = _is_causal(module, query, attention_mask, told.get("is_causal"))
    if causal:
        # No query sees the keys after the last of them.
        key = key[:, :, : query.shape[2]]
        value = value[:, :, : query.shape[2]]
    shape = (query.shape[2], key.shape[2])
    mask, bias = _mask_and_bias(attention_mask, told.get("position_bias"), shape)
    scale = told.get("scaling")
    layer = Layer(
        stack=stack,
        index=index,
        module=name,
        q=query,
        k=key,
        v=value,
        scale=float(query.shape[-1] ** -0.5 if scale is None else scale),
        causal=causal,
        mask=mask,
        bias=bias,
        softcap=told.get("softcap"),
        sinks=sinks,
        bias_reads_keys=told.get("bias_reads_keys", False),
    )
    output = tap.visit(layer).to(value.dtype)
    return output.transpose(1, 2).contiguous(), None


def _attend(*arguments: Any, **told: Any) -> Array:
    """The output alone, for the adapters."""
    return _attention(*arguments, **told)[0]


def _is_causal(module: Any, query: Array, mask: Array | None, told: bool | None) -> bool:
    """As in the library's own SDPA function: no mask can still mean causal."""
    if mask is not None or query.shape[2] == 1:
        return False
    return bool(getattr(module, "is_causal", True) if told is None else told)


def _mask_and_bias(
    mask: Array | None, bias: Array | None, shape: tuple[int, int]
) -> tuple[Array | None, Array | None]:
    if mask is not None and mask.dtype != torch.bool:
        # An additive mask: entries near the dtype's lowest number hide a key, the rest is a bias.
        seen = visible(mask)
        soft = torch.where(seen, mask, 0.0)
        mask = seen
        if bool(soft.any()):
            bias = soft if bias is None else bias + soft
    return _of_shape(mask, shape), _of_shape(bias, shape)


def _of_shape(x: Array | None, shape: tuple[int, int]) -> Array | None:
    """Without the keys that no query sees, and with a row for every query."""
    return None if x is None else x[..., : shape[1]].expand(-1, -1, *shape)


def _mask(*arguments: Any, **told: Any) -> Any:
    return transformers.masking_utils.sdpa_mask(*arguments, **told)


@contextmanager
def _tapped(
    model: transformers.PreTrainedModel, modules: dict[str, Any], visit: Visit
) -> Iterator[_Tap]:
    """`model` with our attention in place; whatever happens inside, it leaves as it came."""
    transformers.AttentionInterface.register(_NAME, _attention)
    transformers.masking_utils.AttentionMaskInterface.register(_NAME, _mask)
    configs = {id(part.config): part.config for part in _models(modules.values())}
    before = {i: config._attn_implementation_internal for i, config in configs.items()}
    names = {id(module): name for name, module in modules.items()}
    training = [module for module in modules.values() if module.training]
    stacks = _STACKS[bool(model.config.is_encoder_decoder)]
    tap = _Tap(names, stacks, visit, {})
    token = _tap.set(tap)
    try:
        _set_training(training, False)
        if model._can_set_attn_implementation():
            model.set_attn_implementation(_NAME)
        with adapted(modules.values(), _attend), torch.inference_mode():
            yield tap
    finally:
        _tap.reset(token)
        for i, config in configs.items():
            config._attn_implementation_internal = before[i]
        _set_training(training, True)


def _set_training(modules: list[Any], mode: bool) -> None:
    """Of these alone: `model.eval()` writes to every module, which a short forward on a GPU waits
    for."""
    for module in modules:
        module.training = mode


def run(
    model: Any,
    arguments: Mapping[str, Any],
    visit: Visit,
    *,
    before_waiting: Callable[[], None] | None = None,
) -> Any:
    """One forward pass of `model` on its own `arguments`; `visit` gets each attention layer in turn
    and returns its output (b, h, t, v). Nothing of a layer is kept after its turn. Returns the
    model's output.

    Nothing here waits for a GPU but the last line; what `before_waiting` asks of it is done when
    that wait is over."""
    modules = _own_modules(model)
    with _tapped(model, modules, visit) as tap:
        output = model(**arguments, **_without_cache(model))
        if before_waiting is not None:
            before_waiting()
        tap.finite.refuse()
    if not tap.calls:
        raise Refused(
            wanted="attention layers that call the registered function",
            got=f"none in {type(model).__name__}",
            attempt="a model family that supports SDPA through the interface",
        )
    return output


def _own_modules(model: Any) -> dict[str, Any]:
    """All modules by their names: one walk, since a GPU waits for it. A model that computes its
    attention where we cannot see it is refused."""
    if not isinstance(model, transformers.PreTrainedModel):
        raise Refused(
            wanted="a transformers model",
            got=type(model).__name__,
            attempt="AutoModel.from_pretrained(folder)",
        )
    modules = dict(model.named_modules())
    for part in _models(modules.values()):
        if not part._can_set_attn_implementation() and not has_adapter(part):
            raise Refused(
                wanted="a model that uses transformers' attention interface, or has an adapter",
                got=f"{type(part).__name__}, which computes attention in its own code",
                attempt="loading it with attn_implementation='eager', a newer transformers, "
                "or another family",
            )
    return modules


def _models(modules: Iterable[Any]) -> list[transformers.PreTrainedModel]:
    """The model and those it is made of."""
    return [module for module in modules if isinstance(module, transformers.PreTrainedModel)]


def _without_cache(model: transformers.PreTrainedModel) -> dict[str, bool]:
    # A key-value cache would keep every layer's keys alive.
    return {"use_cache": False} if hasattr(model.config, "use_cache") else {}


def verify(model: Any, arguments: Mapping[str, Any], visit: Visit) -> float:
    """Largest difference between the tapped and the untouched model's output, relative to its size.
    Refuses the model when that is more than rounding."""
    _own_modules(model)
    plain = _tensors(_untouched(model, arguments))
    tapped = _tensors(run(model, arguments, visit))
    Finite().expect(f"the output of {type(model).__name__}", *plain).refuse()
    difference = max(_difference(a, b) for a, b in zip(tapped, plain, strict=True))
    # sqrt(eps): rounding over all layers stays below it, a forgotten mask or soft cap does not.
    # Never finer than single precision, in which some of the library's own functions take the
    # softmax of a double model.
    single = torch.finfo(torch.float32).eps
    eps = max(torch.finfo(model.dtype).eps, single)
    if not difference <= eps**0.5:
        raise Refused(
            wanted="the model's own output from its captured queries, keys and values",
            got=f"a relative difference of {difference:.2g} in {type(model).__name__}",
            attempt="report the model family: it does something to the logits "
            "that the interface does not tell",
        )
    return difference


def _untouched(model: Any, arguments: Mapping[str, Any]) -> Any:
    """The model's own output. What it cannot run on, it says itself, and no later step could."""
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            return model(**arguments, **_without_cache(model))
    except Exception as reason:
        lines = str(reason).splitlines() or [""]
        answer = f"{type(reason).__name__}: {lines[0][:160]}"
        raise InputError(
            wanted=f"what {type(model).__name__} runs on",
            got=f"{', '.join(arguments) or 'nothing'}, to which it answers {answer}",
            attempt="in Python: hw.audit(model, {name: tensor, ...}) "
            "with the model's own arguments",
        ) from None
    finally:
        model.train(training)


def _tensors(output: Any) -> list[Array]:
    flat = output.to_tuple() if hasattr(output, "to_tuple") else tuple(output)
    return [x for x in flat if isinstance(x, torch.Tensor) and x.is_floating_point()]


def _difference(a: Array, b: Array) -> float:
    """Largest of |a - b|, relative to the largest of |b|."""
    size = b.abs().max().clamp_min(torch.finfo(b.dtype).tiny)
    return float((a - b).abs().max() / size)
