"""A plan for the cache: how many bits every channel of every key head gets, or every direction, on
which range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.trained.cache.budget.allocate import Widths, allocate, evenly
from headwright.trained.cache.coding.channels import EXACT, Channels, Grid, LayerChannels
from headwright.trained.cache.coding.turning import Turning
from headwright.types import Float, Int

PER = ("direction", "channel", "head", "layer")
WIDTHS: Widths = (1, 2, 3, 4, 5, 6, 7, 8)


@dataclass(frozen=True)
class Known:
    """What plans can be made of: every layer's channels, and its directions for plans that give
    these their bits. Both empty: nothing is known any more."""

    channels: Sequence[LayerChannels] = ()
    directions: Sequence[LayerChannels] = ()

    def per(self, unit: str) -> Sequence[LayerChannels]:
        return self.directions if unit == "direction" else self.channels

    def times(self, size: float) -> Known:
        """With every damage multiplied."""
        return Known(_times(self.channels, size), _times(self.directions, size))


def _times(layers: Sequence[LayerChannels], size: float) -> list[LayerChannels]:
    return [tuple(channels.times(size) for channels in layer) for layer in layers]


# What a row of a plan lists where one number for a key head is not enough.
_ROWS = {"direction": "directions", "channel": "channels"}


@dataclass(frozen=True)
class LayerPlan:
    """One layer. `values` is None where they stay as they are."""

    keys: Grid
    values: Grid | None = None

    @property
    def grids(self) -> tuple[Grid, ...]:
        return (self.keys,) if self.values is None else (self.keys, self.values)


@dataclass(frozen=True)
class Request:
    """What was asked for. `keep_first`: so many tokens at the beginning stay as they are, counted
    at 16 bits over a text of `context` tokens."""

    bits: float
    per: str = "channel"
    keep_first: int = 0
    context: int = 1024
    widths: Widths = WIDTHS

    def code_bits(self) -> float:
        """The mean left for the tokens that are rounded: (B n - 16 N) / (n - N)."""
        rounded = self.context - self.keep_first
        if rounded < 1:
            raise InputError(
                wanted=f"fewer exact tokens than the {self.context} of the text",
                got=str(self.keep_first),
                attempt="--keep-first 1",
            )
        return (self.bits * self.context - EXACT * self.keep_first) / rounded


@dataclass(frozen=True)
class Plan:
    """Bits of every channel or direction, for `PlannedCache`. `signal` is what the sensitivities
    are made of; `turning` is how keys are turned back before they are rounded; `warning` says where
    the predicted divergence is not to be believed; `known` is empty in a plan that was read from a
    file."""

    layers: tuple[LayerPlan, ...]
    request: Request
    signal: str
    turning: Turning = field(default_factory=Turning)
    warning: str = ""
    known: Known = field(default_factory=Known)

    def __repr__(self) -> str:
        what = f"{self.mean_bits:.2f} bits per {self.request.per}"
        return f"<Plan: {len(self.layers)} layers, {what}, predicted KL {self.predicted_kl:.3g}>"

    @property
    def grids(self) -> list[Grid]:
        return [grid for layer in self.layers for grid in layer.grids]

    @property
    def mean_bits(self) -> float:
        """Of every number that the plan is about, the exact first tokens included."""
        every = np.concatenate([grid.bits.reshape(-1) for grid in self.grids])
        request = self.request
        exact = request.keep_first / request.context
        return float(every.mean() * (1.0 - exact) + EXACT * exact)

    @property
    def predicted_kl(self) -> float:
        """Nats per token: the damages, which `cache_plan` scales to what it measured."""
        return float(sum(grid.damage.sum() for grid in self.grids))

    @property
    def range_bytes(self) -> int:
        """Of low, step and base of all channels, and of the directions: 16 bits a number, stored
        once for all texts."""
        channels = sum(grid.bits.size for grid in self.grids)
        bases = [grid.basis for grid in self.grids if grid.basis is not None]
        numbers = 3 * channels + sum(basis.codes.size for basis in bases)
        return numbers * EXACT // 8

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per layer and key head: `bits`, or those of its `channels` or `directions`."""
        name = _ROWS.get(self.request.per, "bits")
        for index, layer in enumerate(self.layers):
            for head in range(len(layer.keys.bits)):
                row: dict[str, Any] = {"layer": index, "key_head": head}
                row[name] = self._shown(layer.keys, head)
                if layer.values is not None:
                    row[f"value_{name}"] = self._shown(layer.values, head)
                yield row

    def _shown(self, grid: Grid, head: int) -> int | list[int]:
        bits = grid.bits[head].tolist()
        return bits if self.request.per in _ROWS else bits[0]

    def plain(self) -> dict[str, Any]:
        return {
            "plan": list(self.rows()),
            "mean_bits": self.mean_bits,
            "predicted_kl": self.predicted_kl,
            "per": self.request.per,
            "signal": self.signal,
            "keep_first": self.request.keep_first,
            "context": self.request.context,
            "range_bytes": self.range_bytes,
            "warning": self.warning or None,
        }

    def replanned(self, **changes: Any) -> Plan:
        """The plan of another request with the same sensitivities."""
        request = replace(self.request, **changes)
        return planned(self._known(), request, self.signal, self.turning)

    def times(self, size: float) -> Plan:
        """The same bits with every damage multiplied."""
        return planned(self._known().times(size), self.request, self.signal, self.turning)

    def uniform(self) -> Plan:
        """The same mean with the bits spread evenly over the channels, on the ranges learned for
        these, and nothing kept exact."""
        known = self._known()
        per = "channel" if self.request.per == "direction" else self.request.per
        request = replace(self.request, per=per, keep_first=0)
        spread = evenly(request.bits, sum(grid.bits.size for grid in self.grids))
        layers = _laid_out(known.channels, spread)
        return Plan(layers, request, "none", turning=self.turning, known=known)

    def _known(self) -> Known:
        if not self.known.per(self.request.per):
            raise InputError(
                wanted="a plan with what is known of the model's channels",
                got="one that was read from a file, which has the bits alone",
                attempt="plan again with cache_plan(model, texts, bits=...)",
            )
        return self.known


