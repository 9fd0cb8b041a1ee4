"""The numbers of a block of logits in one pass over each row while it is in the cache: `loops`,
compiled by numba, called with our arrays."""

from __future__ import annotations

import array_api_compat as compat
import numpy as np

from headwright.trained.rows.loops import read_rows
from headwright.trained.rows.operations import NAMES, Lookup, RowNumbers
from headwright.types import Array, Float


def row_numbers(z: Float[Array, "h r n"], lookup: Lookup) -> RowNumbers:
    """The same as `operations.row_numbers`, for logits of any width in single precision on the
    host. They are overwritten."""
    xp = compat.array_namespace(z)
    h, r, _ = z.shape
    numbers = xp.empty((h, len(NAMES), r), dtype=z.dtype)
    patterns = xp.zeros((h, len(lookup.pairs.bounds)), dtype=z.dtype)

    read_rows(
        np.asarray(z),
        np.asarray(numbers),
        np.asarray(patterns),
        lookup.seen,
        lookup.first,
        lookup.separators.view(np.uint8),
        lookup.pairs.bounds,
        lookup.pairs.columns,
    )
    return RowNumbers(z, numbers, patterns)
