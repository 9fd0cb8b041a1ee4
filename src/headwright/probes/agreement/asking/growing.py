"""The simplest cache with the methods that libraries call: it keeps every key and value.

For layers that are written against an object of their own making, which nobody can guess, but call
it by the usual names.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


class Growing:
    """Keys and values (b, h, n, d) of every layer, by its number."""

    def __init__(self) -> None:
        self.layers: dict[int, tuple[Any, Any]] = {}

    def update(self, keys: Any, values: Any, layer_idx: int = 0, *_: Any, **__: Any) -> Any:
        """All keys and values so far, these among them."""
        if layer_idx in self.layers:
            old_keys, old_values = self.layers[layer_idx]
            keys = _joined(old_keys, keys)
            values = _joined(old_values, values)
        self.layers[layer_idx] = (keys, values)
        return keys, values

    update_and_fetch = update

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """How many keys a layer has."""
        if layer_idx not in self.layers:
            return 0
        return self.layers[layer_idx][0].shape[-2]

    @property
    def offset(self) -> int:
        """The same, as others call it."""
        return max((self.get_seq_length(number) for number in self.layers), default=0)

    def __len__(self) -> int:
        return self.offset


def _joined(old: Any, new: Any) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(new, torch.Tensor):
        return torch.cat([old, new], dim=-2)
    if type(new).__module__.startswith("jax"):
        import jax.numpy as jnp

        return jnp.concatenate([old, new], axis=-2)
    return np.concatenate([old, new], axis=-2)
