"""The quantiser of every channel, from the keys (or values) of the calibration texts.

What lies outside a range goes to its end, whatever the bits. With few bits a range narrower than
what was seen is better: the few numbers at the ends lose less than all others gain by the finer
step. With many bits a wider one costs nothing, and an unseen text leaves the range that was seen.
Widths are compared as they will be used, on tokens that the range was not taken from: the texts are
cut into folds, each rounded on the range of the others. The first token's numbers, on which many
heads rest, are always inside and take no part in this; so they are where first tokens stay exact,
for a later token can be of their kind (the second word of a heading, say).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.result import to_numpy
from headwright.trained.cache.calibration.sensitivity import Sensitivity
from headwright.trained.cache.coding.channels import EXACT, Channels, PerChannel, steps
from headwright.trained.library import torch
from headwright.types import Array, Float

# Errors are measured up to so many bits; from there on they are those of rounding no more.
_MEASURED = 8
_FOLDS = 4
# Wider than what was seen, to either side, as a share of it; below 0 narrower.
_MARGINS = (-0.3, -0.22, -0.15, -0.1, -0.05, 0.0, 0.05, 0.15, 0.3)

Numbers = Float[Array, "h n d"]
Ends = Float[Array, "h d"]


@dataclass(frozen=True)
class _Seen:
    """Of some tokens: the ends of what the first tokens and the others take."""

    low: Ends
    high: Ends
    first_low: Ends
    first_high: Ends

    def range(self, margin: float) -> tuple[Ends, Ends]:
        room = margin * (self.high - self.low)
        low = torch.minimum(self.low - room, self.first_low)
        return low, torch.maximum(self.high + room, self.first_high)


@dataclass(frozen=True)
class _Errors:
    """Of one quantiser in every channel: the mean error, and squared errors without it, of the
    first tokens and of the others."""

    mean: Ends
    first: Ends
    rest: Ends

    def damage(self, sensitivity: Sensitivity) -> PerChannel:
        return sensitivity.damage(_host(self.first), _host(self.rest))


def measured(texts: list[Array], sensitivity: Sensitivity, keep_first: int) -> Channels:
    """From the keys or values (h, n, d) of every calibration text. The first `keep_first` tokens
    stay as they are: their errors cost nothing."""
    firsts = torch.stack([x[:, 0].float() for x in texts], dim=1)
    others = torch.cat([x[:, max(keep_first, 1) :].float() for x in texts], dim=1)
    if keep_first:
        sensitivity = sensitivity.without_first()

    found = []
    for bits in range(_MEASURED + 1):
        # With 0 bits every number is read as the mean, on whatever range.
        margins = _MARGINS if bits else _MARGINS[:1]
        tried = [_unseen(firsts, others, bits, margin) for margin in margins]
        damages = [errors.damage(sensitivity) for errors in tried]
        # One margin for all channels: the few tokens that leave a single channel's range say too
        # little about it.
        best = int(np.argmin([damage.sum() for damage in damages]))
        low, high = _seen(firsts, others).range(_MARGINS[best])
        mean = _errors(firsts, others, low, high, bits).mean
        found.append((_host(low), _host(high), _host(low - mean), damages[best]))
    low, high, base, damage = (np.stack(column) for column in zip(*found, strict=True))
    return _continued(Channels(low, high, base, damage))


def _unseen(firsts: Array, others: Array, bits: int, margin: float) -> _Errors:
    """Errors of the tokens of every fold on the range of the other folds."""
    folds = others.tensor_split(min(_FOLDS, others.shape[1]), dim=1)
    found = []
    for i, fold in enumerate(folds):
        rest = [other for j, other in enumerate(folds) if j != i] or [fold]
        low, high = _seen(firsts, torch.cat(rest, dim=1)).range(margin)
        found.append(_errors(firsts, fold, low, high, bits))
    first = torch.stack([errors.first for errors in found]).mean(dim=0)
    rest = torch.stack([errors.rest for errors in found]).mean(dim=0)
    return _Errors(found[0].mean, first, rest)


def _seen(firsts: Array, others: Array) -> _Seen:
    low = others.amin(dim=1)
    high = others.amax(dim=1)
    return _Seen(low, high, firsts.amin(dim=1), firsts.amax(dim=1))


def _errors(firsts: Array, others: Array, low: Ends, high: Ends, bits: int) -> _Errors:
    off = _rounded(others, low, high, bits) - others
    mean = off.mean(dim=1)
    rest = ((off - mean[:, None]) ** 2).mean(dim=1)
    first_off = _rounded(firsts, low, high, bits) - firsts - mean[:, None]
    return _Errors(mean, (first_off**2).mean(dim=1), rest)


def _rounded(x: Numbers, low: Ends, high: Ends, bits: int) -> Numbers:
    step = ((high - low) / steps(bits))[:, None]
    # A channel that never moves has step 0 and no error; dividing by 1 there avoids 0 / 0.
    safe = torch.where(step > 0, step, torch.ones_like(step))
    codes = torch.round((x - low[:, None]) / safe).clamp(0.0, 2.0**bits - 1.0)
    return low[:, None] + step * codes


def _continued(channels: Channels) -> Channels:
    """To more bits than were measured, on the same ranges: errors fall with the square of the
    step."""
    further = np.arange(_MEASURED + 1, EXACT + 1)
    finer = (2.0**_MEASURED - 1.0) / (2.0**further - 1.0)

    def longer(table: np.ndarray, added: np.ndarray, factors: np.ndarray) -> np.ndarray:
        return np.concatenate([table, factors[:, None, None] * added])

    same = np.ones(further.size)
    low = longer(channels.low, channels.low[-1], same)
    high = longer(channels.high, channels.high[-1], same)
    base = longer(channels.base, channels.low[-1], same)
    return Channels(low, high, base, longer(channels.damage, channels.damage[-1], finer**2))


def _host(x: Array) -> PerChannel:
    return to_numpy(x).astype(float)
