"""The weights that a function of queries, keys and values uses: with the identity as values, the
output is the matrix of weights. Where the value size is fixed, the identity comes in pieces."""

from __future__ import annotations

import math

import numpy as np

from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Layer, Options, Refusal

_PLAIN = Options()


def weights(layer: Layer, given: Inputs, options: Options = _PLAIN) -> np.ndarray:
    """(b, h, t, n): what each value contributes to each output."""
    keys = given["k"].shape[-2]
    try:
        return _columns(layer, given, np.eye(keys), options)
    except Refusal:
        width = given["v"].shape[-1]
        pieces = math.ceil(keys / width)
        identity = np.eye(keys, pieces * width)
        parts = np.split(identity, pieces, axis=1)
        made = [_columns(layer, given, part, options) for part in parts]
        return np.concatenate(made, axis=-1)[..., :keys]


def _columns(layer: Layer, given: Inputs, part: np.ndarray, options: Options) -> np.ndarray:
    batch, heads = given["v"].shape[:2]
    values = np.broadcast_to(part, (batch, heads, *part.shape)).copy()
    output = layer.run(given.replaced(v=values), options)
    if output.shape[-1] != part.shape[1]:
        raise Refusal(f"returned values of size {output.shape[-1]}, not {part.shape[1]}")
    return output
