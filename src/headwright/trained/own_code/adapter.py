"""What an adapter is, and what the families' masks have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headwright.trained.library import torch
from headwright.types import Array

# Our attention, with the words of the library's interface: module, queries, keys, values, and what
# is told by name. The output is (b, t, h, v).
Attend = Callable[..., Array]


@dataclass(frozen=True)
class Adapter:
    """`made(module, attend)` takes the place of the module's `method`."""

    method: str
    made: Callable[[Any, Attend], Callable[..., Any]]


def visible(mask: Array) -> Array:
    """Where a mask lets a key be seen: itself, or where the number it adds is not near the lowest
    of its dtype."""
    return mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2


def only_what_is_needed(seen: Array) -> dict[str, Any]:
    """A mask (b, 1, t, n) in our attention's words: one that only hides later keys is no mask but
    causal attention, which does not look at them."""
    t, n = seen.shape[-2:]
    if t == n and bool((seen == torch.ones_like(seen).tril()).all()):
        return {"attention_mask": None, "is_causal": True}
    return {"attention_mask": seen, "is_causal": False}
