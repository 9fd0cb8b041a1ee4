"""Keys before their rotation: the model's own, turned back, and what that does to the signals."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch
import transformers
from tests.tolerances import SINGLE
from tests.trained.cache.language_models import random_llama, random_texts
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from headwright.trained.cache import PlannedCache
from headwright.trained.cache.budgeting import cache_plan
from headwright.trained.cache.calibration.fisher import Fisher
from headwright.trained.cache.coding.turning import Turning, turning
from headwright.trained.cache.decoded.decoding import decode
from headwright.trained.measures.rotary import Rotation


@pytest.fixture(scope="module")
def model():
    return random_llama()


@pytest.fixture(scope="module")
def turned(model):
    return turning(model.base_model)


def test_the_models_own_keys_come_back_as_they_were_before_the_rotation(model, turned, rng):
    before = torch.as_tensor(rng.normal(size=(1, 2, 40, 8)), dtype=torch.float32)
    cos, sin = model.model.rotary_emb(before, torch.arange(40)[None])
    _, rotated = apply_rotary_pos_emb(before, before, cos, sin)

    torch.testing.assert_close(turned.back(rotated), before, atol=100 * SINGLE, rtol=0)
    torch.testing.assert_close(turned.forth(before), rotated, atol=100 * SINGLE, rtol=0)


def test_a_later_part_of_a_text_turns_as_it_does_in_the_whole(turned, rng):
    x = torch.as_tensor(rng.normal(size=(3, 40, 8)), dtype=torch.float32)
    torch.testing.assert_close(turned.back(x)[:, 25:], turned.back(x[:, 25:], 25))


def test_channels_that_do_not_turn_stay_as_they_are(rng):
    some = Turning(Rotation(np.array([[0, 2], [1, 3]]), np.array([1.0, 0.1])))
    x = torch.as_tensor(rng.normal(size=(1, 9, 6)), dtype=torch.float32)
    assert torch.equal(some.back(x)[..., 4:], x[..., 4:])
    assert not torch.allclose(some.back(x)[..., :4], x[..., :4])


@pytest.mark.parametrize("part", [False, True])
def test_mean_products_are_those_over_all_distances(turned, rng, part):
    """A query as a key meets it that lies so far behind: unturned, then turned by the distance."""
    some = Turning(Rotation(np.array([[0, 2], [1, 3]]), np.array([1.0, 0.1])))
    turning = some if part else turned
    q = torch.as_tensor(rng.normal(size=(2, 30, 8)), dtype=torch.float32)
    unturned = turning.back(q)
    every = []
    for distance in range(30):
        alone = turning.forth(unturned.reshape(-1, 1, 8), distance).reshape(q.shape)
        every.append(alone.mT @ alone)
    wanted = torch.stack(every).mean(dim=0)
    found = turning.mean_outer(unturned.mT @ unturned, 30)
    torch.testing.assert_close(found, wanted, atol=1000 * SINGLE, rtol=100 * SINGLE)


def test_fisher_by_turned_keys_has_the_sum_over_each_pair(model, turned):
    """Gradients turn with the keys, so that the two squares of a pair keep their sum; and the first
    token, at place 0, does not turn at all."""
    ids = torch.tensor(random_texts(count=1, length=12, seed=3))
    plain = Fisher(2, turning=Turning())
    plain.add(model, ids)
    other = Fisher(2, turning=turned)
    other.add(model, ids)

    for (keys, values), (turned_keys, same_values) in zip(
        plain.texts[0], other.texts[0], strict=True
    ):
        np.testing.assert_allclose(turned_keys.first, keys.first, rtol=100 * SINGLE, atol=SINGLE)
        np.testing.assert_allclose(_pairs(turned_keys.rest), _pairs(keys.rest), rtol=100 * SINGLE)
        assert not np.allclose(turned_keys.rest, keys.rest)
        np.testing.assert_allclose(same_values.rest, values.rest, rtol=100 * SINGLE, atol=SINGLE)


def _pairs(x):
    """The halves of the channels turn together."""
    squares = np.diagonal(x, axis1=1, axis2=2)
    half = squares.shape[1] // 2
    return squares[:, :half] + squares[:, half:]


def test_a_model_without_rotation_stores_its_keys_as_they_come():
    config = transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2, n_positions=128, vocab_size=50)
    plan = cache_plan(transformers.GPT2LMHeadModel(config).eval(), random_texts(), bits=4)
    assert plan.turning.rotation is None


def test_keys_that_only_turn_lose_next_to_nothing():
    """One key for all tokens: as the cache sees it, a circle in every pair; turned back, a point.
    Two bits are enough for a point."""
    model = random_llama()
    with torch.no_grad():
        model.model.embed_tokens.weight[:] = model.model.embed_tokens.weight[:1]
    texts = random_texts(count=1)
    plan = cache_plan(model, texts, bits=2)
    found = decode(model, [torch.tensor(texts)], {"plan": lambda: PlannedCache(plan)})
    assert found["plan"].kl.value < SINGLE
