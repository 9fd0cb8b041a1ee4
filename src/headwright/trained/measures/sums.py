"""The row measures summed over parts of a text: all that is kept of its rows but the margins.

How far a measure differs from part to part says how far it would differ on other text, and two
audits of the same texts are compared part by part; over all parts the sums give the measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat

from headwright.trained.measures.from_rows import LEAK, LayerRows, copy_rows, row_measures
from headwright.types import Array, Float

# Each text is cut into so many parts of equal length.
PARTS = 8
# What is summed beside the measures: the two distances of the copy score.
COPY = ("copied", "from_mean")
AMONG = ("real", "contested")
# Rows that a program of the fused kernel takes at once.
_ROWS = 256


@dataclass(frozen=True)
class RowSums:
    """One text: `sums` in the order of `summed`, and the margins, NaN in rows without a contest."""

    sums: Float[Array, "m h p"]
    margins: Float[Array, "h t"]


def summed(layer: LayerRows) -> tuple[str, ...]:
    """The measures by the rows they are taken among, the distances, and the numbers of rows."""
    by_rows = [one.name for among in AMONG for one in row_measures(layer) if one.among == among]
    return (*by_rows, *COPY, *AMONG)


def row_sums(layer: LayerRows) -> RowSums:
    """Every measure of every row, added up."""
    if layer.rows.numbers is not None:
        return _fused(layer)
    xp = layer.xp
    real = [one.value(layer) for one in row_measures(layer) if one.among == "real"]
    contested = [one.value(layer) for one in row_measures(layer) if one.among == "contested"]
    one = xp.ones_like(layer.rows.leak)
    parts = [
        _by_part(layer, layer.real, real),
        _by_part(layer, layer.contested, contested),
        _by_part(layer, layer.real, [*copy_rows(layer), one]),
        _by_part(layer, layer.contested, [one]),
    ]
    margins = xp.where(layer.contested, layer.rows.margin, xp.nan)
    return RowSums(xp.concat(parts), margins)


def _by_part(layer: LayerRows, chosen: Array, values: list[Array]) -> Float[Array, "m h p"]:
    """Sums of the chosen rows over each part of the text: one selection and one sum for all."""
    xp = layer.xp
    shape = layer.rows.leak.shape
    stacked = xp.stack([xp.broadcast_to(one, shape) for one in values])
    rows = _whole_parts(xp, xp.where(chosen, stacked, 0.0))
    return xp.sum(xp.reshape(rows, (*rows.shape[:-1], PARTS, -1)), axis=-1)


def _whole_parts(xp: Any, rows: Float[Array, "m h t"]) -> Float[Array, "m h t2"]:
    """Filled up with zeros until all parts are of one length."""
    *before, t = rows.shape
    missing = -t % PARTS
    if not missing:
        return rows
    nothing = xp.zeros((*before, missing), dtype=rows.dtype, device=compat.device(rows))
    return xp.concat([rows, nothing], axis=-1)


def _fused(layer: LayerRows) -> RowSums:
    """One kernel for all of it, where the rows came from one."""
    from headwright.trained.rows.fused import sums as kernels

    numbers = layer.rows.numbers
    assert numbers is not None, "rows of the fused pass"
    _, h, t = numbers.shape
    seen = layer.rows.seen
    real = layer.tokens.beside("real_queries", numbers)
    sums = numbers.new_empty((len(summed(layer)), h, PARTS))
    margins = numbers.new_empty((h, t))
    launched: Any = kernels.row_sums[PARTS, h]
    launched(
        numbers, seen, real, sums, margins,
        t if seen.shape[0] > 1 else 0, h, t, -(-t // PARTS), (1.0 - LEAK) / LEAK,
        PARTS=PARTS, ROWS=_ROWS,
    )  # fmt: skip
    return RowSums(sums, margins)