def planned(known: Known, request: Request, signal: str, turning: Turning) -> Plan:
    """The least damage at the mean asked for."""
    own = known.per(request.per)
    units = [_units(channels, request) for layer in own for channels in layer]
    damage = np.concatenate([one for one, _ in units])
    sizes = np.concatenate([size for _, size in units])

    total = int(np.floor(request.code_bits() * sizes.sum() + 1e-6))
    bits = allocate(damage, sizes, request.widths, total)
    layers = _laid_out(own, np.repeat(bits, sizes))
    return Plan(layers, request, signal, turning=turning, known=known)


def _units(
    channels: Channels, request: Request
) -> tuple[Float[np.ndarray, "u w"], Int[np.ndarray, "u"]]:
    """Damage of every unit at every width, and how many channels it has."""
    by_width = [channels.damage[width] for width in request.widths]
    heads, width = channels.shape
    units = {"head": heads, "layer": 1}.get(request.per, heads * width)
    damage = np.stack(by_width, axis=-1).reshape(units, -1, len(request.widths))
    return damage.sum(axis=1), np.full(units, heads * width // units)


def _laid_out(known: Sequence[LayerChannels], bits: Int[np.ndarray, "c"]) -> tuple[LayerPlan, ...]:
    """The bits of all channels, one after the other, in their layers."""
    start = 0
    layers = []
    for layer in known:
        grids = []
        for channels in layer:
            heads, width = channels.shape
            size = heads * width
            grids.append(channels.grid(bits[start : start + size].reshape(channels.shape)))
            start += size
        layers.append(LayerPlan(*grids))
    return tuple(layers)
