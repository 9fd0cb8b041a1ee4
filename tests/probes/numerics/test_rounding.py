"""What rounding explains: two runs that mean the same stay within the bound, and breaks of the size
of real ones are seen in half precision too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headwright.probes.layer.given import layer_of
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options
from headwright.probes.rounding import Rounding, apart, rounding

torch = pytest.importorskip("torch", reason="needs torch")

from tests.probes.numerics import layers  # noqa: E402 (needs torch)

DTYPES = ("float32", "bfloat16", "float16", "float64")
SEEDS = range(5)


def _drawn(function, dtype, seed, tokens=8):
    layer = layer_of(function, dtype=dtype)
    sizes = replace(layer.sizes, batch=2, tokens=tokens)
    return layer, layer.draw(np.random.default_rng(seed), sizes)


@pytest.mark.parametrize("dtype", DTYPES)
def test_runs_that_mean_the_same_stay_within_the_bound(dtype):
    order = np.random.default_rng(1).permutation(8)
    for seed in SEEDS:
        layer, given = _drawn(layers.stepwise, dtype, seed)
        bound = rounding(layer, given).bound
        output = layer.run(given)

        assert apart(layer.run(given.ordered(order)), output[:, :, order]) <= bound
        assert apart(layer.run(given.text(1)), output[1:]) <= bound
        assert apart(layer.run(given, Options(strided=True)), output) <= bound


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_two_kernels_for_one_thing_stay_within_the_bound(dtype):
    fused = torch.nn.functional.scaled_dot_product_attention
    for seed in SEEDS:
        layer, given = _drawn(layers.stepwise, dtype, seed, tokens=32)
        difference = apart(layer_of(fused, dtype=dtype).run(given), layer.run(given))

        assert rounding(layer, given).verdict(difference) == "holds"


def _changed(function, dtype, change):
    """How often a change is called a break, of five draws."""
    found = []
    for seed in SEEDS:
        layer, given = _drawn(function, dtype, seed)
        difference = apart(layer.run(change(given)), layer.run(given))
        found.append(rounding(layer, given).verdict(difference))
    return found.count("broken")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_breaks_of_the_size_of_real_ones_are_seen(dtype):
    def key_lost(given):
        return given.cut(0, 7, "k", "v")

    def positions_off(given):
        return given.replaced(k=np.roll(given["k"], 1, axis=-1))

    assert _changed(layers.stepwise, dtype, key_lost) == len(SEEDS)
    assert _changed(layers.stepwise, dtype, positions_off) == len(SEEDS)


def test_inputs_move_by_one_unit_in_every_dtype():
    """A bound that measures nothing would be too tight: double precision is moved as well."""
    for dtype in DTYPES:
        layer, given = _drawn(layers.stepwise, dtype, 0)
        rounded = Inputs({n: np.abs(layer.lib.rounded(a)) for n, a in given.arrays.items()})
        moved = rounded.moved(0.75 * layer.eps, np.random.default_rng(0))
        steps = [layer.lib.rounded(moved[n]) / rounded[n] - 1 for n in rounded.arrays]

        for step in steps:
            assert (step != 0).mean() > 0.99
            assert np.abs(step).max() <= 2 * layer.eps


def test_a_bound_that_is_no_number_decides_nothing():
    unbounded = Rounding(float("inf"))

    assert unbounded.verdict(0.0) == "holds"
    assert unbounded.verdict(1.0) == "unclear"
    assert Rounding(1.0).verdict(float("inf")) == "broken"
