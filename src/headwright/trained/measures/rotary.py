"""How much of the logits comes from each rotary pair of channels.

A rotary embedding turns two channels together, each pair at a speed of its own. With q_c and k_c
the two channels of pair c, the part of a logit that comes from it is scale q_c.k_c; its energy is
the mean square of that over all real queries and keys of a text, seen or not, before any cap or
bias. It needs second moments only:

    sum_ij (q_ic . k_jc)^2 = <sum_i q_ic q_ic^T, sum_j k_jc k_jc^T>.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.result import to_numpy
from headwright.trained.heads import Heads
from headwright.trained.library import torch
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array, Bool, Float, Int


@dataclass(frozen=True)
class Rotation:
    """The channels that turn together, evenly spaced (halves or neighbours), and by how much from
    one token to the next (radians)."""

    pairs: Int[np.ndarray, "r 2"]
    speeds: Float[np.ndarray, "r"]

    @property
    def channels(self) -> tuple[slice, slice]:
        """The first and the second channels of all pairs, as slices, which copy nothing."""
        first, second = self.pairs.T
        return _evenly(first), _evenly(second)

    def slow(self, tokens: int) -> Bool[np.ndarray, "r"]:
        """Pairs that make less than one turn over so many tokens: they hardly tell positions
        apart."""
        return self.speeds * tokens < 2.0 * np.pi


def rotation(model: Any) -> Rotation | None:
    """The one rotation of a model; None where it has none, or several.

    The library keeps the speeds in buffers called `inv_freq`, and turns channels with a function
    `rotate_half` of the model's file: what that does to 0, 1, 2, ... says which are paired.
    """
    speeds = [x for name, x in model.named_buffers() if name.split(".")[-1] == "inv_freq"]
    rotate_half = getattr(sys.modules[type(model).__module__], "rotate_half", None)
    same = all(torch.equal(x, speeds[0]) for x in speeds)
    if not speeds or not same or rotate_half is None:
        return None

    r = speeds[0].numel()
    # Channel a becomes -b and b becomes a, for channels numbered from 1 so that all have a sign.
    turned = rotate_half(torch.arange(1, 2 * r + 1, dtype=torch.float64))
    first = torch.nonzero(turned < 0)[:, 0]
    second = -turned[first].long() - 1
    pairs = torch.stack([first, second], dim=1).numpy()
    evenly = np.diff(pairs, n=2, axis=0) == 0
    if len(pairs) != r or not evenly.all():
        return None
    return Rotation(pairs, speeds[0].double().cpu().numpy())


@dataclass
class EnergyTally:
    """One layer's heads: energies summed over texts, in which a text counts as much as it has pairs
    of a query and a key. They stay where the model runs until the end."""

    texts: list[tuple[Float[Array, "h r"], int, Bool[np.ndarray, "r"]]] = field(
        default_factory=list
    )

    def add(self, heads: Heads, tokens: Tokens, turning: Rotation) -> None:
        keys = int(tokens.real_keys.sum())
        pairs = keys * int(tokens.real_queries.sum())
        energy = pair_energy(heads, tokens, turning)
        self.texts.append((energy, pairs, turning.slow(keys)))

    def per_pair(self) -> Float[np.ndarray, "h r"] | None:
        """The mean square of each pair's part of the logits; None where nothing turned."""
        if not self.texts:
            return None
        pairs = sum(pairs for _, pairs, _ in self.texts)
        return np.sum([sums for sums, _ in self._sums()], axis=0) / pairs

    def measures(self) -> dict[str, Float[np.ndarray, "h"]]:
        """The share of the slow pairs."""
        if not self.texts:
            return {}
        whole = np.sum([sums.sum(axis=1) for sums, _ in self._sums()], axis=0)
        slow = np.sum([sums[:, is_slow].sum(axis=1) for sums, is_slow in self._sums()], axis=0)
        with np.errstate(invalid="ignore"):
            return {"rotary_slow": slow / whole}

    def _sums(self) -> list[tuple[Float[np.ndarray, "h r"], Bool[np.ndarray, "r"]]]:
        """Of each text the energies summed over its queries and keys, and its slow pairs."""
        texts = self.texts
        return [(to_numpy(energy).astype(float) * pairs, slow) for energy, pairs, slow in texts]


def pair_energy(heads: Heads, tokens: Tokens, turning: Rotation) -> Float[Array, "h r"]:
    """The mean square of each pair's part of the logits."""
    xp = compat.array_namespace(heads.q)
    asked = _moments(xp, heads.q, tokens.real_queries, turning)
    held = _moments(xp, heads.k, tokens.real_keys, turning)
    held = xp.repeat(held, heads.group, axis=1)
    # <A, B> for symmetric 2 x 2 matrices; the last moment stands twice in them.
    both = asked * held
    return heads.scale**2 * (both[0] + both[1] + 2.0 * both[2])


def _moments(
    xp: Any, x: Float[Array, "h t d"], real: Bool[np.ndarray, "t"], turning: Rotation
) -> Float[Array, "3 h r"]:
    """Mean of a^2, b^2 and a b over the real tokens, for the channels a and b of each pair."""
    wide = x if x.dtype in (xp.float32, xp.float64) else xp.astype(x, xp.float32)
    if not real.all():
        wide = xp.take(wide, xp.asarray(np.flatnonzero(real), device=compat.device(x)), axis=1)
    first, second = turning.channels
    a = wide[..., first]
    b = wide[..., second]
    return xp.stack([xp.mean(product, axis=1) for product in (a * a, b * b, a * b)])


def _evenly(places: Int[np.ndarray, "r"]) -> slice:
    """Evenly spaced places as a slice."""
    step = int(places[1] - places[0]) if places.size > 1 else 1
    return slice(int(places[0]), int(places[-1]) + 1, step)
