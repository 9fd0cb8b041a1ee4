"""A torch module in evaluation mode, or in training mode with every dropout at 0; afterwards it is
as it was. A function has no mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
