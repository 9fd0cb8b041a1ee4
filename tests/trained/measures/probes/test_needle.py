"""The needle text, and the retrieval score from the full maps."""

import numpy as np
import pytest
from tests.tolerances import ROUNDING
from tests.trained import naive
from tests.trained.random_layers import random_heads

from headwright.errors import InputError
from headwright.trained.heads import Heads
from headwright.trained.measures.probes.needle import FACTS, needle_text
from headwright.trained.rows.stream import stream
from headwright.trained.rows.tokens import Tokens


def words_and_digits(text):
    """A tokenizer of few words: every letter a token of its own would repeat too often."""
    return [sum(map(ord, word)) % 97 for word in text.split()]


def test_every_wanted_token_stands_in_its_needle():
    text = needle_text(words_and_digits)
    for query, start, end in zip(text.queries, text.starts, text.ends, strict=True):
        assert end <= query
        assert text.ids[query + 1] in text.ids[start + 1 : end]
    assert np.unique(text.starts).size == FACTS
    assert text.queries[-1] == text.ids.size - 2


def test_a_needle_of_one_s_own_is_hidden_once_and_said_again():
    needle = "the 4711 is under the stone"
    text = needle_text(words_and_digits, needle=needle, sentences=5)
    own = words_and_digits(needle)
    np.testing.assert_array_equal(text.ids[-len(own) :], own)
    np.testing.assert_array_equal(text.ids[text.starts[0] : text.ends[0]], own)
    assert text.queries.size == len(own) - 1
    assert text.ends[0] < text.ids.size - len(own)


def test_seeds_give_other_texts():
    assert (
        needle_text(words_and_digits, seed=1).ids.tolist()
        != needle_text(words_and_digits, seed=2).ids.tolist()
    )


@pytest.mark.parametrize("needle", ["", " ", "word"])
def test_a_needle_without_a_next_token_is_refused(needle):
    with pytest.raises(InputError, match="two tokens"):
        needle_text(words_and_digits, needle=needle)


def test_equal_to_full_maps(rng):
    """Sharp random heads, and one that looks the next token up in the needle."""
    text = needle_text(words_and_digits, sentences=6)
    n = text.ids.size
    heads = random_heads(rng, t=n, sharp=3.0, causal=True)
    p = naive.full_weights(heads)
    hits = []
    for query, start, end in zip(text.queries, text.starts, text.ends, strict=True):
        top = p[:, query].argmax(axis=1)
        found = [start <= j < end and text.ids[j] == text.ids[query + 1] for j in top]
        hits.append(found)
    rows = stream(heads, Tokens.unknown(n, n))
    np.testing.assert_allclose(text.retrieval(rows.top), np.mean(hits, axis=0), rtol=ROUNDING)

    asks = np.zeros((1, n, n))
    for query, start, end in zip(text.queries, text.starts, text.ends, strict=True):
        place = start + np.flatnonzero(text.ids[start:end] == text.ids[query + 1])[0]
        asks[0, query, place] = 50.0
    perfect = stream(Heads(asks, np.eye(n)[None], np.eye(n)[None], 1.0), Tokens.unknown(n, n))
    np.testing.assert_array_equal(text.retrieval(perfect.top), [1.0])
