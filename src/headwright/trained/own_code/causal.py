"""Decoders with their own attention code: GPT-J, CodeGen, GPT-Neo, Falcon, BLOOM."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from headwright.trained.own_code.adapter import Attend, only_what_is_needed, visible
from headwright.types import Array


def gptj(module: Any, attend: Attend) -> Callable[..., Any]:
    """GPT-J and CodeGen."""

    def attn(query: Array, key: Array, value: Array, attention_mask: Array) -> Any:
        told = only_what_is_needed(visible(attention_mask))
        scaling = 1.0 / float(module.scale_attn)
        output = attend(module, query, key, value, scaling=scaling, **told)
        return output.transpose(1, 2), None

    return attn


def gpt_neo(module: Any, attend: Attend) -> Callable[..., Any]:
    """No scale; the window of a local layer is in the module's own mask."""

    def attn(query: Array, key: Array, value: Array, attention_mask: Array | None = None) -> Any:
        t = query.shape[2]
        n = key.shape[2]
        seen = module.bias[:, :, n - t : n, :n]
        if attention_mask is not None:
            seen = seen & visible(attention_mask)
        output = attend(module, query, key, value, scaling=1.0, **only_what_is_needed(seen))
        return output.transpose(1, 2), None

    return attn


def falcon(module: Any, attend: Attend) -> Callable[..., Any]:
    """With rotated keys, or with slopes over the distance (alibi)."""
    rotated = sys.modules[type(module).__module__].apply_rotary_pos_emb

    def forward(
        hidden_states: Array,
        alibi: Array | None,
        attention_mask: Array,
        position_embeddings: Any = None,
        **unused: Any,
    ) -> Any:
        fused = module.query_key_value(hidden_states)
        q, k, v = (x.transpose(1, 2) for x in module._split_heads(fused))
        if module.new_decoder_architecture:
            # The library copies a key head for each of its query heads.
            group = module.num_heads // module.num_kv_heads
            k = k[:, ::group]
            v = v[:, ::group]

        told = only_what_is_needed(visible(attention_mask)[:, :1])
        if alibi is None:
            q, k = rotated(q, k, *position_embeddings)
        else:
            # The mask has the slopes in it; the library's eager code adds them once more.
            times = 1.0 if module.config._attn_implementation == "sdpa" else 2.0
            slopes = alibi.reshape(len(q), module.num_heads, 1, -1)
            told["position_bias"] = times * module.inv_norm_factor * slopes
        output = attend(module, q, k, v, **told)
        return module.dense(output.flatten(2)), None

    return forward


def bloom(module: Any, attend: Attend) -> Callable[..., Any]:
    """Slopes over the distance (alibi); the residual is added inside."""

    def forward(
        hidden_states: Array, residual: Array, alibi: Array, attention_mask: Array, **unused: Any
    ) -> Any:
        q, k, v = module._reshape(module.query_key_value(hidden_states))
        told = only_what_is_needed(visible(attention_mask))
        told["position_bias"] = module.beta * alibi.reshape(len(q), module.num_heads, 1, -1)
        output = attend(module, q, k, v, scaling=module.inv_norm_factor, **told)
        return residual + module.dense(output.flatten(2)), None

    return forward
