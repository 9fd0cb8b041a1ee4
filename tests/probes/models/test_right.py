"""Right models: nothing of theirs is broken, and what they are is told."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the models extra is not installed")

import numpy as np
import torch
from tests.trained.families import FAMILIES, build

from headwright.errors import InputError
from headwright.probes.models import part_of, xray_model
from headwright.probes.models.parts import opened_stacks
from headwright.probes.rounding import precision

# Absolute positions, windows and sinks, two stacks with relative positions, code of its own.
_EXAMINED = {
    "gpt2": ("causal in 2 of 2 layers", "paths,pattern,padding,heads"),
    "gpt_oss, sinks": ("window=8 in 1 of 1 layers", "pattern,distribution"),
    "t5": ("full in 2 of 4 layers, causal in 2 of 4 layers", "pattern"),
    "bloom": ("causal in 1 of 1 layers", "pattern,padding"),
}


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("family", _EXAMINED)
def test_layers_of_a_right_family(family):
    model, _ = build(family)
    pattern, names = _EXAMINED[family]
    found = xray_model(model.float(), layer=0, only=names)
    assert found.holds, found.broken
    assert found.pattern == pattern
    assert not found.with_status("unclear")


def test_a_right_model_as_a_whole():
    model, _ = build("mistral")
    found = xray_model(model.float(), only="shift,padding,batch,determinism")
    assert found.holds, found.broken
    whole = [part for part in found.parts if part.layer is None]
    assert [part.implementation for part in whole] == ["eager", "sdpa"]
    assert whole[0].record["shift"].status == "holds"


def test_half_precision_and_an_intent_from_outside():
    model, _ = build("llama")
    half = model.to(torch.bfloat16)
    found = xray_model(half, layer=1, only="pattern,batch")
    assert found.holds, found.broken
    meant_otherwise = xray_model(half, layer=1, expect="full", only="pattern")
    assert not meant_otherwise.holds


def test_a_deep_model_has_a_bound_of_its_own_dtype():
    """More than one layer's, and nothing like that of a coarser dtype."""
    model, _ = build("llama")
    whole = part_of(model.float(), "model", None, "eager")
    deep = replace(whole, depth=24)
    given = deep.draw(np.random.default_rng(0))
    assert deep.eps == 2 * whole.eps
    assert precision(deep, given) == deep.eps


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_opens(family):
    """Its attention modules are found and run alone."""
    model, _ = build(family)
    stacks, left_out = opened_stacks(model)
    assert not left_out
    for stack in stacks:
        for opened in stack:
            assert opened.places
            assert not opened.left_out


def test_a_model_comes_back_as_it_was():
    model, _ = build("mistral")
    model.train()
    before = (model.config._attn_implementation, model.config.sliding_window)
    xray_model(model.float(), layer=0, only="determinism")
    assert (model.config._attn_implementation, model.config.sliding_window) == before
    assert all(module.training for module in model.modules())


def test_what_cannot_be_probed_is_said():
    model, _ = build("whisper")
    found = xray_model(model.float(), only="determinism")
    assert any("input_features" in note for note in found.notes)
    assert any("Cross attention" in note for note in found.notes)
    layers = found.to_json()["layers"]
    assert {"stack", "layer", "implementation", "properties", "holds"} <= set(layers[0])


def test_bad_input():
    model, _ = build("gpt2")
    with pytest.raises(InputError, match="0 to 1"):
        xray_model(model, layer=7)
    with pytest.raises(InputError, match="transformers model"):
        xray_model(object())
    with pytest.raises(InputError, match="stack"):
        part_of(model, "encoder", 0)
    with pytest.raises(InputError, match="dtype"):
        xray_model(model, dtype="float16")


def test_the_example_of_the_guide_runs(capsys):
    guide = Path(__file__).resolve().parents[3] / "docs" / "guides" / "xray-models.md"
    block = re.search(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.S)
    assert block is not None
    names = {}
    exec(compile(block[1], "guide", "exec"), names)
    assert names["found"].holds
    assert names["found"].pattern == "causal in 4 of 4 layers"
    assert "model 1 sdpa causal" in capsys.readouterr().out
