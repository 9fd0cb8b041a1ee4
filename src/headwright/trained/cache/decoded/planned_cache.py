"""A cache that stores what a plan says, for transformers' `generate(past_key_values=...)`.

Memory is honest: tokens lie there as packed bits and are turned into numbers for each attention
call and forgotten again. That is slower than numbers of 16 bits; a plan that is to be fast needs a
kernel. Rounding happens on arrival, so a text read at once and read token by token give the same
numbers. The library's own quantised cache hands the keys of its first call back unrounded, which is
why one forward pass through that measures nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from headwright.trained.cache.budget.document import read_plan
from headwright.trained.cache.budget.plan import LayerPlan, Plan
from headwright.trained.cache.coding.channels import Grid
from headwright.trained.cache.coding.packing import Packing
from headwright.trained.cache.coding.turning import Turning
from headwright.trained.library import torch, transformers
from headwright.types import Array, Float

_library = transformers.cache_utils


class _Codes:
    """The keys (or values) of one layer between numbers and packed bits."""

    def __init__(self, grid: Grid, turning: Turning) -> None:
        self._turning = turning
        self._basis = grid.basis
        self.packing = Packing(grid.bits)
        self._low = _per_channel(grid.low)
        self._base = _per_channel(grid.base)
        self._step = _per_channel(grid.step)
        self._top = _per_channel(2.0**grid.bits - 1.0)

    def store(self, x: Float[Array, "b h n d"], start: int) -> Array:
        """`start`: the place of the first of these tokens in the text."""
        unturned = self._turning.back(x.float(), start)
        numbers = unturned if self._basis is None else self._basis.coordinates(unturned)
        low = self._low.to(x.device)
        step = self._step.to(x.device)
        # A channel that never moves has step 0 and code 0; dividing by 1 there avoids 0 / 0.
        safe = torch.where(step > 0, step, torch.ones_like(step))
        codes = torch.round((numbers - low) / safe)
        inside = torch.minimum(codes.clamp_min(0.0), self._top.to(x.device))
        return self.packing.pack(inside.to(torch.int32))

    def restore(self, packed: Array, start: int, dtype: Any) -> Float[Array, "b h n d"]:
        codes = self.packing.unpack(packed)
        numbers = self._base.to(packed.device) + self._step.to(packed.device) * codes
        unturned = numbers if self._basis is None else self._basis.restored(numbers)
        return self._turning.forth(unturned, start).to(dtype)


class _AsItIs:
    """Values that no plan is about."""

    def store(self, x: Array, start: int) -> Array:
        return x

    def restore(self, stored: Array, start: int, dtype: Any) -> Array:
        return stored.to(dtype)


def _per_channel(numbers: Any) -> Float[Array, "1 h 1 d"]:
    return torch.as_tensor(numbers, dtype=torch.float32)[None, :, None, :]


class PlannedLayer(_library.DynamicLayer):
    """One layer: the first tokens as they are, the others as packed bits, batch first and tokens
    last but one in both."""

    def __init__(self, plan: LayerPlan, keep_first: int, turning: Turning) -> None:
        super().__init__()
        self._keep_first = keep_first
        self._codecs = (
            _Codes(plan.keys, turning),
            _AsItIs() if plan.values is None else _Codes(plan.values, Turning()),
        )
        self._exact: list[Array] = []
        self._stored: list[Array] = []

    def update(
        self, key_states: Array, value_states: Array, *args: Any, **kwargs: Any
    ) -> tuple[Array, Array]:
        """Stores what arrives and returns all there is, as it reads from now on."""
        arrived = (key_states, value_states)
        known = self.get_seq_length()
        missing = max(self._keep_first - known, 0)
        exact = [x[:, :, :missing] for x in arrived]
        codecs = self._codecs
        stored = [
            codec.store(x[:, :, missing:], known + missing)
            for codec, x in zip(codecs, arrived, strict=True)
        ]
        self._exact = _joined(self._exact, exact)
        self._stored = _joined(self._stored, stored)
        self.is_initialized = True

        read = []
        for codec, first, rest, x in zip(codecs, self._exact, self._stored, arrived, strict=True):
            restored = codec.restore(rest, first.shape[-2], x.dtype)
            read.append(torch.cat([first, restored], dim=-2) if first.shape[-2] else restored)
        keys, values = read
        return keys, values

    def get_seq_length(self) -> int:
        parts = [*self._exact[:1], *self._stored[:1]]
        return sum(part.shape[-2] for part in parts)

    def stored_bits(self) -> int:
        """Of all keys and values, counted in what lies in memory."""
        parts = [*self._exact, *self._stored]
        return sum(8 * part.element_size() * part.numel() for part in parts)

    def crop(self, tokens_to_remove: int) -> None:
        """`tokens_to_remove` is minus the number of tokens to forget, the newest first."""
        length = max(self.get_seq_length() - abs(tokens_to_remove), 0)
        kept = min(length, self._keep_first)
        self._exact = [part[..., :kept, :] for part in self._exact]
        self._stored = [part[..., : length - kept, :] for part in self._stored]

    def reset(self) -> None:
        self._exact = []
        self._stored = []
        self.is_initialized = False

    def reorder_cache(self, beam_idx: Array) -> None:
        self._each_text(lambda part: part.index_select(0, beam_idx.to(part.device)))

    def batch_repeat_interleave(self, repeats: int) -> None:
        self._each_text(lambda part: part.repeat_interleave(repeats, dim=0))

    def batch_select_indices(self, indices: Array) -> None:
        self._each_text(lambda part: part[indices, ...])

    def offload(self) -> None:
        """The packed bits stay where they are: moving them is the library's `offloading`, which
        this cache does not take."""

    def prefetch(self) -> None:
        """Nothing was moved away."""

    def _each_text(self, change: Callable[[Array], Array]) -> None:
        self._exact = [change(part) for part in self._exact]
        self._stored = [change(part) for part in self._stored]


def _joined(before: list[Array], new: list[Array]) -> list[Array]:
    if not before:
        return new
    return [torch.cat(pair, dim=-2) for pair in zip(before, new, strict=True)]


class PlannedCache(_library.Cache):
    """For `model.generate(..., past_key_values=PlannedCache(plan))`; `plan` is a `Plan`, or the
    file that `--export transformers=FILE` wrote. A cache is for one batch of texts."""

    def __init__(self, plan: Plan | str | Path) -> None:
        self.plan = plan if isinstance(plan, Plan) else read_plan(plan)
        keep_first = self.plan.request.keep_first
        turning = self.plan.turning
        self._planned = [PlannedLayer(layer, keep_first, turning) for layer in self.plan.layers]
        super().__init__(layers=[*self._planned])

    def stored_bits(self) -> int:
        """Of all keys and values that lie there now."""
        return sum(layer.stored_bits() for layer in self._planned)
