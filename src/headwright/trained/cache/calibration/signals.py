"""One pass over the calibration texts: keys, values, and the energy signal, which needs no
gradient.

An error e_t of the keys in channel c moves the logit of key t by scale q_c e_t. A common move of
all logits changes nothing, so what counts is the spread of the moves under the weights a of the
row. With weight a_1 on the first token, on which many heads rest, and independent errors elsewhere:

    spread = a_1 (1 - a_1) scale^2 q_c^2 e_1^2 + (1 - a_1) scale^2 q_c^2 E[e_t^2]

averaged over rows and summed over the query heads of the key head. For values the output moves by
a_1 e_1 and by the others' share, relative to the size of the values. Both are squared errors of
logits and outputs, not divergences: `budgeting` measures what they cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.result import to_numpy
from headwright.trained.cache.coding.channels import Sensitivity
from headwright.trained.cache.coding.turning import Turning
from headwright.trained.heads import Layer
from headwright.trained.library import torch
from headwright.trained.rows.stream import stream
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array, Float


@dataclass
class LayerSeen:
    """One layer: keys and values of every text (h, n, d), and its energies."""

    keys: list[Array] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    key_energy: list[Sensitivity] = field(default_factory=list)
    value_energy: list[Sensitivity] = field(default_factory=list)

    def energies(self, text: int) -> tuple[Sensitivity, Sensitivity]:
        return self.key_energy[text], self.value_energy[text]


@dataclass
class Watch:
    """Visits the layers of texts that come one at a time. Keys and values are kept, in the model's
    own precision: as much as the texts' cache."""

    turning: Turning = field(default_factory=Turning)
    layers: dict[int, LayerSeen] = field(default_factory=dict)

    def visit(self, layer: Layer) -> Any:
        """For `capture.run`: looks, and returns the layer's output."""
        heads = layer.text(0)
        rows = stream(heads, Tokens.unknown(heads.q.shape[1], heads.k.shape[1]))
        seen = self.layers.setdefault(layer.index, LayerSeen())
        seen.keys.append(self.turning.back(heads.k).clone())
        seen.values.append(heads.v.clone())
        scaled = heads.q * heads.scale
        squares = (scaled.float() ** 2, self.turning.mean_square(scaled))
        seen.key_energy.append(_key_energy(squares, rows.first, len(heads.k)))
        seen.value_energy.append(_value_energy(heads.v, rows.first, heads.group))
        return rows.output[None]


def _key_energy(
    squares: tuple[Float[Array, "h t d"], Float[Array, "h t d"]],
    first: Float[Array, "h t"],
    key_heads: int,
) -> Sensitivity:
    """E[a (1 - a) q_c^2] and E[(1 - a) q_c^2], summed over the query heads of a key head, from the
    squares as the first key meets them, which is at place 0 and not turned, and as others do."""
    at_first, at_others = squares
    others = (1.0 - first.float())[..., None]
    rest = torch.mean(others * at_others, dim=1)
    both = torch.mean(others * (1.0 - others) * at_first, dim=1)
    return Sensitivity(_by_key_head(both, key_heads), _by_key_head(rest, key_heads))


def _value_energy(v: Float[Array, "hk n v"], first: Float[Array, "h t"], group: int) -> Sensitivity:
    """E[a^2] and E[(1 - a)^2], summed over the query heads, over the mean square of the values."""
    size = float(torch.mean(v.float() ** 2).clamp_min(torch.finfo(torch.float32).tiny))
    weight = first.float()
    shares = [torch.mean(share**2, dim=1) for share in (weight, 1.0 - weight)]
    summed = [_by_key_head(share[:, None], len(first) // group) / size for share in shares]
    spread = [np.repeat(one, v.shape[-1], axis=1) for one in summed]
    return Sensitivity(*spread)


def _by_key_head(x: Float[Array, "h d"], key_heads: int) -> Float[np.ndarray, "hk d"]:
    summed = x.reshape(key_heads, -1, x.shape[-1]).sum(dim=1)
    return to_numpy(summed).astype(float)


def mean_sensitivity(texts: Sequence[Sensitivity]) -> Sensitivity:
    first = np.mean([text.first for text in texts], axis=0)
    rest = np.mean([text.rest for text in texts], axis=0)
    return Sensitivity(first, rest)
