"""One attention layer of one forward pass, and its heads on one text: what the row measures, the
cache and the claims look at."""

from __future__ import annotations

from dataclasses import dataclass

from headwright.types import Array, Bool, Float


@dataclass(frozen=True)
class Heads:
    """`h` query heads on `h/g` key heads (query head i reads key head i // g), `t` queries, `n`
    keys.

    Logits are `softcap * tanh(scale q.k / softcap) + bias`, seen where `mask` is True and, if
    `causal`, where the key is not after the query. `sinks[i]` is one more logit in every row of
    head i: it takes its share of the weights, and has no key and no value. `bias_reads_keys`: the
    bias moves with the keys, so what noise on the keys does cannot be told from q and k.
    """

    q: Float[Array, "h t d"]
    k: Float[Array, "hk n d"]
    v: Float[Array, "hk n v"]
    scale: float
    causal: bool = False
    mask: Bool[Array, "#h t n"] | None = None
    bias: Float[Array, "#h t n"] | None = None
    softcap: float | None = None
    sinks: Float[Array, "h"] | None = None
    bias_reads_keys: bool = False

    def __repr__(self) -> str:
        h, t, _ = self.q.shape
        hk, n, _ = self.k.shape
        return f"<Heads: {h} query heads on {hk} key heads, {t} queries, {n} keys>"

    @property
    def group(self) -> int:
        """Query heads per key head."""
        return self.q.shape[0] // self.k.shape[0]

    def key_head(self, head: int) -> int:
        return head // self.group


@dataclass(frozen=True)
class Layer:
    """One attention layer of one forward pass: `q` (b, h, t, d), `k` and `v` (b, h/g, n, .), and
    what is done to the logits. `stack` says where it sits ("encoder", "decoder", "cross", "model"),
    `index` counts from 0 there."""

    stack: str
    index: int
    module: str
    q: Array
    k: Array
    v: Array
    scale: float
    causal: bool
    mask: Array | None
    bias: Array | None
    softcap: float | None
    sinks: Array | None = None  # (h,)
    bias_reads_keys: bool = False

    def __repr__(self) -> str:
        q, k, v = (tuple(x.shape) for x in (self.q, self.k, self.v))
        return f"<Layer {self.index} of {self.stack} ({self.module}): q {q}, k {k}, v {v}>"

    def text(self, b: int) -> Heads:
        """The heads of the b-th text of the batch."""

        def shared(x: Array | None) -> Array | None:
            """A mask or bias, which all texts may have in common."""
            return None if x is None else x[b if x.shape[0] > 1 else 0]

        return Heads(
            q=self.q[b],
            k=self.k[b],
            v=self.v[b],
            scale=self.scale,
            causal=self.causal,
            mask=shared(self.mask),
            bias=shared(self.bias),
            softcap=self.softcap,
            sinks=self.sinks,
            bias_reads_keys=self.bias_reads_keys,
        )
