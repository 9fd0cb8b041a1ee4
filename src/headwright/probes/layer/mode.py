"""A torch module in evaluation mode, or in training mode with every dropout at 0; afterwards it is
as it was. A function has no mode. Weights that are made on the way are the same every time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from headwright.probes.layer.layer import Options
from headwright.probes.layer.library import is_torch_module


@contextmanager
def in_mode(thing: Any, options: Options) -> Iterator[None]:
    if not is_torch_module(thing):
        yield
        return
    modes = [(part, part.training) for part in thing.modules()]
    rates = list(_dropout_rates(thing)) if options.training else []
    try:
        thing.train(options.training)
        for part, name, _ in rates:
            setattr(part, name, 0.0)
        yield
    finally:
        for part, name, rate in rates:
            setattr(part, name, rate)
        for part, training in modes:
            part.training = training


def _dropout_rates(module: Any) -> Iterator[tuple[Any, str, float]]:
    """Every number that a part of the module keeps as a rate of dropout."""
    for part in module.modules():
        is_dropout = "dropout" in type(part).__name__.lower()
        for name, value in vars(part).items():
            is_rate = "dropout" in name or (is_dropout and name == "p")
            if is_rate and isinstance(value, float):
                yield part, name, value


@contextmanager
def seeded() -> Iterator[None]:
    """The generators that weights are drawn from start at 0 and go on afterwards as if nothing had
    been drawn."""
    torch = sys.modules.get("torch")
    numpy_state = np.random.get_state()  # noqa: NPY002 (the generator that others use)
    torch_state = None if torch is None else torch.get_rng_state()
    np.random.seed(0)  # noqa: NPY002
    if torch is not None:
        torch.default_generator.manual_seed(0)
    try:
        yield
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(torch_state)


@contextmanager
def one_thread() -> Iterator[None]:
    """Inputs are small and calls are many: threads would wait for one another, and sums would
    depend on how many there are."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
