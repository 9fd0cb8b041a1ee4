"""What a plan knows of the channels of one layer's keys or values: the quantiser of each, and the
damage that it does at every number of bits.

The quantiser: keys are first turned back to where they were before their rotation (`turning`), and
may be written in a basis of their own (`basis`), whose directions are then the channels.
Every channel has one range, learned on the calibration text. A number is rounded on
arrival to one of 2^bits equally spaced values from the low end to the high end (what falls outside
goes to the nearest end), and read back without the mean error that the calibration text had there:

    code = round((x - low) / step),  step = (high - low) / (2^bits - 1),  x~ = base + step * code

A channel of 0 bits has one code only, and is read as its mean.

No scale is stored per token, so the codes are all there is to store, and a text read in one pass
and one read token by token see the same numbers. The ends are values of the grid because they often
belong to the first token, on which many heads rest. Rejected: ranges of their own for every group
of tokens. With groups of 32 the two 16-bit numbers of a group cost a bit per number, which leaves 2
of 3 (more divergence than 3 bits on fixed ranges, `bench cache`), and the newest tokens must wait
unrounded until their group is full. Rejected, too: ranges cut to the least mean square error
without a regard for the first token, which cut off its keys.

Damage is in nats per token of the next-token distribution's divergence (`calibration/sensitivity`).
Errors are measured, not taken as step^2 / 12: at one or two bits that is wrong by several times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright.trained.cache.coding.basis import Basis
from headwright.types import Float, Int

PerChannel = Float[np.ndarray, "h d"]
ByBits = Float[np.ndarray, "w h d"]
Bits = Int[np.ndarray, "h d"]

# Bits of a number that is kept as it is, which is also the most a plan may give.
EXACT = 16


def steps(bits: Any) -> Any:
    """Steps from the low end of a range to its high end; one where there is a single code, which
    takes none."""
    return np.maximum(2.0**bits - 1.0, 1.0)


@dataclass(frozen=True)
class Grid:
    """The keys (or values) of one layer as they are stored: bits of every channel, its range, what
    code 0 is read as, and the damage; with a `basis` the channels are its directions."""

    bits: Bits
    low: PerChannel
    high: PerChannel
    base: PerChannel
    damage: PerChannel
    basis: Basis | None = None

    def __repr__(self) -> str:
        h, d = self.bits.shape
        return f"<Grid: {self.bits.mean():.2f} bits, {h} key heads of {d} channels>"

    @property
    def step(self) -> PerChannel:
        return (self.high - self.low) / steps(self.bits)


@dataclass(frozen=True)
class Channels:
    """Of every channel of every key head, by number of bits (from 0 on): its range, the value that
    code 0 is read as, and the damage; with a `basis` the channels are its directions."""

    low: ByBits
    high: ByBits
    base: ByBits
    damage: ByBits
    basis: Basis | None = None

    def __repr__(self) -> str:
        _, h, d = self.low.shape
        return f"<Channels: {h} key heads of {d} channels>"

    @property
    def shape(self) -> tuple[int, int]:
        _, heads, width = self.low.shape
        return heads, width

    def times(self, size: float) -> Channels:
        """With every damage multiplied."""
        return replace(self, damage=size * self.damage)

    def grid(self, bits: Bits) -> Grid:
        """With so many bits in every channel."""
        tables = (self.low, self.high, self.base, self.damage)
        chosen = [np.take_along_axis(table, bits[None], axis=0)[0] for table in tables]
        return Grid(bits, *chosen, basis=self.basis)


# What is known of a layer before it has bits: its keys' channels, and its values' where they are
# planned too.
LayerChannels = tuple[Channels, ...]
