"""`numbers`: the law that is found, what is called broken, and the reference itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.probes.numerics.scripts import reproduces
from tests.tolerances import ROUNDING

import headwright as hw
from headwright.probes.layer.given import layer_of
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Sizes
from headwright.probes.numerics.fitting import fitted
from headwright.probes.numerics.law import Law
from headwright.probes.numerics.precision import accuracy, to_dtype

torch = pytest.importorskip("torch", reason="needs torch")

from tests.probes.numerics import layers  # noqa: E402 (needs torch)

HALF = ("bfloat16", "float16")
RIGHT = ["stepwise", "causal", "with_slopes", "capped", "with_sink", "normalised", "masked"]


def _numbers(name, **words):
    return hw.xray(getattr(layers, name), only="numbers", **words)["numbers"]


SOME = ["stepwise", "with_slopes", "with_sink"]


@pytest.mark.parametrize(
    ("name", "dtype"), [*product(RIGHT, ["float32"]), *product(SOME, [*HALF, "float64"])]
)
def test_right_layers_hold_in_every_dtype(name, dtype):
    finding = _numbers(name, dtype=dtype)

    assert finding.status == "holds", finding.evidence


def _law(name):
    layer = layer_of(getattr(layers, name), dtype="float64")
    given = layer.draw(np.random.default_rng(0), Sizes(batch=4, heads=2, tokens=6, width=8))
    return fitted(layer, given, given.replaced(q=8 * given["q"]))


def test_the_law_has_the_cap_the_sink_and_the_slopes():
    assert _law("capped").cap == 15
    assert _law("with_sink").sink == pytest.approx([0, 0], abs=ROUNDING)
    assert _law("normalised").normalised
    distance = np.abs(np.arange(6)[:, None] - np.arange(6))
    bias = -np.array([0.5, 0.25])[:, None, None] * distance
    centred = bias - bias.mean(axis=-1, keepdims=True)
    assert _law("with_slopes").bias == pytest.approx(centred, abs=ROUNDING)
    assert np.array_equal(_law("causal").sees[0], np.tri(6, dtype=bool))
    assert _law("halves_averaged") is None


@pytest.mark.parametrize(
    ("name", "dtype", "said"),
    [
        ("unscaled", "float32", "the scale of the logits is 1 (no scale), wanted 1/sqrt(8)"),
        ("base_two", "bfloat16", "a power of 2"),
        ("half_sums", "bfloat16", "1025 keys"),
        ("half_sums", "float16", "1025 keys"),
        ("tail_dropped", "float32", "nobody sees no key of 6, and key 64 of 65"),
        ("bfloat_inside", "float32", "times the best possible in float32"),
        ("multiplied_first", "float16", "is NaN"),
        ("no_maximum", "bfloat16", "is NaN"),
        ("running_from_zero", "float32", "the output is NaN"),
        ("running", "float32", "where keys 0 to 2 are hidden from all"),
        ("halves_averaged", "float32", "not one softmax over all keys"),
    ],
)
def test_broken_layers_are_caught_with_a_script_that_fails(name, dtype, said):
    finding = _numbers(name, dtype=dtype)

    assert finding.status == "broken", finding.evidence
    assert said in finding.evidence
    assert reproduces(finding, getattr(layers, name), dtype=dtype)


def test_another_scale_may_be_meant():
    assert _numbers("unscaled", scale=1.0).status == "holds"
    assert _numbers("stepwise", scale=1.0).status == "broken"


def test_multiplying_first_is_safe_where_numbers_are_large_enough():
    assert _numbers("multiplied_first", dtype="bfloat16").status == "holds"


def test_sums_one_by_one_are_exact_enough_in_single_precision():
    assert _numbers("half_sums", dtype="float32").status == "holds"


def test_a_row_that_sees_nothing_is_a_policy():
    assert "a query that sees nothing gets NaN" in _numbers("masked").evidence
    assert "a query that sees nothing gets zeros" in _numbers("masked_and_cleaned").evidence


def test_a_module_has_no_numbers():
    module = torch.nn.MultiheadAttention(16, 4, batch_first=True)

    assert hw.xray(module, only="numbers")["numbers"].status == "not applicable"


def _ball_output(law, given):
    """softmax(scale q k' + bias) v in ball arithmetic, row by row."""
    import flint

    flint.ctx.prec = 128
    q, k, v = (given[name][0, 0] for name in ("q", "k", "v"))
    rows = []
    for i, query in enumerate(q):
        raised = []
        for j, key in enumerate(k):
            terms = [flint.arb(float(a)) * float(b) for a, b in zip(query, key, strict=True)]
            product = sum(terms, flint.arb(0))
            raised.append((product * law.scale + float(law.bias[0, i, j])).exp())
        total = sum(raised, flint.arb(0))
        terms = zip(raised, v, strict=True)
        columns = [[w / total * float(x) for x in value] for w, value in terms]
        rows.append([float(sum(column, flint.arb(0))) for column in zip(*columns, strict=True)])
    return np.array(rows)


def test_the_reference_is_what_ball_arithmetic_says():
    rng = np.random.default_rng(3)
    given = Inputs({name: rng.standard_normal((1, 1, 5, 4)) for name in ("q", "k", "v")})
    law = Law(0.5, rng.standard_normal((1, 5, 5)))

    assert law.output(given)[0, 0] == pytest.approx(_ball_output(law, given), abs=ROUNDING)


@pytest.mark.parametrize("dtype", HALF)
def test_numbers_are_rounded_as_torch_rounds_them(dtype):
    numbers = np.random.default_rng(5).standard_normal(2000) * 10.0 ** np.arange(-4, 4).repeat(250)
    wanted = torch.tensor(numbers, dtype=torch.float32).to(getattr(torch, dtype)).double().numpy()

    assert np.array_equal(to_dtype(numbers.astype(np.float32), dtype).astype(float), wanted)


def test_an_error_is_told_in_units_of_the_best():
    """A stated factor that cannot be wrong: the output moved by ten units."""
    rng = np.random.default_rng(7)
    given = Inputs({name: rng.standard_normal((1, 1, 6, 8)) for name in ("q", "k", "v")})
    law = Law(8**-0.5, np.zeros((1, 6, 6)))
    exact = law.output(given)
    off = accuracy(exact * (1 + 10 * 2.0**-8), law, given, "bfloat16")
    fine = accuracy(to_dtype(exact, "bfloat16"), law, given, "bfloat16")

    assert 0.5 < fine.factor < 1.5
    assert 10 < off.factor < 30


def test_captured_inputs_are_judged_as_they_are():
    rng = np.random.default_rng(0)
    captured = {name: 30 * rng.standard_normal((1, 2, 20, 8)) for name in ("q", "k", "v")}

    assert _numbers("stepwise", inputs=captured, dtype="bfloat16").status == "holds"
    broken = _numbers("no_maximum", inputs=captured)
    assert broken.status == "broken"
    assert "on the captured inputs the output is NaN" in broken.evidence
    assert reproduces(broken, layers.no_maximum, inputs=captured)


def test_one_token_has_no_logits_to_be_seen():
    record = hw.xray(lambda q, k, v: v, shape=(1, 8), only="numbers")
    assert record["numbers"].status == "unclear"
    assert "two or more tokens" in record["numbers"].evidence
