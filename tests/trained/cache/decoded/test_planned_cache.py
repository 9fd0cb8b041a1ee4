"""A cache that stores what a plan says: packed bits, the same numbers however a text comes in, and
what `generate` wants of a cache."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch
from tests.tolerances import SINGLE
from tests.trained.cache.language_models import random_llama, random_texts

from headwright.keys import rounded
from headwright.trained.cache import PlannedCache
from headwright.trained.cache.budgeting import cache_plan
from headwright.trained.cache.coding.packing import Packing


@pytest.fixture(scope="module")
def model():
    return random_llama()


@pytest.fixture(scope="module")
def texts():
    return random_texts()


@pytest.fixture(scope="module", params=["direction", "channel", "head"])
def plan(request, model, texts):
    exact = 0 if request.param == "head" else 2
    return cache_plan(model, texts, bits=3, per=request.param, values=True, keep_first=exact)


def test_packed_codes_come_back(rng):
    bits = rng.integers(1, 17, size=(2, 5))
    codes = rng.integers(0, 2 ** bits[:, None], size=(3, 2, 7, 5))
    packing = Packing(bits)

    packed = packing.pack(torch.as_tensor(codes, dtype=torch.int32))

    assert packed.shape == (3, 1, 7, -(-bits.sum() // 8))
    assert packed.dtype == torch.uint8
    np.testing.assert_array_equal(packing.unpack(packed).numpy(), codes)


def test_a_text_at_once_and_token_by_token_give_the_same(model, texts, plan):
    ids = torch.tensor(texts[:1])
    with torch.inference_mode():
        at_once = model(ids, past_key_values=PlannedCache(plan), use_cache=True).logits
        cache = PlannedCache(plan)
        one_by_one = [
            model(ids[:, i : i + 1], past_key_values=cache, use_cache=True).logits
            for i in range(ids.shape[1])
        ]
        untouched = model(ids).logits

    assert torch.cat(one_by_one, dim=1) == pytest.approx(at_once, abs=SINGLE)
    # And the cache does something at all: the library's own returns its first call unrounded.
    assert float((at_once - untouched).abs().max()) > 100 * SINGLE


def test_memory_is_what_the_plan_says(model, texts, plan):
    ids = torch.tensor(texts)
    cache = PlannedCache(plan)
    with torch.inference_mode():
        model(ids, past_key_values=cache, use_cache=True)

    numbers = sum(grid.bits.size for grid in plan.grids) * ids.numel()
    exact = plan.request.keep_first / plan.request.context
    codes = np.mean([grid.bits.mean() for grid in plan.grids]) * (1 - exact)
    # First tokens lie there in this model's 32 bits; a layer's row ends on a whole byte.
    stored = cache.stored_bits() / numbers
    assert codes + 32 * exact <= stored <= codes + 32 * exact + 8 / 16
    assert plan.mean_bits <= 3


def test_stored_keys_are_the_nearest_of_the_grid(model, texts, rng):
    """Second route: `keys.rounded`, where the range is the text's own and no mean error is taken
    out. Keys come turned and go turned; between the two they lie on the grid."""
    plan = cache_plan(model, texts, bits=4, per="head")
    grid = plan.layers[0].keys
    keys = rng.uniform(grid.low, grid.high, size=(1, 40, *grid.low.shape)).transpose(0, 2, 1, 3)
    keys[0, :, 0] = grid.low
    keys[0, :, 1] = grid.high
    layer = PlannedCache(plan).layers[0]

    turned = plan.turning.forth(torch.as_tensor(keys))
    read, values = layer.update(turned, turned)
    stored = plan.turning.back(read)

    for head, bits in enumerate(grid.bits[:, 0]):
        expected = rounded(keys[0, head], bits=int(bits)) + (grid.base - grid.low)[head]
        np.testing.assert_allclose(stored[0, head].numpy(), expected, atol=10 * SINGLE)
    assert torch.equal(values, turned)


def test_what_a_direction_reads_is_the_nearest_of_its_grid(model, texts):
    """By hand, in double precision: coordinates by the inverse of the inverse, rounded on the grid,
    and back. Directions of 0 bits are read as their base."""
    plan = cache_plan(model, texts, bits=2.5, per="direction")
    grid = plan.layers[0].keys
    assert grid.bits.min() == 0
    ids = torch.tensor(texts[:1])
    with torch.inference_mode():
        keys = model(ids, use_cache=True).past_key_values.layers[0].keys
    layer = PlannedCache(plan).layers[0]
    read, _ = layer.update(keys, keys)

    unturned = plan.turning.back(keys)[0].double().numpy()
    wanted = np.empty_like(unturned)
    for head, columns in enumerate(grid.basis.columns):
        numbers = np.linalg.solve(np.linalg.inv(columns).T, unturned[head].T).T
        top = 2.0 ** grid.bits[head] - 1
        codes = np.rint((numbers - grid.low[head]) / grid.step[head]).clip(0, top)
        wanted[head] = (grid.base[head] + grid.step[head] * codes) @ np.linalg.inv(columns)
    stored = plan.turning.back(read)[0].numpy()
    # A number halfway between two codes may go either way in single precision.
    off = np.abs(stored - wanted).max(axis=2)
    assert np.mean(off < 1000 * SINGLE) > 0.98


@pytest.mark.parametrize("way", [{}, {"num_beams": 2}])
def test_generate_takes_it(model, texts, plan, way):
    start = torch.tensor(texts)[:, :12]
    cache = PlannedCache(plan)
    made = model.generate(
        start, past_key_values=cache, max_new_tokens=4, do_sample=False, pad_token_id=0, **way
    )
    assert made.shape == (2, 16)
    assert cache.get_seq_length() == 15


def test_cropping_forgets_the_newest(model, texts, plan):
    ids = torch.tensor(texts[:1])
    cache = PlannedCache(plan)
    with torch.inference_mode():
        model(ids[:, :20], past_key_values=cache, use_cache=True)
        cache.crop(-8)
        again = model(ids[:, 12:30], past_key_values=cache, use_cache=True).logits
        straight = model(ids[:, :30], past_key_values=PlannedCache(plan), use_cache=True).logits
    assert again == pytest.approx(straight[:, 12:], abs=SINGLE)
    cache.crop(-30)
    assert cache.get_seq_length() == 0
