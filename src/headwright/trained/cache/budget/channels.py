"""What a plan knows of the channels of one layer's keys or values, and the damage that rounding
does to them.

The quantiser: every channel has one range, learned on the calibration text, and every number is
rounded on arrival to one of 2^bits equally spaced values in it (what falls outside goes to the
nearest end). No scale is stored per token, so the codes are all there is to store, and a text read in
one pass and a text read token by token see the same numbers. Rejected: ranges of their own for
every group of tokens. At group sizes that help, the two 16-bit numbers per group cost a bit per
number, and the newest tokens must wait unrounded until their group is full.

    step = (high - low) / (2^bits - 1),   damage = sensitivity * step^2 / 12

where step^2 / 12 is the variance of a uniform rounding error, and the sensitivity says what a squared
error of one costs in the end: the KL divergence of the next-token distribution, per token.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.types import Float, Int

PerChannel = Float[np.ndarray, "h d"]
Bits = Int[np.ndarray, "h d"]

# Bits of the two ends of a range, and of a number that is kept as it is.
EXACT = 16


@dataclass(frozen=True)
class Channels:
    """Of every channel of every key head: its range, and what a squared error of one costs."""

    low: PerChannel
    high: PerChannel
    sensitivity: PerChannel

    def __repr__(self) -> str:
        h, d = self.low.shape
        return f"<Channels: {h} key heads of {d} channels>"

    @property
    def shape(self) -> tuple[int, int]:
        heads, width = self.low.shape
        return heads, width

    def step(self, bits: Bits) -> PerChannel:
        return (self.high - self.low) / (2.0**bits - 1.0)

    def damage(self, bits: Bits) -> PerChannel:
        """Sensitivity times the variance of the rounding error."""
        return self.sensitivity * self.step(bits) ** 2 / 12.0
