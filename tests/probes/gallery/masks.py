"""What a token may see: edges, corners, windows, prefixes, documents, and what is put where a key
is hidden."""

from __future__ import annotations

import torch
from tests.probes.gallery.parts import (
    SelfAttention,
    attention,
    causal,
    logits_of,
    mixed,
    weights_of,
    window,
)

# --- right ------------------------------------------------------------------------------------


def causal_right(q, k, v):
    """Causal, the last query at the last key."""
    return attention(q, k, v, causal(q.shape[-2], k.shape[-2]))


def window_right(q, k, v):
    """A window of 4 keys, the query's own among them."""
    return attention(q, k, v, window(q.shape[-2], k.shape[-2], 4))


def prefix_right(q, k, v):
    """Causal, but all tokens see the first 3."""
    n = k.shape[-2]
    return attention(q, k, v, causal(q.shape[-2], n) | (torch.arange(n) < 3))


class DocumentsRight(SelfAttention):
    """Packed documents: where `position_ids` returns to 0 a new document starts."""

    def borders(self, position_ids):
        number = (position_ids == 0).cumsum(-1)
        return (number[:, :, None] == number[:, None, :])[:, None]

    def forward(self, x, position_ids=None):
        q, k, v = self.projected(x)
        visible = self.visible(x.shape[1], x.shape[1])
        if position_ids is not None:
            visible = visible & self.borders(position_ids)
        return self.merge(attention(q, k, v, visible))


# --- edges and corners ------------------------------------------------------------------------


def own_token_hidden(q, k, v):
    """The causal edge is one too low, tril(-1): a token does not see itself."""
    t = q.shape[-2]
    n = k.shape[-2]
    logits = logits_of(q, k).masked_fill(~torch.ones(t, n).tril(n - t - 1).bool(), -1e30)
    return mixed(logits.softmax(-1), v)


def next_token_seen(q, k, v):
    """The causal edge is one too high, tril(1): a token sees the next one."""
    t = q.shape[-2]
    n = k.shape[-2]
    return attention(q, k, v, torch.ones(t, n).tril(n - t + 1).bool())


def top_left_corner(q, k, v):
    """With fewer queries than keys the causal mask starts at the first key (pytorch 103082, mlx
    2835)."""
    return attention(q, k, v, torch.ones(q.shape[-2], k.shape[-2]).tril().bool())


def upper_triangle(q, k, v):
    """The triangle that was meant to be hidden is what is seen: a token sees the future only."""
    return attention(q, k, v, torch.ones(q.shape[-2], k.shape[-2]).triu().bool())


class FutureInTheMean(SelfAttention):
    """The attention is causal, but the mean over all tokens was subtracted first."""

    def forward(self, x):
        return super().forward(x - x.mean(dim=1, keepdim=True))


def diagonal_block_full(q, k, v):
    """A causal mask in blocks of 4: inside the block on the diagonal nothing is hidden."""
    t = q.shape[-2]
    n = k.shape[-2]
    own = (torch.arange(t)[:, None] + (n - t)) // 4
    return attention(q, k, v, torch.arange(n)[None, :] // 4 <= own)


def long_text_full(q, k, v):
    """Past 64 tokens another kernel runs, and it was not told to be causal."""
    if k.shape[-2] <= 64:
        return causal_right(q, k, v)
    return attention(q, k, v)


class NotSliding(SelfAttention):
    """A layer that was to see the whole past sees a window of it (Megatron-Bridge 4875)."""

    def visible(self, t, n):
        return window(t, n, 3)


# --- windows ----------------------------------------------------------------------------------


def window_one_more(q, k, v):
    """A window of 4 that sees 5 keys: i - j <= w (transformers 39408, 29623, vllm
    3385, mlx-lm 390)."""
    return attention(q, k, v, window(q.shape[-2], k.shape[-2], 5))


def window_one_less(q, k, v):
    """A window of 4 that sees 3 keys: i - j < w - 1 (transformers 39408, 29623, vllm 3385, mlx-lm
    390)."""
    return attention(q, k, v, window(q.shape[-2], k.shape[-2], 3))


def window_both_ways(q, k, v):
    """A window that looks as far ahead as it looks back."""
    ahead = window(k.shape[-2], k.shape[-2], 4)
    return attention(q, k, v, (ahead | ahead.T)[-q.shape[-2] :])


def window_of_blocks(q, k, v):
    """Sees its own block of 4 and the one before: between 4 and 7 keys ."""
    t = q.shape[-2]
    n = k.shape[-2]
    own = (torch.arange(t)[:, None] + (n - t)) // 4
    return attention(q, k, v, causal(t, n) & (torch.arange(n)[None, :] // 4 >= own - 1))


def prefix_one_more(q, k, v):
    """A prefix of 3 tokens that is 4 tokens long."""
    n = k.shape[-2]
    return attention(q, k, v, causal(q.shape[-2], n) | (torch.arange(n) <= 3))


# --- documents --------------------------------------------------------------------------------


class DocumentsLeak(DocumentsRight):
    """Packed documents see one another: the borders are not used (axolotl 3796)."""

    def borders(self, position_ids):
        return torch.ones_like(position_ids).bool()[:, None, None, :]


class DocumentsOfTheFirstText(DocumentsRight):
    """The borders of the first text of the batch are used for all (torchtitan 4801)."""

    def borders(self, position_ids):
        return super().borders(position_ids)[:1]


class DocumentsOneOff(DocumentsRight):
    """The first token of a document still belongs to the one before."""

    def borders(self, position_ids):
        return super().borders(position_ids.roll(1, dims=-1))


# --- what stands where a key is hidden --------------------------------------------------------


def _filled(q, k, v, fill):
    hidden = ~causal(q.shape[-2], k.shape[-2])
    return mixed(logits_of(q, k).masked_fill(hidden, fill).softmax(-1), v)


def filled_with_minus_1e4(q, k, v):
    """Hidden logits are -1e4, which large logits of the past go below (TransformerLens 385,
    lattice 361)."""
    return _filled(q, k, v, -1e4)


def filled_with_minus_1e5(q, k, v):
    """Hidden logits are -1e5: the same at larger logits (TransformerLens 385, lattice 361)."""
    return _filled(q, k, v, -1e5)


def filled_with_minus_1e9(q, k, v):
    """Hidden logits are -1e9: the same at logits larger still (TransformerLens 385,
    lattice 361)."""
    return _filled(q, k, v, -1e9)


def added_minus_1e4(q, k, v):
    """-1e4 is added to hidden logits, which large ones of the future survive."""
    hidden = ~causal(q.shape[-2], k.shape[-2])
    return mixed((logits_of(q, k) - 1e4 * hidden).softmax(-1), v)


def filled_with_infinity(q, k, v):
    """The repair: -inf."""
    return _filled(q, k, v, float("-inf"))


class FilledHidden(SelfAttention):
    """Hidden logits are -1e5, in a layer on hidden states (TransformerLens 385)."""

    def forward(self, x):
        q, k, v = self.projected(x)
        return self.merge(filled_with_minus_1e5(q, k, v))


def multiplied_before(q, k, v):
    """Logits are multiplied by the mask: hidden keys get logit 0, not -inf."""
    logits = logits_of(q, k) * causal(q.shape[-2], k.shape[-2])
    return mixed(weights_of(logits), v)


def multiplied_after(q, k, v):
    """Weights are multiplied by the mask and not normalised again: rows sum to less than 1."""
    weights = weights_of(logits_of(q, k)) * causal(q.shape[-2], k.shape[-2])
    return mixed(weights, v)
