"""q, k, v as the model uses them: rebuilt maps equal the library's eager maps, and the output is
the model's own."""

# ruff: noqa: E402

import re
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'models'")
tf = pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.tolerances import EAGER_SOFTMAX
from tests.trained.families import FAMILIES, OWN_CODE, REFUSED, build
from tests.trained.naive import full_weights

from headwright.trained import capture
from headwright.trained.preparation import output_only


def _captured(model, inputs):
    layers = []

    def visit(layer):
        layers.append(layer)
        return output_only(layer)

    return layers, capture.run(model, inputs, visit)


def _eager(model, inputs):
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        out = model(**inputs, output_attentions=True)
    model.set_attn_implementation(before)
    names = {
        "model": "attentions",
        "encoder": "encoder_attentions",
        "decoder": "decoder_attentions",
        "cross": "cross_attentions",
    }
    return {stack: out[name] for stack, name in names.items() if out.get(name)}


@pytest.mark.parametrize("family", FAMILIES)
def test_maps_equal_the_eager_maps(family):
    model, inputs = build(family)
    layers, _ = _captured(model, inputs)
    eager = _eager(model, inputs)
    assert {layer.stack for layer in layers} == set(eager)
    assert len(layers) == sum(map(len, eager.values()))
    for layer in layers:
        for b in range(layer.q.shape[0]):
            wanted = eager[layer.stack][layer.index][b].numpy()
            ours = full_weights(layer.text(b))
            real = slice(None) if "attention_mask" not in inputs else _real(inputs, layer, b)
            np.testing.assert_allclose(ours[:, real], wanted[:, real], atol=EAGER_SOFTMAX)


def _real(inputs, layer, b):
    mask = inputs["attention_mask"][b].bool().numpy()
    return np.flatnonzero(mask) if mask.size == layer.q.shape[2] else slice(None)


@pytest.mark.parametrize("family", FAMILIES)
def test_output_is_the_model_s_own_and_the_model_is_left_as_it_was(family):
    model, inputs = build(family)
    model.train()
    before = model.config._attn_implementation
    weights = {name: x.clone() for name, x in model.state_dict().items()}
    assert (
        capture.verify(model, {name: x[:1] for name, x in inputs.items()}, output_only)
        < EAGER_SOFTMAX
    )
    assert model.config._attn_implementation == before
    assert model.training
    assert all(torch.equal(x, weights[name]) for name, x in model.state_dict().items())


def test_the_model_is_restored_after_a_failure():
    model, inputs = build("llama")

    def visit(layer):
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        capture.run(model, inputs, visit)
    assert model.config._attn_implementation == "sdpa"
    assert len(_captured(model, inputs)[0]) == 2


@pytest.mark.parametrize("family", REFUSED)
def test_what_cannot_be_captured_is_refused_with_the_reason(family):
    """Also where a part of the model ignores the interface: the rest alone would be audited as if
    it were the whole."""
    make, reason = REFUSED[family]
    with pytest.raises(capture.Refused, match=reason):
        _captured(make().eval(), {"pixel_values": torch.zeros((1, 3, 32, 32))})


def test_the_page_of_families_says_what_is_tested():
    page = Path(__file__).parents[2] / "docs" / "reference" / "audit-families.md"
    taken, refused = page.read_text(encoding="utf-8").split("## Refused")
    rows = {"taken": taken, "refused": refused.split("## Learned")[0]}
    named = {part: set(re.findall(r"`(\w+Model)`", text)) for part, text in rows.items()}
    assert named["taken"] == {kind.__name__ for kind, _, _ in FAMILIES.values()}
    assert named["refused"] == set(REFUSED)


def test_falcon_is_its_own_in_either_of_its_codes():
    """Its two codes differ in what they make of alibi: the eager one adds it twice."""
    model, inputs = build("falcon, alibi")
    first = {name: x[:1] for name, x in inputs.items()}
    outputs = []
    for code in ("eager", "sdpa"):
        model.config._attn_implementation_internal = code
        assert capture.verify(model, first, output_only) < EAGER_SOFTMAX
        outputs.append(capture.run(model, first, output_only).last_hidden_state)
    assert (outputs[0] - outputs[1]).abs().max() > EAGER_SOFTMAX


@pytest.mark.parametrize("family", OWN_CODE)
def test_adapters_are_gone_after_a_failure(family):
    model, inputs = build(family)

    def visit(layer):
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        capture.run(model, inputs, visit)
    for module in model.modules():
        assert not {"forward", "_attn", "rel_attn_core"} & set(vars(module))


def test_copied_key_heads_are_captured_once():
    model, inputs = build("falcon, key heads")
    layers, _ = _captured(model, inputs)
    assert [layer.k.shape[1] for layer in layers] == [2, 2]


def test_a_wrong_attention_is_caught_by_the_comparison():
    model, inputs = build("llama")

    def without_scale(layer):
        from dataclasses import replace

        return output_only(replace(layer, scale=1.0))

    with pytest.raises(capture.Refused, match="relative difference"):
        capture.verify(model, inputs, without_scale)


def test_only_transformers_models_are_taken():
    with pytest.raises(capture.Refused, match="a transformers model"):
        capture.run(torch.nn.Linear(2, 2), {}, output_only)


def test_what_is_asked_before_the_wait_comes_after_the_last_layer():
    model, inputs = build("llama")
    told = []

    def visit(layer):
        told.append(layer.index)
        return output_only(layer)

    capture.run(model, inputs, visit, before_waiting=lambda: told.append("end"))
    assert told == [*range(len(model.layers)), "end"]


def test_a_part_that_trains_while_the_rest_does_not_comes_back_as_it_was():
    model, inputs = build("llama")
    model.eval()
    model.layers[0].self_attn.train()

    capture.run(model, inputs, lambda layer: _not_training(model, layer))
    assert [m for m in model.modules() if m.training] == list(model.layers[0].self_attn.modules())


def _not_training(model, layer):
    assert not any(module.training for module in model.modules())
    return output_only(layer)
