"""The heads of one layer on one text: what `measures`, `quantise` and `claim` look at."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headwright.types import Array, Bool, Float


@dataclass(frozen=True)
class Heads:
    """`h` query heads on `h/g` key heads (query head i reads key head i // g), `t` queries, `n`
    keys.

    Logits are `softcap * tanh(scale q.k / softcap) + bias`, seen where `mask` is True and, if
    `causal`, where the key is not after the query.
    """

    q: Float[Array, "h t d"]
    k: Float[Array, "hk n d"]
    v: Float[Array, "hk n v"]
    scale: float
    causal: bool = False
    mask: Bool[Array, "#h t n"] | None = None
    bias: Float[Array, "#h t n"] | None = None
    softcap: float | None = None

    def __repr__(self) -> str:
        (h, t, _), (hk, n, _) = self.q.shape, self.k.shape
        return f"<Heads: {h} query heads on {hk} key heads, {t} queries, {n} keys>"

    @property
    def group(self) -> int:
        """Query heads per key head."""
        return self.q.shape[0] // self.k.shape[0]

    def key_head(self, head: int) -> int:
        return head // self.group

    def with_keys(self, k: Array) -> Heads:
        return replace(self, k=k)
