"""The same layer in another dtype, made by copying: what the user gave is never changed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from headwright.probes.layer.layer import Layer, Refusal
from headwright.probes.layer.library import EPS, is_torch_module, jax_has_doubles

# The widest first: what a layer refuses is passed over.
_WIDTHS = ("float64", "float32")


def widest(layer: Layer) -> Layer:
    """In the widest dtype that it takes, its own at worst."""
    for dtype in _WIDTHS:
        if EPS[dtype] >= layer.eps:
            break
        try:
            made = in_dtype(layer, dtype)
            output = made.run(made.draw(np.random.default_rng(0)))
        except Refusal:
            continue
        if np.isfinite(output).all():
            return made
    return layer


def in_dtype(layer: Any, dtype: str) -> Any:
    """A layer of the same form whose arrays and parameters have this dtype."""
    lib = replace(layer.lib, dtype=dtype)
    if lib.name == "jax" and dtype == "float64" and not jax_has_doubles():
        raise Refusal("JAX has double precision only where it is switched on")
    if not is_torch_module(layer.function):
        return replace(layer, lib=lib)
    import torch

    try:
        copied = copy.deepcopy(layer.function).to(getattr(torch, dtype))
    except Exception as reason:  # modules that hold what cannot be copied
        raise Refusal(f"the module cannot be copied: {type(reason).__name__}") from reason
    return replace(layer, lib=lib, function=copied)


@contextmanager
def doubles(layer: Layer) -> Iterator[None]:
    """JAX with double precision switched on, inside the block alone."""
    if layer.library != "jax":
        yield
        return
    import jax

    with jax.enable_x64(True):
        yield
