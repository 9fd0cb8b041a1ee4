"""Padding that leaks, and texts that depend on their neighbours in the batch."""

from __future__ import annotations

import torch
from tests.probes.gallery.parts import (
    MaskedAttention,
    SelfAttention,
    attention,
    causal,
    logits_of,
    mixed,
    weights_of,
)

# --- right ------------------------------------------------------------------------------------


class PaddingRight(MaskedAttention):
    """Padding is hidden from every token."""


class CausalPaddingRight(MaskedAttention):
    """Causal, and padding is hidden."""

    def visible(self, t, n):
        return causal(t, n)


class AbsoluteRight(MaskedAttention):
    """Learned positions, counted from the first real token."""

    def __init__(self):
        super().__init__()
        rng = torch.Generator().manual_seed(5)
        self.places = torch.nn.Parameter(torch.randn(64, self.q_proj.in_features, generator=rng))

    def count(self, attention_mask):
        return (attention_mask.cumsum(-1) - 1).clamp(min=0)

    def forward(self, x, attention_mask=None):
        mask = torch.ones(x.shape[:2], dtype=torch.long)
        mask = mask if attention_mask is None else attention_mask
        return super().forward(x + self.places[self.count(mask)], attention_mask)


class TwoLayersRight(MaskedAttention):
    """Twice the same layer: what the padded rows hold goes into the second one."""

    def visible(self, t, n):
        return causal(t, n)

    def forward(self, x, attention_mask=None):
        return super().forward(super().forward(x, attention_mask), attention_mask)


# --- padding ----------------------------------------------------------------------------------


class MaskIgnored(MaskedAttention):
    """The mask is accepted but not used."""

    def shown(self, attention_mask):
        return torch.ones_like(attention_mask).bool()[:, None, None, :]


class MaskAdded(MaskedAttention):
    """The mask of zeros and ones is added to the logits as it is."""

    def forward(self, x, attention_mask=None):
        q, k, v = self.projected(x)
        bias = 0.0 if attention_mask is None else attention_mask[:, None, None, :].to(x.dtype)
        return self.merge(attention(q, k, v, bias=bias))


class MaskInverted(MaskedAttention):
    """1 hides a token, 0 shows it (x-transformers 164)."""

    def shown(self, attention_mask):
        return ~super().shown(attention_mask)


class MaskOnQueries(MaskedAttention):
    """The mask lies along the queries: padded rows are empty, real rows see padding."""

    def shown(self, attention_mask):
        return attention_mask.bool()[:, None, :, None]


class MaskOfTheFirstText(MaskedAttention):
    """The mask of the first text is used for the whole batch."""

    def shown(self, attention_mask):
        return super().shown(attention_mask)[:1]


class RightPaddingAssumed(MaskedAttention):
    """Counts the real tokens and shows as many from the start: wrong when padded left."""

    def shown(self, attention_mask):
        length = attention_mask.sum(-1)[:, None, None, None]
        return torch.arange(attention_mask.shape[1]) < length


class LeftPaddingAssumed(MaskedAttention):
    """Counts the real tokens and shows as many up to the end: wrong when padded right."""

    def shown(self, attention_mask):
        n = attention_mask.shape[1]
        length = attention_mask.sum(-1)[:, None, None, None]
        return torch.arange(n) >= n - length


class PaddingWithAWeight(MaskedAttention):
    """-5 on the logits of padding: it keeps a little weight."""

    def forward(self, x, attention_mask=None):
        q, k, v = self.projected(x)
        bias = 0.0
        if attention_mask is not None:
            bias = -5.0 * (1 - attention_mask[:, None, None, :].to(x.dtype))
        return self.merge(attention(q, k, v, bias=bias))


class CausalWithMaskReplaced(CausalPaddingRight):
    """Padding replaces the causal mask instead of being joined to it."""

    def forward(self, x, attention_mask=None):
        q, k, v = self.projected(x)
        visible = causal(x.shape[1], x.shape[1])
        if attention_mask is not None:
            visible = self.shown(attention_mask)
        return self.merge(attention(q, k, v, visible))


class MaskTiled(MaskedAttention):
    """Batch and heads are one axis, and the mask was tiled where it should be repeated: heads get
    the mask of another text."""

    def forward(self, x, attention_mask=None):
        q, k, v = (part.flatten(0, 1) for part in self.projected(x))
        logits = logits_of(q, k)
        if attention_mask is not None:
            tiled = attention_mask.bool().repeat(self.heads, 1)[:, None, :]
            logits = logits.masked_fill(~tiled, float("-inf"))
        return self.merge(mixed(logits.softmax(-1), v).unflatten(0, (-1, self.heads)))


class AbsoluteFromTheEdge(AbsoluteRight):
    """Learned positions counted from the edge of the array: right for padding on the right only."""

    def count(self, attention_mask):
        return torch.arange(attention_mask.shape[1]).expand_as(attention_mask)


class EmptyRowsSpread(TwoLayersRight):
    """Rows that see nothing are NaN, and the next layer multiplies them by 0."""

    def forward(self, x, attention_mask=None):
        for _ in range(2):
            q, k, v = self.projected(x)
            visible = causal(x.shape[1], x.shape[1])
            if attention_mask is not None:
                visible = visible & self.shown(attention_mask)
            logits = logits_of(q, k).masked_fill(~visible, float("-inf"))
            x = self.merge(mixed(logits.softmax(-1), v))
        return x


class PaddingInTheMean(MaskedAttention):
    """Keys are centred over all tokens, padding included."""

    def forward(self, x, attention_mask=None):
        return super().forward(x - x.mean(dim=1, keepdim=True), attention_mask)


# --- batch ------------------------------------------------------------------------------------


class QuantisedByBatch(SelfAttention):
    """One quantisation step for the whole batch: neighbours change a text (flash-attention
    1897)."""

    def forward(self, x):
        step = x.detach().abs().max() / 15
        return super().forward(x + ((x / step).round() * step - x).detach())


class AnotherKernelForBatches(SelfAttention):
    """Batches go to another kernel, which rounds the queries to half precision."""

    def forward(self, x):
        q, k, v = self.projected(x)
        if x.shape[0] > 1:
            q = q.bfloat16().to(q.dtype)
        return self.merge(attention(q, k, v, causal(x.shape[1], x.shape[1])))


def normalised_over_batch(q, k, v):
    """Softmax's sum runs over the batch as well."""
    e = (logits_of(q, k) - logits_of(q, k).amax((0, -1), keepdim=True)).exp()
    return mixed(e / e.sum((0, -1), keepdim=True), v)


class BatchStatistics(SelfAttention):
    """Logits are divided by their deviation over the batch."""

    def forward(self, x):
        q, k, v = self.projected(x)
        logits = logits_of(q, k)
        weights = weights_of(logits / logits.std(), causal(x.shape[1], x.shape[1]))
        return self.merge(mixed(weights, v))


class NeighboursKeys(SelfAttention):
    """Keys of the next text of the batch are read: an index off by one."""

    def forward(self, x):
        q, k, v = self.projected(x)
        k = k.roll(-1, dims=0)
        return self.merge(attention(q, k, v, causal(x.shape[1], x.shape[1])))
