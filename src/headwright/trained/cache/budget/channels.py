"""What a plan knows of the channels of one layer's keys or values: the quantiser of each, and the
damage that it does at every number of bits.

The quantiser: every channel has one range, learned on the calibration text. A number is rounded on
arrival to one of 2^bits equally spaced values from the low end to the high end (what falls outside
goes to the nearest end), and read back without the mean error that the calibration text had there:

    code = round((x - low) / step),  step = (high - low) / (2^bits - 1),  x~ = base + step * code

No scale is stored per token, so the codes are all there is to store, and a text read in one pass
and one read token by token see the same numbers. The ends are values of the grid because they often
belong to the first token, on which many heads rest. Rejected: ranges of their own for every group
of tokens. With groups of 32 the two 16-bit numbers of a group cost a bit per number, which leaves 2
of 3 (twice the divergence of 3 bits on fixed ranges, `headwright bench cache`), and the newest
tokens must wait unrounded until their group is full. Rejected, too: ranges cut to the least mean
square error, which cut off the first token's keys.

Damage: with e the error of a token in a channel,

    damage = first * E[e_1^2] + rest * E[e_t^2],  t > 1

in nats per token of the next-token distribution's divergence; what a squared error of one costs in
the first token and in the others is the `Sensitivity`. Errors are measured, not taken as
step^2 / 12: at one or two bits that is wrong by several times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.result import to_numpy
from headwright.trained.library import torch
from headwright.types import Array, Float, Int

PerChannel = Float[np.ndarray, "h d"]
Bits = Int[np.ndarray, "h d"]

# Bits of a number that is kept as it is, which is also the most a plan may give.
EXACT = 16
# Errors are measured up to so many bits; from there on they fall with the square of the step.
_MEASURED = 8


@dataclass(frozen=True)
class Sensitivity:
    """What a squared error of one costs, per channel: in the first token, and in the others."""

    first: PerChannel
    rest: PerChannel

    def times(self, size: float) -> Sensitivity:
        return Sensitivity(size * self.first, size * self.rest)


@dataclass(frozen=True)
class Grid:
    """The keys (or values) of one layer as they are stored: bits of every channel, its range, what
    code 0 is read as, and the damage."""

    bits: Bits
    low: PerChannel
    high: PerChannel
    base: PerChannel
    damage: PerChannel

    def __repr__(self) -> str:
        h, d = self.bits.shape
        return f"<Grid: {self.bits.mean():.2f} bits, {h} key heads of {d} channels>"

    @property
    def step(self) -> PerChannel:
        return (self.high - self.low) / (2.0**self.bits - 1.0)


@dataclass(frozen=True)
class Channels:
    """Of every channel of every key head: its range, and by number of bits (from 1 on) the value
    that code 0 is read as, and the damage."""

    low: PerChannel
    high: PerChannel
    base: Float[np.ndarray, "w h d"]
    damage: Float[np.ndarray, "w h d"]

    def __repr__(self) -> str:
        h, d = self.low.shape
        return f"<Channels: {h} key heads of {d} channels>"

    @property
    def shape(self) -> tuple[int, int]:
        heads, width = self.low.shape
        return heads, width

    def grid(self, bits: Bits) -> Grid:
        """With so many bits in every channel."""
        base = np.take_along_axis(self.base, bits[None] - 1, axis=0)[0]
        damage = np.take_along_axis(self.damage, bits[None] - 1, axis=0)[0]
        return Grid(bits, self.low, self.high, base, damage)


def measured(
    texts: list[Float[Array, "h n d"]], sensitivity: Sensitivity, keep_first: int
) -> Channels:
    """From the calibration texts' keys or values. The first `keep_first` tokens stay as they are:
    they take no part in ranges, and have no errors."""
    rounded = [x[:, keep_first:].float() for x in texts]
    low = torch.stack([x.amin(dim=1) for x in rounded]).amin(dim=0)
    high = torch.stack([x.amax(dim=1) for x in rounded]).amax(dim=0)

    bases = []
    damages = []
    for bits in range(1, _MEASURED + 1):
        errors = [_errors(x, low, high, bits) for x in rounded]
        # The first token has errors of its own, unless it stays as it is.
        others = torch.cat([e if keep_first else e[:, 1:] for e in errors], dim=1)
        mean = others.mean(dim=1) if others.shape[1] else torch.zeros_like(low)
        rest = _host(((others - mean[:, None]) ** 2).sum(dim=1) / max(others.shape[1], 1))
        firsts = torch.stack([e[:, 0] for e in errors])
        first = _host(((firsts - mean) ** 2).mean(dim=0))
        bases.append(_host(low - mean))
        spent = sensitivity.rest * rest
        damages.append(spent if keep_first else spent + sensitivity.first * first)

    for bits in range(_MEASURED + 1, EXACT + 1):
        finer = (2.0**_MEASURED - 1.0) / (2.0**bits - 1.0)
        bases.append(_host(low))
        damages.append(damages[_MEASURED - 1] * finer**2)
    return Channels(_host(low), _host(high), np.stack(bases), np.stack(damages))


def _errors(
    x: Float[Array, "h n d"], low: Float[Array, "h d"], high: Float[Array, "h d"], bits: int
) -> Float[Array, "h n d"]:
    step = ((high - low) / (2.0**bits - 1.0))[:, None]
    # A channel that never moves has step 0 and no error; dividing by 1 there avoids 0 / 0.
    safe = torch.where(step > 0, step, torch.ones_like(step))
    return low[:, None] + step * torch.round((x - low[:, None]) / safe) - x


def _host(x: Array) -> PerChannel:
    return to_numpy(x).astype(float)
