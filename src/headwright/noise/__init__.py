"""What happens on average, and at worst, when keys are random: `moments` and `worst_case`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headwright.noise.moments import Moments, moments

if TYPE_CHECKING:
    from headwright.noise.distribution import weight_distribution
    from headwright.noise.limit.moments import winners
    from headwright.noise.tail_probability import exceedance
    from headwright.noise.worst import worst_case

# name -> file of this folder it lives in, imported when first used.
_HOME = {
    "exceedance": "tail_probability",
    "weight_distribution": "distribution",
    "winners": "limit.moments",
    "worst_case": "worst",
}

__all__ = ["Moments", "exceedance", "moments", "weight_distribution", "winners", "worst_case"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'headwright.noise' has no attribute {name!r}")
    return getattr(import_module(f"headwright.noise.{_HOME[name]}"), name)
