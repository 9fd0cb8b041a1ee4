"""Weights as a distribution, and which head reads which."""

import numpy as np
import pytest
from tests.probes.structure.layers import WIDTH, causal, found, function, module, softmax

from headwright.probes.numerics import numbers
from headwright.probes.structure import distribution, heads


def _weighed(weigh):
    def layer(q, k, v):
        logits = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        return weigh(logits) @ v

    return layer


def _plus_one(logits):
    e = np.exp(logits)
    return e / (1 + e.sum(axis=-1, keepdims=True))


def _signed(logits):
    return logits / np.abs(logits).sum(axis=-1, keepdims=True)


def _signed_to_one(logits):
    return logits / logits.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_softmax_is_a_distribution(seed, dtype):
    for sees in (None, causal, lambda i, j: j < i):
        finding = found(distribution.probe, function(sees), seed=seed, dtype=dtype)
        assert finding.status == "holds", finding.evidence


@pytest.mark.parametrize(
    ("layer", "says"),
    [
        (_weighed(_plus_one), "have the sum 0."),
        (_weighed(lambda logits: softmax(logits) / 0.9), "have the sum 1.11111"),
        (_weighed(_signed), "a weight is negative"),
        (lambda q, k, v: np.tanh(3 * function()(q, k, v)), "sum"),
        (lambda q, k, v: function()(q, k, v / np.abs(v).max(-1, keepdims=True)), "not linear"),
    ],
)
def test_what_is_no_distribution(layer, says):
    finding = found(distribution.probe, layer)
    assert finding.status == "broken"
    assert says in finding.evidence


def test_layers_on_hidden_states():
    for layer in (module(), module(causal), module(causal, residual=True)):
        finding = found(distribution.probe, layer)
        assert finding.status == "holds", finding.evidence
    one_head = found(distribution.probe, module(heads=1))
    assert "mixtures of two tokens lie between" in one_head.evidence
    for sees in (None, causal):
        sink = found(distribution.probe, module(sees, weigh=_plus_one))
        assert sink.status == "broken"
        assert "equal tokens give another output" in sink.evidence
    negative = found(distribution.probe, module(heads=1, weigh=_signed_to_one))
    assert negative.status == "broken"
    assert "lies beyond both" in negative.evidence


def test_positions_in_the_values_and_layers_that_mix_nothing():
    waves = lambda n: np.sin(np.arange(n)[:, None] * np.linspace(0.1, 2, WIDTH))  # noqa: E731
    placed = found(distribution.probe, lambda x: module()(x + waves(x.shape[1])))
    assert placed.status == "not applicable"
    assert found(distribution.probe, lambda x: 2.0 * x).status == "unclear"


def _grouped(reads, values=None):
    """`reads(h, H, G)` is the key head of query head h."""

    def layer(q, k, v):
        many = q.shape[1]
        groups = k.shape[1]
        keys = [reads(h, many, groups) % groups for h in range(many)]
        others = keys if values is None else [values(h, many, groups) % groups for h in range(many)]
        return function()(q, k[:, keys], v[:, others])

    return layer


def _repeated(h, many, groups):
    return h // (many // groups)


def test_right_heads():
    grouped = found(heads.probe, _grouped(_repeated))
    assert grouped.status == "holds"
    assert "each of 6 query heads reads its own of 2 key heads" in grouped.evidence
    plain = found(heads.probe, function())
    assert plain.status == "holds"
    assert "6 query heads on 3 key heads were refused" in plain.evidence
    slopes = function(bias=lambda i, j: -abs(i - j) * np.array([0.5, 0.1])[:, None, None])
    with_slopes = found(heads.probe, lambda q, k, v: slopes(q, k, v))
    assert with_slopes.status in ("holds", "unclear")
    assert found(heads.probe, module()).status == "not applicable"


@pytest.mark.parametrize(
    ("layer", "says"),
    [
        (_grouped(lambda h, many, groups: h % groups), "(heads 0-5 read 0, 1, 0, 1, 0, 1)"),
        (_grouped(lambda h, many, groups: h // groups), "of head"),
        (_grouped(_repeated, lambda h, many, groups: h % groups), "reads the values of head 1"),
        (lambda q, k, v: function()(q, k, np.roll(v, 1, axis=1)), "values of head 2, not of 0"),
        (lambda q, k, v: function()(q, k.mean(1, keepdims=True) + 0 * k, v), "reads the keys"),
        (
            lambda q, k, v: function()(q * np.sqrt(q.shape[-1] / v.shape[-1]), k, v),
            "scale taken from the values",
        ),
    ],
)
def test_wrong_heads(layer, says):
    finding = found(heads.probe, layer)
    assert finding.status == "broken"
    assert says in finding.evidence


@pytest.mark.parametrize(
    ("fill", "broken"), [(0.0, "distribution"), (np.nan, "numbers"), (np.inf, "numbers")]
)
def test_an_output_of_nothing_is_broken_under_its_own_name(fill, broken):
    probes = {"distribution": distribution.probe, "heads": heads.probe, "numbers": numbers.probe}

    def layer(q, k, v):
        return np.full(v.shape, fill)

    findings = {name: found(probe, layer) for name, probe in probes.items()}
    assert [name for name, one in findings.items() if one.status == "broken"] == [broken]
