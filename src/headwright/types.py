"""Shape words. One letter per axis, the same letter everywhere: n keys, d key dimension, v value
dimension, h heads, m queries, s samples. Tests check them at run time (jaxtyping + beartype); users
pay nothing, not even the import: whoever checks shapes has imported jaxtyping before this package.

`Any` stands for "an array of any array-API library": NumPy, PyTorch or JAX.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool, Float, Int, Shaped
else:

    class Shaped:
        """An array of any shape, for readers."""

        def __class_getitem__(cls, shape: Any) -> Any:
            return Any

    Bool = Float = Int = Shaped

Array = Any

Query = Float[Array, "d"]
Queries = Float[Array, "*m d"]
Heads = Float[Array, "h d"]
Keys = Float[Array, "n d"]
Values = Float[Array, "n v"]
Weights = Float[Array, "*m n"]
Logits = Float[Array, "*m n"]
Output = Float[Array, "*m v"]
Mask = Bool[Array, "*m n"]
HeadWeights = Float[Array, "h *m n"]
HeadOutputs = Float[Array, "h *m v"]
Mix = Float[Array, "h"]

PerHead = Float[Array, "h"]
PerKey = Float[Array, "n"]
PerHeadAndKey = Float[Array, "h n"]
Mean = Float[Array, "v"]
Covariance = Float[Array, "v v"]

# Inside the engine of many keys: g columns of a grid, on the host or beside keys on an accelerator.
OnGrid = Float[Array, "g"]

# On the host, inside the engines of `noise`: u nodes of an integral, k distinct laws among keys.
HostPerHead = Float[np.ndarray, "h"]
HostPerKey = Float[np.ndarray, "n"]
HostPerLaw = Float[np.ndarray, "k"]
HostPerNode = Float[np.ndarray, "u"]
HostPairOfLogits = Float[np.ndarray, "2"]
HostTable = Float[np.ndarray, "u n"]
HostValues = Float[np.ndarray, "n v"]
HostMean = Float[np.ndarray, "v"]
HostCovariance = Float[np.ndarray, "v v"]

__all__ = [
    "Array", "Bool", "Covariance", "Float", "HeadOutputs", "HeadWeights", "Heads",
    "HostCovariance", "HostMean", "HostPairOfLogits", "HostPerHead", "HostPerKey", "HostPerLaw",
    "HostPerNode", "HostTable", "HostValues", "Int", "Keys", "Logits", "Mask", "Mean", "Mix",
    "OnGrid", "Output", "PerHead", "PerHeadAndKey", "PerKey", "Queries", "Query", "Shaped",
    "Values", "Weights",
]  # fmt: skip
