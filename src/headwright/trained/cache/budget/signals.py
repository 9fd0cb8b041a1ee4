"""The energy signal, out of one pass without gradients: how strongly a channel of the keys moves the
logits, and a channel of the values the output.

    logits move by  scale * q_c * e_c  in channel c,  so  energy_c = scale^2 * sum over group E[q_c^2]

summed over the query heads that read the key head. A squared rounding error times the energy is a
squared logit error, not a divergence: `budgeting` finds the size of one in the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from headwright.result import to_numpy
from headwright.trained.cache.budget.channels import Channels, PerChannel
from headwright.trained.heads import Layer
from headwright.trained.library import torch
from headwright.types import Array


@dataclass
class _Seen:
    """Of one layer's keys or values so far: the ends of every channel's range."""

    low: PerChannel | None = None
    high: PerChannel | None = None

    def add(self, x: Array) -> None:
        """`x` is (b, h, n, d); the ends are taken over texts and tokens."""
        low = _host(x.amin(dim=(0, 2)))
        high = _host(x.amax(dim=(0, 2)))
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)


@dataclass
class _LayerSeen:
    keys: _Seen = field(default_factory=_Seen)
    values: _Seen = field(default_factory=_Seen)
    key_energy: list[PerChannel] = field(default_factory=list)
    value_energy: list[PerChannel] = field(default_factory=list)


@dataclass
class Watch:
    """Looks at every layer of every text once; ranges leave out the first tokens that stay as they
    are."""

    keep_first: int = 0
    layers: dict[int, _LayerSeen] = field(default_factory=dict)

    def see(self, layer: Layer) -> None:
        seen = self.layers.setdefault(layer.index, _LayerSeen())
        seen.keys.add(layer.k[:, :, self.keep_first :])
        seen.values.add(layer.v[:, :, self.keep_first :])
        seen.key_energy.append(_key_energy(layer))
        seen.value_energy.append(_value_energy(layer))

    def channels(self) -> tuple[list[Channels], list[Channels]]:
        """Of the keys and of the values of every layer, with the energy as their sensitivity."""
        keys = []
        values = []
        for index in sorted(self.layers):
            seen = self.layers[index]
            keys.append(_channels(seen.keys, seen.key_energy))
            values.append(_channels(seen.values, seen.value_energy))
        return keys, values


def _key_energy(layer: Layer) -> PerChannel:
    """scale^2 sum over group E[q_c^2]"""
    _, key_heads, _, width = layer.k.shape
    energy = torch.mean(layer.q.float() ** 2, dim=(0, 2)) * layer.scale**2
    return _host(energy.reshape(key_heads, -1, width).sum(dim=1))


def _value_energy(layer: Layer) -> PerChannel:
    """A squared error of a value, relative to the size of the layer's values: 1 / E[v^2]."""
    size = torch.mean(layer.v.float() ** 2).clamp_min(torch.finfo(torch.float32).tiny)
    _, key_heads, _, width = layer.v.shape
    return np.full((key_heads, width), 1.0 / float(size))


def _channels(seen: _Seen, energy: list[PerChannel]) -> Channels:
    assert seen.low is not None
    assert seen.high is not None
    return Channels(seen.low, seen.high, np.mean(energy, axis=0))


def _host(x: Array) -> PerChannel:
    # Single precision holds every number of a half-precision model, and a plan stores no more.
    return to_numpy(x.float()).astype(float)
