"""Large arrays in blocks that stay in cache."""

from __future__ import annotations

import array_api_compat as compat

from headwright.types import Array

_DEVICE = 1 << 20  # rows an accelerator takes at once


def blocks(count: int, size: int, like: Array, rows: int = 1) -> list[slice]:
    """Slices of `size` items on the host; an accelerator takes a million rows at once, `rows` of them in an item.

    (Rejected: threads over the blocks. Two of them shared the caches and gained nothing on two virtual processors,
    and next to the threads of a BLAS they could wait for each other for seconds.)"""
    if not compat.is_numpy_array(like) and str(compat.device(like)) != "cpu":
        size = max(1, _DEVICE // rows)
    return [slice(i, min(i + size, count)) for i in range(0, count, size)]
