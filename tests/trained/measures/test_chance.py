"""What equal weights score, by another route: heads whose queries are 0 weigh all keys equally."""

import dataclasses

import numpy as np
import pytest
from tests.tolerances import STREAMED
from tests.trained.random_layers import audited, random_heads, random_tokens

from headwright.trained.measures.chance import Chance, EqualWeights, chances


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("t", [1, 2, 150])
def test_a_head_without_a_question_scores_what_chance_says(rng, causal, t):
    heads = random_heads(rng, t=t, causal=causal)
    heads = dataclasses.replace(heads, q=np.zeros_like(heads.q))
    tokens = random_tokens(rng, t)
    found = EqualWeights().of(tokens, heads)
    measured = audited(heads, tokens)
    for name, chance in found.items():
        if chance.rows:
            np.testing.assert_allclose(chance.value, measured[name], rtol=STREAMED, err_msg=name)
        else:
            assert np.isnan(measured[name]).all()


def test_a_window_never_makes_chance_smaller(rng):
    """Of eight keys seen, one may be the first or not."""
    tokens = random_tokens(rng)
    seen = np.minimum(np.arange(150) + 1, 8)
    band = np.tri(150, dtype=bool) & ~np.tri(150, k=-8, dtype=bool)
    heads = random_heads(rng, mask=band[None])
    measured = audited(dataclasses.replace(heads, q=np.zeros_like(heads.q)), tokens)
    found = chances(tokens, seen, causal=False)
    assert EqualWeights().of(tokens, heads) == found
    for name, chance in found.items():
        assert np.all(measured[name] <= chance.value + STREAMED), name


def test_two_texts_count_by_their_rows():
    assert Chance(0.5, 10).joined(Chance(0.2, 20)) == Chance(0.3, 30)
