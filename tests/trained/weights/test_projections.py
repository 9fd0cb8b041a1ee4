"""The matrices that a probe finds are those in the weights, whatever a family calls them."""

import numpy as np
import pytest
from tests.tolerances import AUDIT, STREAMED

torch = pytest.importorskip("torch", reason="needs the extra 'models'")
pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.trained.families import build  # noqa: E402

from headwright.errors import InputError  # noqa: E402
from headwright.trained.weights.projections import projections  # noqa: E402


def _heads_in(w, d):
    """(m, h d) to (h, m d)."""
    return w.reshape(w.shape[0], -1, d).permute(1, 0, 2)


def _llama(model):
    layer = model.layers[1]
    attention, scale = layer.self_attn, layer.input_layernorm.weight[:, None]
    d = attention.head_dim
    read = [getattr(attention, f"{x}_proj").weight.T * scale for x in "qkv"]
    return [_heads_in(w, d) for w in read], attention.o_proj.weight.T.reshape(-1, d, 32)


def _gemma(model):
    """Its norm multiplies by 1 + weight."""
    layer = model.layers[1]
    attention, scale = layer.self_attn, 1.0 + layer.input_layernorm.weight[:, None]
    d = attention.head_dim
    read = [getattr(attention, f"{x}_proj").weight.T * scale for x in "qkv"]
    return [_heads_in(w, d) for w in read], attention.o_proj.weight.T.reshape(-1, d, 32)


def _gpt2(model):
    layer = model.h[1]
    fused = layer.attn.c_attn.weight * layer.ln_1.weight[:, None]
    read = [_heads_in(w, 8) for w in fused.split(32, dim=1)]
    return read, layer.attn.c_proj.weight.reshape(4, 8, 32)


def _gpt_neox(model):
    """Fused head by head: query, key and value of one stand together."""
    layer = model.layers[1]
    fused = (layer.attention.query_key_value.weight * layer.input_layernorm.weight).reshape(
        4, 3, 8, 32
    )
    return list(fused.permute(1, 0, 3, 2)), layer.attention.dense.weight.T.reshape(4, 8, 32)


def _bert(model):
    """The norm before a layer closes the one before it; W_O stands outside the module that
    attends."""
    scale = model.encoder.layer[0].output.LayerNorm.weight[:, None]
    attention = model.encoder.layer[1].attention
    read = [getattr(attention.self, x).weight.T * scale for x in ("query", "key", "value")]
    return [_heads_in(w, 8) for w in read], attention.output.dense.weight.T.reshape(4, 8, 32)


DIRECT = {"llama": _llama, "gemma": _gemma, "gpt2": _gpt2, "gpt_neox": _gpt_neox, "bert": _bert}


@pytest.mark.parametrize("family", DIRECT)
def test_the_matrices_of_the_second_layer(family):
    model, _ = build(family)
    found = projections(model)
    assert set(found) == {("model", 0), ("model", 1)}
    layer = found["model", 1]
    read, written = DIRECT[family](model)
    assert layer.folded
    for name, ours, theirs in zip(
        ("W_Q", "W_K", "W_V", "W_O"),
        (layer.W_Q, layer.W_K, layer.W_V, layer.W_O),
        (*read, written),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs.detach(), atol=AUDIT, err_msg=name)


def test_behind_a_norm_of_queries_there_is_no_matrix():
    model, _ = build("qwen3")
    layer = projections(model)["model", 1]
    assert layer.W_Q is None
    assert layer.W_K is None
    attention = model.layers[1].self_attn
    written = attention.o_proj.weight.detach().T.reshape(4, 16, 32)
    np.testing.assert_allclose(layer.W_O, written, atol=STREAMED)
    assert layer.W_V is not None


def test_an_adapter_is_part_of_the_matrix():
    """A module that wraps W_O and adds to it is found, not what it wraps."""
    model, _ = build("llama")
    attention = model.layers[0].self_attn
    plain = projections(model)["model", 0].W_O

    class Adapted(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x) + 0.5 * x

    attention.o_proj = Adapted(attention.o_proj)
    adapted = projections(model)["model", 0].W_O
    more = 0.5 * torch.eye(32).reshape(plain.shape)
    np.testing.assert_allclose(adapted, plain + more, atol=STREAMED)


def test_encoder_and_decoder_are_probed_and_cross_attention_is_not():
    model, _ = build("bart")
    found = projections(model)
    assert {stack for stack, _ in found} == {"encoder", "decoder"}
    own = model.decoder.layers[1].self_attn.out_proj.weight.detach().T.reshape(4, 8, 32)
    np.testing.assert_allclose(found["decoder", 1].W_O, own, atol=STREAMED)


def test_the_model_is_left_as_it_came():
    model, inputs = build("gpt2")
    with torch.inference_mode():
        before = model(**inputs).last_hidden_state
    projections(model)
    with torch.inference_mode():
        after = model(**inputs).last_hidden_state
    assert torch.equal(before, after)
    assert not any(module._forward_hooks for module in model.modules())


def test_images_are_refused():
    with pytest.raises(InputError, match="pixel_values"):
        projections(build("vit")[0])
