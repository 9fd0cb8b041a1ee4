"""What people give to X-ray: awkward callables get an answer or a sentence, never a traceback."""

import time

import numpy as np
import pytest
from tests.probes import sample_layers

import headwright as hw
from headwright.errors import InputError
from headwright.probes import examined
from headwright.probes.layer.given import layer_of
from headwright.probes.record import HOLDS, UNCLEAR

SAMPLES = "tests.probes.sample_layers"
QUICK = {"only": "determinism"}


@pytest.mark.parametrize("name", ["attention", "prints", "tuples", "Ready", "factory"])
def test_what_runs_is_examined(name, capsys):
    found = hw.xray(f"{SAMPLES}:{name}", **QUICK)

    assert found["determinism"].status == HOLDS
    assert found.holds
    assert found.asked.source == f"{SAMPLES}:{name}"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tests.probes.nowhere:f", "No module named"),
        (f"{SAMPLES}:nothing", "no attribute 'nothing'"),
        (f"{SAMPLES}:NUMBER", "wanted a function or a module; got int"),
        (f"{SAMPLES}:NeedsArguments", "missing 1 required positional argument: 'width'"),
        (f"{SAMPLES}:factory_of_nothing", "wanted a factory that returns a layer; got NoneType"),
        (f"{SAMPLES}:only_short", "ValueError: at most 3 tokens,"),
        (f"{SAMPLES}:ends_the_program", "SystemExit"),
        (f"{SAMPLES}:one_row", "returned 1 rows for 6 queries"),
        (f"{SAMPLES}:no_array", "returned str, which holds no array"),
        (f"{SAMPLES}:complex_numbers", "returned complex128 numbers"),
        ("a b:c", "wanted module:name"),
    ],
)
def test_what_does_not_run_gets_one_sentence(name, said):
    with pytest.raises(InputError) as caught:
        hw.xray(name, shape=(6, 8), **QUICK)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "try:" in str(caught.value)


def test_a_size_that_the_layer_wants_can_be_given():
    found = hw.xray(sample_layers.only_short, shape=(3, 5), **QUICK)
    assert found.holds
    assert (found.tokens, found.width) == (3, 5)


def test_a_layer_that_writes_into_its_input_is_told():
    found = hw.xray(sample_layers.writes, **QUICK)
    assert found.notes == ("It writes into the arrays it is given.",)
    assert hw.xray(sample_layers.attention, **QUICK).notes == ()


def test_time_is_limited():
    began = time.monotonic()
    with pytest.raises(InputError, match=r"a first answer of the layer within 0\.2 s"):
        hw.xray(sample_layers.endless, timeout=0.2)
    found = hw.xray(sample_layers.slow, timeout=0.3)

    assert all(finding.status == UNCLEAR for finding in found.properties[-1:])
    assert "the time limit was reached" in found["determinism"].evidence
    assert found.holds
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"expect": "casual"}, "full, causal, window=W, prefix=P or documents"),
        ({"expect": "window=0"}, "window=W"),
        ({"only": "patern"}, "got 'patern'"),
        ({"only": []}, "wanted properties"),
        ({"dtype": "int8"}, "float32, bfloat16, float16, float64"),
        ({"timeout": 0}, "wanted timeout in"),
        ({"scale": float("nan")}, "wanted scale in"),
        ({"inputs": "nowhere.safetensors"}, "a readable safetensors file"),
        ({"inputs": {"x": np.ones((1, 6, 8))}}, "captured inputs that the layer takes"),
        ({"inputs": {"keys": np.ones((1, 6, 8))}}, "got keys"),
        ({"inputs": {name: np.ones((6, 8)) for name in "qkv"}}, "q of shape (6, 8)"),
        ({"inputs": {name: np.full((1, 2, 6, 8), np.nan) for name in "qkv"}}, "96 NaN"),
    ],
)
def test_what_cannot_be_meant_gets_one_sentence(asked, said):
    with pytest.raises(InputError) as caught:
        hw.xray(sample_layers.attention, **{**QUICK, **asked})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_probe_that_fails_does_not_cost_the_rest_of_the_table(monkeypatch):
    def failing(exam):
        raise IndexError("axis 3")

    monkeypatch.setitem(examined.PROBES, "batch", failing)
    found = hw.xray(sample_layers.attention, only="batch,determinism")
    assert found["determinism"].status == HOLDS
    assert found["batch"].status == UNCLEAR
    assert "a fault of headwright (IndexError: axis 3)" in found["batch"].evidence


