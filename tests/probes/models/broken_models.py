"""Small models with one mistake each, put in by replacing a function of the library."""

import torch
import transformers as tf
from transformers.models.llama import modeling_llama
from transformers.models.mistral import modeling_mistral

_SIZES = {
    "hidden_size": 48,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "vocab_size": 60,
    "pad_token_id": 0,
}


def made(kind, config):
    torch.manual_seed(11)
    model = kind(config).eval()
    for parameter in model.parameters():
        # Fresh weights are tiny and give nearly uniform rows, on which every mistake looks right.
        parameter.data.add_(torch.randn_like(parameter) * 0.2)
    return model


def llama(kind=tf.LlamaModel):
    return made(kind, tf.LlamaConfig(**_SIZES))


def not_causal_on_sdpa(monkeypatch):
    """transformers 48748: without a mask the fused kernel is told that nothing is causal."""
    model = llama()
    for layer in model.layers:
        layer.self_attn.is_causal = False
    return model


def window_one_too_wide(monkeypatch):
    """transformers 39408: the window sees one key more than it says."""
    right = modeling_mistral.create_sliding_window_causal_mask

    def wide(config, **words):
        own = config.sliding_window
        config.sliding_window = own + 1
        try:
            return right(config=config, **words)
        finally:
            config.sliding_window = own

    monkeypatch.setattr(modeling_mistral, "create_sliding_window_causal_mask", wide)
    return made(tf.MistralModel, tf.MistralConfig(**_SIZES, sliding_window=4096))


def key_heads_tiled(monkeypatch):
    """onnx 7274: key heads 0 1 0 1 0 1 where 0 0 0 1 1 1 was meant, in eager alone."""
    tiled = lambda states, times: states.repeat(1, times, 1, 1)  # noqa: E731
    monkeypatch.setattr(modeling_llama, "repeat_kv", tiled)
    return llama()


def padding_seen_in_eager(monkeypatch):
    """The mask of the texts is dropped in one implementation, the causal one stays."""
    right = modeling_llama.eager_attention_forward

    def leaking(module, query, key, value, attention_mask, **words):
        later = torch.ones(query.shape[2], key.shape[2]).tril() == 0
        lowest = torch.finfo(query.dtype).min
        mask = torch.zeros(later.shape, dtype=query.dtype).masked_fill(later, lowest)
        return right(module, query, key, value, mask[None, None], **words)

    monkeypatch.setattr(modeling_llama, "eager_attention_forward", leaking)
    return llama()


class DecodesAtZero(tf.LlamaModel):
    """mlx-vlm 1983: every token after the first pass is at position 0."""

    def forward(self, *arguments, past_key_values=None, position_ids=None, **words):
        past = 0 if past_key_values is None else past_key_values.get_seq_length()
        states = words.get("inputs_embeds")
        if past and position_ids is None and states is not None:
            position_ids = torch.zeros(states.shape[:2], dtype=torch.long)
        words |= {"past_key_values": past_key_values, "position_ids": position_ids}
        return super().forward(*arguments, **words)


def decodes_at_zero(monkeypatch):
    return llama(DecodesAtZero)


def rotation_kept(monkeypatch):
    """transformers 27227: angles made for a long text are kept for the short ones after it."""
    model = llama()
    rotary = model.rotary_emb
    right = rotary.forward

    def stale(x, position_ids):
        if int(position_ids.max()) >= 8:
            rotary.inv_freq = rotary.original_inv_freq / 2
        return right(x, position_ids)

    monkeypatch.setattr(rotary, "forward", stale)
    return model
