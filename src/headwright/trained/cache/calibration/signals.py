"""One pass over the calibration texts: keys, values, and the energy signal, which needs no
gradient.

An error e_t of key t moves its logit by scale q.e_t. A common move of
all logits changes nothing, so what counts is the spread of the moves under the weights a of the
row. With weight a_1 on the first token, on which many heads rest, and independent errors elsewhere:

    spread = a_1 (1 - a_1) scale^2 (q.e_1)^2 + (1 - a_1) scale^2 E[(q.e_t)^2]

averaged over rows and summed over the query heads of the key head. For values the output moves by
a_1 e_1 and by the others' share, relative to the size of the values. Both are squared errors of
logits and outputs, not divergences: `budgeting` measures what they cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.result import to_numpy
from headwright.trained.cache.calibration.sensitivity import Sensitivity
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
        seen.key_energy.append(self._key_energy(heads.q * heads.scale, rows.first, len(heads.k)))
        seen.value_energy.append(_value_energy(heads.v, rows.first, heads.group))
        return rows.output[None]

    def _key_energy(
        self, scaled: Float[Array, "h t d"], first: Float[Array, "h t"], key_heads: int
    ) -> Sensitivity:
        """E[a (1 - a) q'q] and E[(1 - a) q'q], summed over the query heads of a key head: as the
        first key meets q, which is at place 0 and not turned, and as others do."""
        others = (1.0 - first.float())[..., None]
        q = scaled.float()
        both = (others * (1.0 - others) * q).mT @ q
        unturned = self.turning.back(q)
        rest = self.turning.mean_outer((others * unturned).mT @ unturned, q.shape[1])
        forms = [_by_key_head(form / q.shape[1], key_heads) for form in (both, rest)]
        return Sensitivity(*forms)


def _value_energy(v: Float[Array, "hk n v"], first: Float[Array, "h t"], group: int) -> Sensitivity:
    """E[a^2] and E[(1 - a)^2], summed over the query heads, over the mean square of the values: the
    same for every channel."""
    size = float(torch.mean(v.float() ** 2).clamp_min(torch.finfo(torch.float32).tiny))
    weight = first.float()
    shares = [torch.mean(share**2, dim=1) for share in (weight, 1.0 - weight)]
    summed = [_by_key_head(share, len(first) // group) / size for share in shares]
    even = np.eye(v.shape[-1])
    forms = [one[:, None, None] * even for one in summed]
    return Sensitivity(*forms)


def _by_key_head(x: Float[Array, "h *d"], key_heads: int) -> Float[np.ndarray, "hk *d"]:
    summed = x.reshape(key_heads, -1, *x.shape[1:]).sum(dim=1)
    return to_numpy(summed).astype(float)
