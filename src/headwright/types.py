"""Shape words. One letter per axis, the same letter everywhere: n keys, d key dimension, v value
dimension, h heads, m queries, s samples. Tests check them at run time (jaxtyping + beartype); users
pay nothing.

`Any` stands for "an array of any array-API library": NumPy, PyTorch or JAX.
"""

from __future__ import annotations

from typing import Any

from jaxtyping import Bool, Float, Int, Shaped

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

__all__ = [
    "Array", "Bool", "Float", "HeadOutputs", "HeadWeights", "Heads", "Int", "Keys", "Logits", "Mask", "Mix",
    "Output", "Queries", "Query", "Shaped", "Values", "Weights",
]  # fmt: skip
