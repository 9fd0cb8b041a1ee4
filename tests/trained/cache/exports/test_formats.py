"""Plans in other programs' words: back to the same bits, or refused with the nearest plan."""

import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import yaml
from tests.trained.cache.language_models import random_llama, random_texts

from headwright.errors import InputError
from headwright.trained.cache.budgeting import cache_plan
from headwright.trained.cache.exports import kvtuner, llamacpp, vllm
from headwright.trained.cache.exports.formats import export, parsed
from headwright.trained.cache.exports.stored_bits import by_head

_LAYERS = 4
_HEADS = 2


@pytest.fixture(scope="module")
def planned():
    """Sensitivities once; plans of all kinds from them."""
    both = cache_plan(random_llama(_LAYERS), random_texts(), bits=3, signal="fisher", values=True)
    return both.replanned


@pytest.mark.parametrize("per", ["head", "layer"])
def test_kvtuner_says_heads_and_layers(planned, per):
    plan = planned(per=per, bits=3.5)
    text = kvtuner.written(plan)
    assert kvtuner.read(text, _HEADS) == by_head(plan)
    assert len(yaml.safe_load(text)) == _LAYERS


def test_kvtuner_without_values():
    plan = cache_plan(random_llama(), random_texts(), bits=3, per="head")
    text = kvtuner.written(plan)
    assert kvtuner.read(text, _HEADS) == by_head(plan)
    assert "nbits_value: 16" in text


def test_vllm_says_which_layers_are_skipped(planned):
    plan = planned(per="layer", widths=(8, 16), bits=12).replanned()
    bits = [layer.keys.bits[0, 0] for layer in plan.layers]
    same = [layer.keys.bits[0, 0] == layer.values.bits[0, 0] for layer in plan.layers]
    if not all(same):
        with pytest.raises(InputError, match="vLLM"):
            vllm.written(plan)
        plan = planned(per="layer", widths=(16,), bits=16)
        bits = [16] * _LAYERS
    text = vllm.written(plan)
    assert vllm.read(text, _LAYERS, _HEADS) == by_head(plan)
    skipped = yaml.safe_load(text)["kv-cache-dtype-skip-layers"]
    assert skipped == [str(i) for i, b in enumerate(bits) if b == 16]


@pytest.mark.parametrize("widths", [(4,), (8,), (16,)])
def test_llamacpp_says_one_type(planned, widths):
    plan = planned(per="layer", widths=widths, bits=widths[0])
    text = llamacpp.written(plan)
    assert llamacpp.read(text, _LAYERS, _HEADS)[0].keys == by_head(plan)[0].keys
    assert f"-ctk {llamacpp.TYPES[widths[0]]}" in text


@pytest.mark.parametrize(
    "text",
    [
        "-ctk q4_0 -ctk-first q8_0,1 -ctk-last f16,2 -ctv q5_0\n",
        "-ctk q8_0 -ctk-first f16,3 -ctv f16\n",
    ],
)
def test_llamacpp_says_first_and_last_layers(text):
    layers = llamacpp.read(text, _LAYERS, _HEADS)
    assert llamacpp._said(layers) == text.strip()


def test_what_a_format_cannot_say_comes_with_the_nearest_plan(planned, tmp_path):
    plan = planned(per="channel", bits=3)
    nearest = {"kvtuner": "3.00 bits", "vllm": "8.00 bits", "llamacpp": "4.50 bits"}
    for name, bits in nearest.items():
        with pytest.raises(InputError, match=f"nearest it can.*{bits}"):
            export(plan, name, tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_first_tokens_kept_exact_are_ours_alone(planned):
    plan = planned(per="head", bits=4, keep_first=1)
    with pytest.raises(InputError, match="first tokens exact"):
        kvtuner.written(plan)


@pytest.mark.parametrize("text", ["", "0: {nbits_key: 4}", "0: [4, 2]", "a: {}"])
def test_damaged_files_are_refused(text):
    with pytest.raises(InputError):
        vllm.read(text, _LAYERS, _HEADS)
    with pytest.raises(InputError):
        llamacpp.read(text + " -ctk q99", _LAYERS, _HEADS)
    with pytest.raises(InputError):
        kvtuner.read(text + "\n\n", _HEADS)


def test_vllm_reads_the_settings_as_its_arguments(planned):
    """As vLLM 0.32 flattens a file for its argument parser: a list is the option and its items, an
    empty one is left out; layers are compared as text with their number."""
    plan = planned(per="layer", widths=(16,), bits=16)
    words = []
    for key, value in yaml.safe_load(vllm.written(plan)).items():
        items = value if isinstance(value, list) else [value]
        words += [f"--{key}", *map(str, items)] if items else []
    numbers = [str(layer) for layer in range(_LAYERS)]
    assert words == ["--kv-cache-dtype", "fp8", "--kv-cache-dtype-skip-layers", *numbers]


def test_vllm_takes_a_file_of_one_kind_of_name_only():
    """`vllm serve --config` refuses any other."""
    assert parsed("vllm=plan.yaml")[1].name == "plan.yaml"
    assert parsed("vllm=plan.yml")[1].name == "plan.yml"
    with pytest.raises(InputError, match=r"ends in \.yaml or \.yml"):
        parsed("vllm=plan.txt")


@pytest.mark.parametrize("wanted", ["", "vllm", "vllm=", "=x", "gguf=x"])
def test_exports_are_format_and_file(wanted):
    with pytest.raises(InputError, match="FORMAT=FILE"):
        parsed(wanted)
