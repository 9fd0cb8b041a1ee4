"""A counterexample as a reader would run it."""

from __future__ import annotations

import numpy as np

from headwright.probes.layer.given import layer_of
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options, Sizes


def reproduces(finding, layer, **words) -> bool:
    """Does its script fail at its assertion?"""
    names = {"np": np, "Inputs": Inputs, "Options": Options, "Sizes": Sizes}
    names["layer"] = layer_of(layer, **words)
    try:
        exec(compile(finding.counterexample.script, finding.name, "exec"), names)
    except AssertionError:
        return True
    return False
