"""Patterns of tokens: heads built for them score 1, and no text makes their pairs grow."""

import numpy as np
from tests.tolerances import ROUNDING
from tests.trained.random_layers import audited

from headwright.trained.heads import Heads
from headwright.trained.rows.tokens import Tokens


def test_patterns_find_what_they_are_named_for():
    """A repeated text and heads built to do one thing each score 1 on it."""
    ids = np.tile(np.arange(10), 3)
    t = ids.size
    place, token = np.eye(t), np.eye(10)[ids]
    after = np.vstack([np.zeros(10), token[:-1]])
    big = 80.0
    wanted = {
        "previous": (big * np.vstack([place[:1], place[:-1]]), place),
        "duplicate": (big * token, token),
        "induction": (big * token, after),
    }
    for name, (q, k) in wanted.items():
        if name == "duplicate":  # not itself: its own place scores less
            q, k = np.hstack([q, -2 * big * place]), np.hstack([k, place])
        heads = Heads(q[None], k[None], np.ones((1, t, 1)), 1.0, causal=True)
        tokens = Tokens(np.ones(t, bool), np.ones(t, bool), np.zeros(t, bool), ids)
        score = audited(heads, tokens)[name]
        np.testing.assert_allclose(score, 1.0, atol=ROUNDING, err_msg=name)


def test_a_text_of_one_token_repeated_stays_small():
    """Every pair is a duplicate: pairs are then rebuilt for each layer, and nothing grows with
    t^2."""
    t = 2200
    tokens = Tokens(np.ones(t, bool), np.ones(t, bool), np.zeros(t, bool), np.zeros(t, dtype=int))
    found = [tokens.pairs(start, min(start + 256, t)) for start in range(0, t, 256)]
    assert sum(pairs.columns.size for pairs in found) == t * (t - 1) + t - 1
    assert sum(pairs.columns.size for pairs in tokens._kept.values()) <= 2**22 < t * (t - 1)
    assert tokens.rows_with("duplicate") == t - 1
