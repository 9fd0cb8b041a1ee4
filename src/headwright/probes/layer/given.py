"""From what the user has to a layer that probes can run: an object, a class, a factory without
arguments, or `module:name`."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.probes.alarm import alarm
from headwright.probes.layer.drawing import Captured, captured
from headwright.probes.layer.function import AttentionFunction
from headwright.probes.layer.hidden import HiddenStates
from headwright.probes.layer.layer import Layer, OutOfTime, Refusal, Sizes
from headwright.probes.layer.library import Library, is_torch_module, libraries_of
from headwright.probes.layer.masks import with_mask_forms, with_positions
from headwright.probes.layer.mode import seeded
from headwright.probes.layer.signature import signature

_EXAMPLE = "headwright xray mylayers:attention --shape 6,32"
_LONGEST = 200  # characters of a reason
_TOKENS = 6
# Of captured inputs, where no shape is given: probes are many, and a stretch shows as much.
_MOST_CAPTURED = 12
# Widths that layers without parameters may want; those of parameters come first.
_WIDTHS = (8, 16, 32, 64, 4, 12, 24, 48, 96, 128, 256, 512, 768, 1024, 10, 20, 6, 2, 1)


def named(name: str) -> Any:
    """What `module:name` is, also from the working directory."""
    module, colon, attribute = name.partition(":")
    parts = [*module.split("."), *attribute.split(".")]
    if not colon or not all(part.isidentifier() for part in parts):
        raise InputError(wanted="module:name", got=repr(name), attempt=_EXAMPLE)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        thing = importlib.import_module(module)
        for part in attribute.split("."):
            thing = getattr(thing, part)
    # Whatever the user's module raises, the answer is the same; an end of the program, too.
    except (Exception, SystemExit) as reason:
        raise InputError(
            wanted=f"an importable {name}",
            got=f"{type(reason).__name__}: {reason}"[:_LONGEST],
            attempt="check module and name, and start from its folder",
        ) from None
    return thing


def layer_of(
    thing: Any,
    *,
    name: str = "",
    shape: tuple[int, int] | None = None,
    dtype: str | None = None,
    inputs: Any = None,
    deadline: float = float("inf"),
) -> Layer:
    """`shape` is tokens and width (head size for a function of q, k and v); `inputs` are captured
    ones, a safetensors file or arrays by name; `deadline` is a reading of time.monotonic."""
    source = captured(inputs)
    with alarm(deadline):
        thing = instance_of(thing)
    label = name or getattr(thing, "__name__", type(thing).__name__)
    forms = [form for lib in libraries_of(thing, dtype) for form in _forms(label, thing, lib)]
    for form in forms:
        form.caller.deadline = deadline
    return _that_runs(forms if source is None else _fed(forms, source), shape)


def _fed(forms: list[Any], source: Captured) -> list[Any]:
    """The forms that take what was captured; its width is the one to try."""
    wanted = "qkv" if "q" in source.arrays else "hidden"
    able = [replace(form, source=source) for form in forms if form.form == wanted]
    if not able:
        got = f"{', '.join(source.arrays)} for {forms[0].name}"
        attempt = "x for a module on hidden states; q, k and v for a function of them"
        raise InputError(wanted="captured inputs that the layer takes", got=got, attempt=attempt)
    return able


def _forms(label: str, thing: Any, lib: Library) -> list[Any]:
    """What it may be, the likeliest first."""
    takes = signature(thing)
    is_module = is_torch_module(thing)
    times = max(len(takes.required), 1) if is_module and takes.wants_three else 1
    turned = not getattr(thing, "batch_first", True)
    hidden = HiddenStates(label, thing, lib, takes, times=times, tokens_first=turned)
    if not takes.wants_three:
        return [hidden]
    function = AttentionFunction(label, thing, lib, takes)
    return [hidden, function] if is_module else [function]


def instance_of(thing: Any) -> Any:
    """Something to call: what `module:name` is, and an instance where a class or a factory without
    arguments was given."""
    if isinstance(thing, str):
        thing = named(thing)
    if not callable(thing):
        raise InputError(
            wanted="a function or a module", got=type(thing).__name__, attempt=_EXAMPLE
        )
    if is_torch_module(thing):
        return thing
    makes = isinstance(thing, type) or _takes_nothing(thing)
    if not makes:
        return thing
    try:
        with seeded():
            made = thing()
    except OutOfTime:
        raise
    except Exception as reason:  # the user's own code
        raise InputError(
            wanted=f"{getattr(thing, '__name__', 'the layer')}() to make a layer",
            got=f"{type(reason).__name__}: {reason}"[:_LONGEST],
            attempt="give an instance, or a function without arguments that makes one",
        ) from None
    if not callable(made):
        raise InputError(
            wanted="a factory that returns a layer", got=type(made).__name__, attempt=_EXAMPLE
        )
    return made


def _takes_nothing(thing: Any) -> bool:
    """A factory has no parameter at all; `def layer(*args)` is a layer."""
    try:
        return not inspect.signature(thing).parameters
    except (TypeError, ValueError):
        return False


def _that_runs(forms: list[Any], shape: tuple[int, int] | None) -> Layer:
    """The first form and size on which the layer answers with one row per token. Where none is,
    the first reason tells most: the likeliest form comes first."""
    reasons: list[str] = []
    for form in forms:
        for sizes in _sizes(form, shape):
            trial = replace(form, sizes=sizes)
            try:
                reason = _refused(trial)
            except OutOfTime:
                raise
            except Refusal as refusal:
                reason = str(refusal)
            if reason is None:
                return with_mask_forms(with_positions(_oriented(trial)))
            reasons.append(reason)
    raise InputError(
        wanted="a layer that runs on (batch, tokens, width), or a function of (q, k, v)",
        got=reasons[0] if reasons else "nothing that could be tried",
        attempt="--shape TOKENS,WIDTH with the sizes it wants",
    )


def _refused(layer: Any) -> str | None:
    given = layer.draw(np.random.default_rng(0), replace(layer.sizes, batch=2))
    output = layer.run(given)
    rows = output.shape[0] == given.batch and output.shape[-2] == given.tokens
    return None if rows else f"an output of shape {output.shape} for {given.tokens} tokens"


def _oriented(layer: Any) -> Layer:
    """A function that mixes along the axis of heads and not along the axis of tokens has them the
    other way round."""
    if layer.form != "qkv" or layer.sizes.tokens == 1:
        return layer
    given = layer.draw(np.random.default_rng(0), replace(layer.sizes, batch=1, heads=3))
    other = given["v"].copy()
    other[:, 0, 0] += 1
    try:
        moved = layer.run(given) != layer.run(given.replaced(v=other))
    except Refusal:
        return layer
    along_heads = bool(moved[:, 1:].any())
    along_tokens = bool(moved[:, :, 1:].any())
    return layer.with_tokens_first() if along_heads and not along_tokens else layer


def _sizes(layer: Any, shape: tuple[int, int] | None) -> Iterator[Sizes]:
    if shape is None and isinstance(layer.source, Captured):
        shape = (min(layer.source.tokens, _MOST_CAPTURED), layer.source.width)
    if shape is not None:
        tokens, width = shape
        yield replace(layer.sizes, tokens=tokens, width=width)
        return
    widths = dict.fromkeys([*_parameter_widths(layer.function), *_WIDTHS])
    if layer.form == "qkv":
        widths = dict.fromkeys((8, *widths))
    for width in widths:
        yield replace(layer.sizes, tokens=_TOKENS, width=width)


def _parameter_widths(thing: Any) -> list[int]:
    """The last axes of its weights, in order: the first that is used takes the hidden states."""
    if not is_torch_module(thing):
        return []
    return [int(p.shape[-1]) for p in thing.parameters() if p.ndim >= 2]