def test_captured_inputs_are_what_probes_draw_from(rng):
    arrays = {name: rng.standard_normal((2, 3, 20, 8)) for name in "qkv"}
    layer = layer_of(sample_layers.attention, inputs=arrays)
    one = layer.draw(np.random.default_rng([0, 1]))
    other = layer.draw(np.random.default_rng([0, 2]))

    assert layer.sizes.tokens == 12
    assert np.isin(one["q"], arrays["q"]).all()
    assert one["q"].shape == (1, 2, 12, 8)
    assert not np.array_equal(one["q"], other["q"])
    assert hw.xray(sample_layers.attention, inputs=arrays, **QUICK).holds


def test_captured_inputs_come_from_a_file(tmp_path, rng):
    from safetensors.numpy import save_file

    file = tmp_path / "captured.safetensors"
    save_file({name: rng.standard_normal((1, 2, 9, 8)) for name in "qkv"}, file)
    found = hw.xray(sample_layers.random, inputs=file, **QUICK)

    assert found.tokens == 9
    assert f"inputs={str(file)!r}" in found.script()


def test_captured_bfloat16_is_read(tmp_path):
    torch = pytest.importorskip("torch", reason="the models extra is not installed")
    from safetensors.torch import save_file

    hidden = torch.randn(1, 9, 8, generator=torch.Generator().manual_seed(0))
    save_file({"hidden_states": hidden.to(torch.bfloat16)}, tmp_path / "x.safetensors")
    layer = layer_of(torch.nn.Linear(8, 8), inputs=tmp_path / "x.safetensors")
    drawn = layer.draw(np.random.default_rng(0))
    assert np.isin(drawn["x"], hidden.to(torch.bfloat16).double().numpy()).all()


def test_a_module_without_weights_is_refused():
    torch = pytest.importorskip("torch", reason="the models extra is not installed")
    shell = torch.nn.MultiheadAttention(8, 2, batch_first=True, device="meta")
    with pytest.raises(InputError, match="the meta device"):
        hw.xray(shell, **QUICK)


def test_a_device_that_is_not_there_is_said_in_one_sentence():
    torch = pytest.importorskip("torch", reason="the models extra is not installed")

    def on_meta(q, k, v):
        return torch.empty(q.shape, device="meta")

    def on_nothing(q, k, v):
        return q.to("xpu:9")

    with pytest.raises(InputError, match="the meta device"):
        hw.xray(on_meta, **QUICK)
    with pytest.raises(InputError, match=r"got \w*Error"):
        hw.xray(on_nothing, **QUICK)


def test_weights_so_small_that_a_break_could_not_be_seen_are_said():
    torch = pytest.importorskip("torch", reason="the models extra is not installed")
    silent = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    torch.nn.init.zeros_(silent.out_proj.weight)
    found = hw.xray(silent, expect="causal", only="pattern,permutation,gradients")
    assert found.with_status(UNCLEAR) == ("pattern", "permutation", "gradients")
    assert "too small to see" in found["pattern"].evidence
    assert found.holds


def test_weights_made_on_the_way_are_the_same_every_time_and_leave_no_trace():
    torch = pytest.importorskip("torch", reason="the models extra is not installed")

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mix = torch.nn.Linear(8, 8)

        def forward(self, x):
            return self.mix(x)

    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    one = layer_of(Layer)
    assert torch.equal(torch.rand(3), wanted)
    other = layer_of(Layer)
    x = one.draw(np.random.default_rng(0))
    assert np.array_equal(one.run(x), other.run(x))
