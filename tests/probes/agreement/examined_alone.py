"""One property of a layer, and whether its counterexample repeats on a fresh one."""

from __future__ import annotations

import numpy as np

from headwright.probes import Inputs, Options, Sizes, layer_of
from headwright.probes.asking import xray


def finding(layer, name, **words):
    """Of a layer, a class of layers, or a function."""
    made = layer() if isinstance(layer, type) else layer
    return xray(made, only=name, **words)[name]


def reproduces(found, layer, **words):
    """Whether the script fails on a layer that nobody has called yet."""
    made = layer() if isinstance(layer, type) else layer
    names = {"layer": layer_of(made, **words), "np": np}
    names |= {"Inputs": Inputs, "Options": Options, "Sizes": Sizes}
    try:
        exec(compile(found.counterexample.script, "script", "exec"), names)
    except AssertionError:
        return True
    return False


def broken(layer, name, **words):
    """The finding of a break that repeats."""
    found = finding(layer, name, **words)
    assert found.status == "broken", found
    assert reproduces(found, layer, **words), found.counterexample.script
    return found
