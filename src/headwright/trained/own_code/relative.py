"""Encoders with relative positions in their own attention code: MPNet, XLNet, DeBERTa.

A term of the logits that does not read the keys is a bias like any other. DeBERTa also looks up
positions in the keys, so its bias moves with them, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headwright.trained.library import torch
from headwright.trained.own_code.adapter import Attend
from headwright.types import Array


def mpnet(module: Any, attend: Attend) -> Callable[..., Any]:
    def forward(
        hidden_states: Array,
        attention_mask: Array | None = None,
        position_bias: Array | None = None,
        **unused: Any,
    ) -> Any:
        shape = (*hidden_states.shape[:-1], -1, module.attention_head_size)
        projections = (module.q, module.k, module.v)
        q, k, v = (one(hidden_states).view(shape).transpose(1, 2) for one in projections)
        output = attend(
            module, q, k, v, attention_mask, position_bias=position_bias, is_causal=False
        )
        return (module.o(output.flatten(2)),)

    return forward


def xlnet(module: Any, attend: Attend) -> Callable[..., Any]:
    """z = scale ((q + w) k + (q + r) k_position + (q + s) segment): what does not read the keys is
    a bias. Its arrays are (t, b, h, d), its mask is 1 where a key is hidden."""

    def rel_attn_core(
        q_head: Array,
        k_head_h: Array,
        v_head_h: Array,
        k_head_r: Array,
        seg_mat: Array | None = None,
        attn_mask: Array | None = None,
        output_attentions: bool = False,
    ) -> Any:
        bias = torch.einsum("ibnd,jbnd->bnij", q_head + module.r_r_bias, k_head_r)
        bias = module.rel_shift_bnij(bias, klen=len(k_head_h))
        if seg_mat is not None:
            by_segment = torch.einsum("ibnd,snd->ibns", q_head + module.r_s_bias, module.seg_embed)
            bias = bias + torch.einsum("ijbs,ibns->bnij", seg_mat, by_segment)

        seen = None if attn_mask is None else attn_mask.permute(2, 3, 0, 1) == 0
        arrays = (q_head + module.r_w_bias, k_head_h, v_head_h)
        q, k, v = (x.permute(1, 2, 0, 3) for x in arrays)
        told = {"scaling": module.scale, "position_bias": bias * module.scale, "is_causal": False}
        output = attend(module, q, k, v, seen, **told)
        vectors = output.transpose(0, 1)
        return (vectors, None) if output_attentions else vectors

    return rel_attn_core


def deberta_v2(module: Any, attend: Attend) -> Callable[..., Any]:
    """DeBERTa v2 and v3. Its own method for the position terms takes texts and heads on one
    axis."""

    def forward(
        hidden_states: Array,
        attention_mask: Array,
        *unused: Any,
        relative_pos: Array | None = None,
        rel_embeddings: Array | None = None,
        **others: Any,
    ) -> Any:
        h = module.num_attention_heads
        projections = (module.query_proj, module.key_proj, module.value_proj)
        flat = [module.transpose_for_scores(one(hidden_states), h) for one in projections]
        q, k, v = (x.unflatten(0, (-1, h)) for x in flat)

        terms = 1 + len({"c2p", "p2c"} & set(module.pos_att_type))
        bias = None
        if _position_terms(module):
            own = module.disentangled_attention_bias
            bias = own(flat[0], flat[1], relative_pos, rel_embeddings, terms)
            bias = bias.unflatten(0, (-1, h))
        told = _told(module, bias, scaling=(q.shape[-1] * terms) ** -0.5)
        output = attend(module, q, k, v, attention_mask.bool(), **told)
        return output.flatten(2), None

    return forward


def deberta(module: Any, attend: Attend) -> Callable[..., Any]:
    """The first DeBERTa. Its own method for the position terms takes queries that are scaled."""

    def forward(
        hidden_states: Array,
        attention_mask: Array,
        *unused: Any,
        relative_pos: Array | None = None,
        rel_embeddings: Array | None = None,
        **others: Any,
    ) -> Any:
        fused = module.transpose_for_scores(module.in_proj(hidden_states))
        q, k, v = fused.chunk(3, dim=-1)
        q = q + module.transpose_for_scores(module.q_bias[None, None, :])
        v = v + module.transpose_for_scores(module.v_bias[None, None, :])

        terms = 1 + len(module.pos_att_type)
        scaling = (q.shape[-1] * terms) ** -0.5
        bias = None
        if _position_terms(module):
            own = module.disentangled_att_bias
            bias = own(q * scaling, k, relative_pos, rel_embeddings, terms)
        told = _told(module, bias, scaling=scaling)
        output = attend(module, q, k, v, attention_mask.bool(), **told)
        return output.flatten(2), None

    return forward


def _position_terms(module: Any) -> set[str]:
    """c2p: positions looked up in the queries; p2c: in the keys."""
    return {"c2p", "p2c"} & set(module.pos_att_type) if module.relative_attention else set()


def _told(module: Any, bias: Array | None, *, scaling: float) -> dict[str, Any]:
    return {
        "scaling": scaling,
        "position_bias": bias,
        "bias_reads_keys": "p2c" in _position_terms(module),
        "is_causal": False,
    }
