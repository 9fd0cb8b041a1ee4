"""What every engine returns: a frozen record with a status, a method and an error bound.

A numerical failure is a status with a message, never a silent number; so a result can always be
shown, saved and compared. `plain` turns any record into JSON-ready Python, which is the one
renderer that the command line, the report and the lab share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Estimate:
    """One number or array with the error it is known to."""

    value: Any
    error: float  # absolute, in the units of `value`; 0 for exact arithmetic
    method: str  # e.g. "closed form", "exact", "sampled"
    status: str = "done"  # "done", or the reason why `value` is not to the promised accuracy
    message: str = ""


def plain(thing: Any) -> Any:
    """JSON-ready Python: records become dicts, arrays lists, and non-finite floats strings.

    JSON has no infinity; writing `"inf"` keeps the number readable instead of producing invalid
    JSON. Fields whose name starts with an underscore are private and left out.
    """
    if is_dataclass(thing) and not isinstance(thing, type):
        return {
            f.name: plain(getattr(thing, f.name))
            for f in fields(thing)
            if not f.name.startswith("_")
        }
    if isinstance(thing, Enum):
        return thing.value
    if isinstance(thing, dict):
        return {str(k): plain(v) for k, v in thing.items()}
    if isinstance(thing, (list, tuple, set, frozenset)):
        return [plain(v) for v in thing]
    if isinstance(thing, (bool, int, str)) or thing is None:
        return thing
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else str(thing)
    if hasattr(thing, "__array__") or hasattr(thing, "__dlpack__"):
        return plain(to_numpy(thing).tolist())
    return str(thing)


def to_numpy(array: Any) -> np.ndarray:
    """A NumPy copy of an array of any library, on any device."""
    import numpy as np  # whoever writes no arrays needs none of it

    if hasattr(array, "detach"):
        array = array.detach().cpu()
        # NumPy has no such dtype; float32 holds every bfloat16 exactly
        if "bfloat16" in str(array.dtype):
            array = array.float()
    return np.asarray(array)
