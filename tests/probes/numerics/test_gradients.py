"""`gradients`: right layers agree with differences, broken ones are named by what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from tests.probes.numerics.scripts import reproduces

import headwright as hw

torch = pytest.importorskip("torch", reason="needs torch")

from tests.probes.numerics import layers  # noqa: E402 (needs torch)

RIGHT = ["stepwise", "causal", "capped", "grouped", "masked"]


def _gradients(layer, **words):
    layer = getattr(layers, layer) if isinstance(layer, str) else layer
    return hw.xray(layer, only="gradients", **words)["gradients"]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", RIGHT)
def test_right_layers_hold_in_every_dtype(name, dtype):
    finding = _gradients(name, dtype=dtype)

    assert finding.status == "holds", finding.evidence


@pytest.mark.parametrize(
    ("name", "dtype", "said"),
    [
        ("keys_detached", "float32", "with respect to k is 0"),
        ("keys_detached", "bfloat16", "with respect to k is 0"),
        ("wrong_in_half", "float16", "in float16 the gradient with respect to q"),
        ("overwritten", "float32", "the backward pass fails"),
        ("masked_and_cleaned", "float32", "query 0 sees nothing the output is finite"),
    ],
)
def test_broken_layers_are_caught_with_a_script_that_fails(name, dtype, said):
    finding = _gradients(name, dtype=dtype)

    assert finding.status == "broken", finding.evidence
    assert said in finding.evidence
    assert reproduces(finding, getattr(layers, name), dtype=dtype)


def test_a_parameter_without_its_gradient_is_named():
    finding = _gradients(layers.Projected(stop=True))

    assert finding.status == "broken"
    assert "with respect to outer.weight is 0" in finding.evidence
    assert reproduces(finding, layers.Projected(stop=True))
    assert _gradients(layers.Projected()).status == "holds"


def test_a_module_is_not_changed():
    module = layers.Projected()
    before = {name: p.detach().clone() for name, p in module.named_parameters()}
    _gradients(module)

    for name, parameter in module.named_parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, before[name])
        assert parameter.grad is None
    assert module.training


def test_an_output_without_gradient_is_unclear():
    finding = _gradients("no_gradient")

    assert finding.status == "unclear"
    assert "carries no gradient" in finding.evidence


def test_numpy_records_none():
    def attention(q, k, v):
        weights = np.exp(q @ np.swapaxes(k, -1, -2))
        return weights / weights.sum(-1, keepdims=True) @ v

    assert _gradients(attention).status == "not applicable"


def test_jax_is_differentiated_too():
    jax = pytest.importorskip("jax", reason="needs jax")

    def attention(q, k, v, stop=lambda x: x):
        weights = jax.nn.softmax(q @ jax.numpy.swapaxes(stop(k), -1, -2) / 8**0.5)
        return weights @ v

    def stopped(q, k, v):
        return attention(q, k, v, jax.lax.stop_gradient)

    assert _gradients(attention).status == "holds"
    assert "with respect to k is 0" in _gradients(stopped).evidence
