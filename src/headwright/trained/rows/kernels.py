"""Which way a layer's rows are worked on: compiled loops where they can go, else plain operations.

Rejected: choosing by trial. What decides is known beforehand: the device, the precision, whether
the library's arrays can be written to, and whether numba is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import array_api_compat as compat

from headwright.trained.heads import Heads
from headwright.trained.rows import operations
from headwright.trained.rows.largest import padding
from headwright.trained.rows.operations import Lookup, RowNumbers
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array


@dataclass(frozen=True)
class Kernel:
    """How a layer is worked on: queries per block, weights in work at once, what is added to n keys
    to make the width of a block, and what takes the numbers out of a block of logits."""

    rows: int
    budget: int
    padding: Callable[[int], int]
    row_numbers: Callable[[Array, Lookup], RowNumbers]


# Sizes: on a CPU blocks that its caches hold, elsewhere enough to keep the device busy.
_HOST_ROWS = 256
_FEWEST_ROWS = 64
_HOST_BUDGET = 2**19
_DEVICE_ROWS = 1024
_DEVICE_BUDGET = 2**27


def plain_kernel(*, host: bool = True) -> Kernel:
    """Array operations, for every library, device and precision."""
    rows = _HOST_ROWS if host else _DEVICE_ROWS
    budget = _HOST_BUDGET if host else _DEVICE_BUDGET
    return Kernel(rows, budget, padding, operations.row_numbers)


def compiled_kernel(*, group: int = 1) -> Kernel:
    """Needs numba, and logits in single precision that it can write to. `group` query heads share a
    key head, and their queries one product: fewer of each make it as tall, and compute fewer
    logits that a causal row does not see."""
    from headwright.trained.rows import compiled

    shared = -(-_HOST_ROWS // (group * _FEWEST_ROWS))
    return Kernel(shared * _FEWEST_ROWS, _HOST_BUDGET, _no_padding, compiled.row_numbers)


def _no_padding(n: int) -> int:
    return 0


# What the fused kernel takes: head sizes, precisions, and the patterns it can look up.
_FUSED_SIZES = range(8, 257)
_FUSED_PRECISIONS = ("torch.bfloat16", "torch.float16")
_FUSED_PATTERNS = {"previous", "duplicate", "induction"}
# Places inside an array are 32-bit numbers there.
_FUSED_SPAN = 2**31


def _span(x: Array) -> int:
    """From an array's first entry in memory to its last."""
    return sum((size - 1) * step for size, step in zip(x.shape, x.stride(), strict=True))


def can_fuse(heads: Heads, tokens: Tokens) -> bool:
    """Whether `fused` can take this layer: half precision on a GPU for which Triton compiles."""
    if not compat.is_torch_array(heads.q) or heads.q.device.type != "cuda":
        return False
    arrays = (heads.q, heads.k, heads.v)
    precisions = {str(x.dtype) for x in arrays}
    return (
        all(x.shape[-1] in _FUSED_SIZES and _span(x) < _FUSED_SPAN for x in arrays)
        and heads.scale > 0
        and len(precisions) == 1
        and precisions.issubset(_FUSED_PRECISIONS)
        and _FUSED_PATTERNS.issuperset(tokens.patterns)
        and find_spec("triton") is not None
    )


def fastest_kernel(heads: Heads) -> Kernel:
    """The fastest that these arrays can go."""
    xp = compat.array_namespace(heads.q)
    host = "cpu" in str(compat.device(heads.q)).lower()
    writable = compat.is_torch_array(heads.q) or compat.is_numpy_array(heads.q)
    single = heads.q.dtype != xp.float64
    if host and writable and single and find_spec("numba") is not None:
        return compiled_kernel(group=heads.group)
    return plain_kernel(host=host)
