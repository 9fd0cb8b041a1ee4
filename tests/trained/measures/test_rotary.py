"""Energy per rotary pair: from second moments as from the full products."""

from dataclasses import replace

import numpy as np
import pytest
from tests.tolerances import AUDIT, STREAMED
from tests.trained.random_layers import random_heads, random_tokens

torch = pytest.importorskip("torch", reason="needs the extra 'models'")
tf = pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.trained.families import build  # noqa: E402

from headwright.trained.measures.rotary import (  # noqa: E402
    EnergyTally,
    Rotation,
    pair_energy,
    rotation,
)

# Four channels of eight turn, as in a model with a partial rotation.
PARTIAL = Rotation(np.asarray([[0, 2], [1, 3]]), np.asarray([1.0, 0.01]))


def full_energy(heads, tokens, turning):
    """From all t x n products of each pair."""
    k = np.repeat(heads.k, heads.group, axis=0)[:, tokens.real_keys]
    q = heads.q[:, tokens.real_queries]
    energy = []
    for pair in turning.pairs:
        part = heads.scale * q[..., pair] @ k[..., pair].transpose(0, 2, 1)
        energy.append(np.mean(part**2, axis=(1, 2)))
    return np.stack(energy, axis=1)


@pytest.mark.parametrize("padded", [0, 40])
def test_equal_to_full_products(rng, padded):
    heads, tokens = random_heads(rng, causal=True), random_tokens(rng, padded=padded)
    expected = full_energy(heads, tokens, PARTIAL)
    np.testing.assert_allclose(pair_energy(heads, tokens, PARTIAL), expected, rtol=STREAMED)
    single = {x: torch.asarray(getattr(heads, x), dtype=torch.float32) for x in ("q", "k", "v")}
    ours = pair_energy(replace(heads, **single), tokens, PARTIAL)
    np.testing.assert_allclose(ours, expected, rtol=AUDIT)


def test_two_texts_count_by_their_pairs_of_tokens(rng):
    texts = [(random_heads(rng, t=t), random_tokens(rng, t=t)) for t in (30, 90)]
    tally = EnergyTally()
    for heads, tokens in texts:
        tally.add(heads, tokens, PARTIAL)
    short, long = (full_energy(heads, tokens, PARTIAL) for heads, tokens in texts)
    expected = (30**2 * short + 90**2 * long) / (30**2 + 90**2)
    np.testing.assert_allclose(tally.per_pair(), expected, rtol=STREAMED)
    # The second pair makes 0.9 of a radian over the longer text, the first many turns.
    np.testing.assert_allclose(
        tally.measures()["rotary_slow"], expected[:, 1] / expected.sum(axis=1), rtol=STREAMED
    )


def test_the_pairs_of_models(rng):
    """Llama turns channel c with c + d / 2; GPT-NeoX a part of its channels; GPT-2 none; Gemma 3
    has two rotations."""
    llama = rotation(build("llama")[0])
    np.testing.assert_array_equal(llama.pairs, [[0, 4], [1, 5], [2, 6], [3, 7]])
    np.testing.assert_allclose(llama.speeds, 1e4 ** -np.arange(0, 1, 0.25), rtol=AUDIT)
    assert rotation(build("gpt_neox")[0]).pairs.max() < 8
    assert rotation(build("gpt2")[0]) is None
    assert rotation(build("gemma3")[0]) is None


def test_neighbours_that_turn_together_are_found():
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1}
    config = tf.CohereConfig(**sizes, num_attention_heads=4, vocab_size=60, pad_token_id=0)
    pairs = rotation(tf.CohereModel(config)).pairs
    np.testing.assert_array_equal(pairs, [[0, 1], [2, 3], [4, 5], [6, 7]])
