"""A NumPy array as the layer's own: contiguous, or a strided view such as the split of a fused
projection gives, with a gradient recorded or not."""

from __future__ import annotations

from typing import Any

import numpy as np

from headwright.probes.layer.layer import Options
from headwright.probes.layer.library import Library


def placed(array: np.ndarray, lib: Library, options: Options) -> Any:
    if not options.strided or lib.name == "jax":
        made = lib.floats(array)
    else:
        # Every other one along the last axis, and the axes next to last laid out in another order.
        wide = np.repeat(np.swapaxes(array, -2, -3) if array.ndim > 2 else array, 2, axis=-1)
        made = lib.floats(wide)[..., ::2]
        made = made.swapaxes(-2, -3) if array.ndim > 2 else made
    if lib.name == "torch":
        made.requires_grad_(options.gradient)
    return made
