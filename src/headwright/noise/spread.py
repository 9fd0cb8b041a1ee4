"""Many keys at the price of few."""

from __future__ import annotations

from typing import Any

from headwright.noise.exact import HeadMoments, head_moments
from headwright.result import to_numpy

DIRECT = 1 << 30


def logits_moments(m: Any, s: Any, V: Any) -> HeadMoments:
    return head_moments(m, s, to_numpy(V).astype(float, copy=False))
