"""What happens on average, and at worst, when keys are random: `moments` and `worst_case`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwright.noise.moments import Moments, moments

if TYPE_CHECKING:
    from headwright.noise.worst import worst_case

__all__ = ["Moments", "moments", "worst_case"]


def __getattr__(name: str) -> Any:
    if name != "worst_case":
        raise AttributeError(f"module 'headwright.noise' has no attribute {name!r}")
    from headwright.noise.worst import worst_case

    return worst_case
