"""Keys before their rotation, which are easier to store.

A rotary embedding turns every pair of channels of the key at place t by the angle t * speed. A pair
of a constant size then visits a whole circle, and the range of both channels has to hold that
circle. Turned back by the same angle it stays near one point, so that the same bits make smaller
steps; and a rotation changes no length, so that errors come back in the size they were made.

Nothing depends on the angles being those of the model: what is turned back on arrival is turned
forth by the same angles when it is read. With other angles (a text padded on the left, speeds that
change with the length) the ranges fit less well, which is all.

Rejected: rounding the keys that the key projection returns. A cache does not see them, and what the
model does between them and the cache (norms, scaled rotations) would have to be known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.trained.library import torch
from headwright.trained.measures.rotary import Rotation, rotation
from headwright.types import Array, Float


@dataclass(frozen=True)
class Turning:
    """Turns keys (..., n, d) whose first token is at place `start`. Without a rotation keys stay as
    they come."""

    rotation: Rotation | None = None

    def back(self, keys: Float[Array, "*b n d"], start: int = 0) -> Float[Array, "*b n d"]:
        return self._turned(keys, start, -1.0)

    def forth(self, keys: Float[Array, "*b n d"], start: int = 0) -> Float[Array, "*b n d"]:
        return self._turned(keys, start, 1.0)

    def _turned(self, x: Array, start: int, sign: float) -> Array:
        """(a, b) becomes (a cos - b sin, a sin + b cos), in single precision."""
        if self.rotation is None:
            return x
        places = torch.arange(start, start + x.shape[-2], dtype=torch.float64)
        # In double precision: at place 100,000 single precision is off by a hundredth of a radian.
        angles = sign * places[:, None] * torch.as_tensor(self.rotation.speeds)
        cos = torch.cos(angles).to(x.device, torch.float32)
        sin = torch.sin(angles).to(x.device, torch.float32)

        first, second = self.rotation.channels
        a = x[..., first].float()
        b = x[..., second].float()
        turned = x.float().clone()
        turned[..., first] = a * cos - b * sin
        turned[..., second] = a * sin + b * cos
        return turned

    def mean_outer(self, outer: Float[Array, "h d d"], n: int) -> Float[Array, "h d d"]:
        """The mean of q' q as the keys of all places meet it, from the sum `outer` of q' q for
        queries q turned back: a query that is D tokens away is turned by D * speed, and D takes
        every value below n.

        Channel c becomes cos_c q_c + sin_c q_p with p its partner in the pair, and the sine of the
        first of a pair has the other sign; a channel without a pair keeps cos 1 and sin 0.
        """
        if self.rotation is None:
            return outer
        partner = np.arange(outer.shape[-1])
        sign = np.zeros(outer.shape[-1])
        speed = np.zeros(outer.shape[-1])
        first, second = self.rotation.pairs.T
        partner[first] = second
        partner[second] = first
        sign[first] = -1.0
        sign[second] = 1.0
        speed[first] = self.rotation.speeds
        speed[second] = self.rotation.speeds

        angles = np.arange(n)[:, None] * speed
        cos = np.cos(angles)
        sin = sign * np.sin(angles)
        means = (cos.T @ cos, cos.T @ sin, sin.T @ cos, sin.T @ sin)
        both, right, left, neither = (
            torch.as_tensor(mean / n, dtype=outer.dtype, device=outer.device) for mean in means
        )
        to_right = outer[:, :, partner]
        to_left = outer[:, partner]
        return both * outer + right * to_right + left * to_left + neither * to_right[:, partner]


def turning(model: Any) -> Turning:
    """By the one rotation of a model; by none where it has none, or several."""
    return Turning(rotation(model))
