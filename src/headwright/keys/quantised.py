"""Keys stored in few bits, as quantised key caches do it: entries that share a group are rounded to
`2^bits` equally spaced values between the group's smallest and largest.

`per="channel"` shares a step along one coordinate of many keys (`group` consecutive keys, or all of
them); `per="token"` shares it along one key (`group` consecutive coordinates, or the whole key). A
last, shorter group is allowed. Rounding and the variance it is predicted to have use one and the
same grid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat as compat

from headwright import inputs
from headwright.errors import InputError
from headwright.types import Array, Float, Keys

_MOST_BITS = 16
_AXIS = {"channel": 0, "token": 1}

Block = Float[Array, "blocks group columns"]


def rounded(keys: Any, *, bits: int, per: str = "channel", group: int | None = None) -> Keys:
    """The keys `(n, d)` after storage in `bits` bits: `low + D round((k - low) / D)` in every
    group.

    >>> from headwright.keys import rounded
    >>> print(rounded([[0.0], [0.4], [0.6], [1.0]], bits=1).T)
    [[0. 0. 1. 1.]]
    """

    def store(block: Block) -> Block:
        xp = compat.array_namespace(block)
        low, step = _grid(block, bits)
        # A constant group has step 0 and needs no rounding; dividing by 1 there avoids 0 / 0.
        safe = xp.where(step > 0, step, xp.ones_like(step))
        return low + step * xp.round((block - low) / safe)

    return _in_groups(keys, store, bits=bits, per=per, group=group)


def quantisation_variance(
    keys: Any, *, bits: int, per: str = "channel", group: int | None = None
) -> Keys:
    """`D_ij^2 / 12` for every entry: the variance of a uniform error in [-D/2, D/2]; 0 in constant
    groups.

    The group's own extremes lie on the grid and have no error, so small groups (2 of `group`
    entries) are predicted slightly too noisy.
    """

    def variance(block: Block) -> Block:
        _, step = _grid(block, bits)
        return compat.array_namespace(block).broadcast_to(step * step / 12, block.shape)

    return _in_groups(keys, variance, bits=bits, per=per, group=group)


def _grid(block: Block, bits: int) -> tuple[Array, Array]:
    """The smallest value and the step of each group (axis 1)."""
    xp = compat.array_namespace(block)
    low = xp.min(block, axis=1, keepdims=True)
    high = xp.max(block, axis=1, keepdims=True)
    step = (high - low) / (2**bits - 1)
    return low, inputs.finite("range of a group of keys", step)


def _in_groups(
    keys: Any, function: Callable[[Block], Block], *, bits: int, per: str, group: int | None
) -> Keys:
    """Apply `function` to all groups at once: groups run along axis 1 of a `(blocks, group,
    columns)` view."""
    xp, (keys,) = inputs.arrays(keys=keys)
    inputs.shape("keys", keys, "n", "d")
    inputs.whole("bits", bits, low=1, high=_MOST_BITS)
    if per not in _AXIS:
        raise InputError(
            wanted="per='channel' or per='token'", got=repr(per), attempt="per='channel'"
        )
    rows = keys if _AXIS[per] == 0 else keys.T
    length, columns = rows.shape
    size = length if group is None else min(inputs.whole("group", group, low=1), length)
    full = length - length % size
    whole_groups = xp.reshape(rows[:full], (full // size, size, columns))
    blocks = [whole_groups, rows[None, full:]]
    done = [xp.reshape(function(block), (-1, columns)) for block in blocks if 0 not in block.shape]
    out = done[0] if len(done) == 1 else xp.concat(done)
    return out if _AXIS[per] == 0 else out.T
