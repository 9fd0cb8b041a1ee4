"""A layer that disagrees with itself: with and without a mask, scores, training, a view, a
gradient."""

from __future__ import annotations

import math

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
from torch.nn import functional

# --- right ------------------------------------------------------------------------------------


class ScoresRight(SelfAttention):
    """Causal, with or without its weights beside the output."""

    def seen(self, t, asked):
        return causal(t, t)

    def forward(self, x, output_attentions=False):
        q, k, v = self.projected(x)
        weights = weights_of(logits_of(q, k), self.seen(x.shape[1], output_attentions))
        output = self.merge(mixed(weights, v))
        return (output, weights) if output_attentions else output


class DropoutRight(SelfAttention):
    """Dropout in training only."""

    dropout = 0.2

    def rate(self):
        return self.dropout if self.training else 0.0

    def forward(self, x):
        q, k, v = self.projected(x)
        made = functional.scaled_dot_product_attention(
            q, k, v, is_causal=True, dropout_p=self.rate()
        )
        return self.merge(made)


def bool_mask_right(q, k, v, attn_mask=None, need_weights=False):
    """True may be seen, with or without weights."""
    weights = weights_of(logits_of(q, k), attn_mask)
    output = mixed(weights, v)
    return (output, weights) if need_weights else output


def capped_right(q, k, v, need_weights=False):
    """Logits capped at 50 in both paths."""
    weights = weights_of(50 * torch.tanh(logits_of(q, k) / 50))
    output = mixed(weights, v)
    return (output, weights) if need_weights else output


# --- broken -----------------------------------------------------------------------------------


class DropoutInEval(DropoutRight):
    """The rate of dropout goes to SDPA in evaluation as well (pytorch 124464)."""

    def rate(self):
        return self.dropout


class CausalDroppedWithScores(ScoresRight):
    """When scores are asked for, the causal mask is forgotten (keras 23038)."""

    def seen(self, t, asked):
        return causal(t, t) | asked


def causal_dropped_with_scores(q, k, v, return_attention_scores=False):
    """A function that forgets its causal mask when scores are asked for (keras 23038)."""
    visible = causal(q.shape[-2], k.shape[-2]) | return_attention_scores
    weights = weights_of(logits_of(q, k), visible)
    output = mixed(weights, v)
    return (output, weights) if return_attention_scores else output


class CausalOnlyWithMask(MaskedAttention):
    """Without a mask nothing is causal, with a mask of ones it is (transformers 48748)."""

    def forward(self, x, attention_mask=None):
        q, k, v = self.projected(x)
        visible = None
        if attention_mask is not None:
            visible = causal(x.shape[1], x.shape[1]) & self.shown(attention_mask)
        return self.merge(attention(q, k, v, visible))


class PaddingWrongInEval(MaskedAttention):
    """The fast path of evaluation does not pass the padding on (pytorch 86120)."""

    def forward(self, x, attention_mask=None):
        return super().forward(x, attention_mask if self.training else None)


def bool_mask_inverted_in_one_path(q, k, v, attn_mask=None, need_weights=False):
    """True means "hide" where weights are asked for, "see" elsewhere (TransformerEngine 614)."""
    if need_weights and attn_mask is not None:
        attn_mask = ~attn_mask
    return bool_mask_right(q, k, v, attn_mask, need_weights)


def bool_mask_inverted(q, k, v, attn_mask=None):
    """True hides a key, as it does in some libraries: told by running, and no fault (x-transformers
    164)."""
    logits = logits_of(q, k)
    if attn_mask is not None:
        logits = logits.masked_fill(attn_mask, float("-inf"))
    return mixed(logits.softmax(-1), v)


def capped_in_one_path(q, k, v, need_weights=False):
    """The cap of 50 on the logits is dropped in the fast path: seen at logits of 60 (vllm 5908)."""
    if need_weights:
        return capped_right(q, k, v, need_weights)
    return mixed(weights_of(logits_of(q, k)), v)


class SinksInOnePath(ScoresRight):
    """The learned sink takes its share only when weights are asked for (vllm-metal 550)."""

    def forward(self, x, output_attentions=False):
        if not output_attentions:
            return super().forward(x)
        q, k, v = self.projected(x)
        logits = logits_of(q, k).masked_fill(~causal(x.shape[1], x.shape[1]), float("-inf"))
        sink = torch.ones_like(logits[..., :1])
        weights = torch.cat([logits, sink], dim=-1).softmax(-1)[..., :-1]
        return self.merge(mixed(weights, v)), weights


def contiguous_assumed(q, k, v):
    """Reads memory as if it were contiguous: wrong on views of a fused projection."""
    q, k, v = (x.as_strided(x.shape, torch.empty(x.shape).stride()) for x in (q, k, v))
    return attention(q, k, v)


class ScaleInTrainingOnly(SelfAttention):
    """The scale is applied in training only."""

    def forward(self, x):
        q, k, v = self.projected(x)
        scale = 1 / math.sqrt(self.head_size) if self.training else 1.0
        return self.merge(attention(q, k, v, causal(x.shape[1], x.shape[1]), scale=scale))


class CausalOnlyWithGradient(SelfAttention):
    """The path without gradients lost the causal mask."""

    def visible(self, t, n):
        return causal(t, n) | (not torch.is_grad_enabled())


class CausalDroppedWithCache(SelfAttention):
    """Asked to keep a cache, prefill is not causal."""

    def forward(self, x, past_key_values=None, use_cache=False):
        q, k, v = self.projected(x)
        if past_key_values is not None:
            k = torch.cat([past_key_values[0], k], dim=-2)
            v = torch.cat([past_key_values[1], v], dim=-2)
        visible = causal(q.shape[-2], k.shape[-2]) | (use_cache and past_key_values is None)
        output = self.merge(attention(q, k, v, visible))
        return (output, (k, v)) if use_cache else output


def causal_switch_ignored_with_mask(q, k, v, attn_mask=None, is_causal=False):
    """`is_causal` is dropped where a mask is given as well."""
    visible = attn_mask
    if attn_mask is None and is_causal:
        visible = causal(q.shape[-2], k.shape[-2])
    return attention(q, k, v, visible)
