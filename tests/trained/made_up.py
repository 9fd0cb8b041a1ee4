"""Heads made up by code, as many as a large model has: measures, pictures, and where they look."""

import numpy as np

from headwright.trained.cards import Card
from headwright.trained.measures.chance import Chance
from headwright.trained.measures.from_rows import TITLES
from headwright.trained.passage.looks import MOST_KEYS, Looks, Passage
from headwright.trained.table import Audit

SHARES = ("first", "previous", "duplicate", "induction", "separators")
WORDS = (" the", " cat", "\n", "<b>&amp;", "日本", " שלום", "##ing", "</script>", " ", "e6·97")
HOSTILE = '"><img src=x onerror=alert(1)>'


def card(rng, layer, head, *, passage=None, stack="model", **measures):
    """A head that mixes a few of 128 keys; `measures` say otherwise."""
    numbers = {name: float(rng.uniform(0.1, 0.3)) for name in TITLES}
    numbers |= {"entropy": 3.0, "effective_keys": 20.0, "horizon": 2.0, "margin": 1.0, "copy": 0.1}
    numbers |= {name: float(rng.uniform(0.0, 0.02)) for name in SHARES} | {"twin": (head + 1) % 4}
    chance = {name: Chance(0.01, 200) for name in SHARES}
    chance["effective_keys"] = Chance(128.0, 200)
    return Card(
        stack=stack,
        layer=layer,
        head=head,
        measures=numbers | measures,
        errors={"noise_gain": 0.01},
        picture=rng.dirichlet(np.ones(32), size=32) if passage else None,
        parts={"entropy": numbers["entropy"] + rng.normal(0.0, 0.1, 8)},
        chance=chance,
        looks=_looks(rng, passage) if passage else None,
    )


def _looks(rng, passage):
    keys = []
    weights = []
    for _ in passage.queries:
        keys.append(rng.choice(len(passage.key_tokens), MOST_KEYS, replace=False))
        weights.append(np.sort(rng.dirichlet(np.ones(MOST_KEYS)))[::-1])
    return Looks(tuple(keys), tuple(weights))


def passage(size=256, queries=24):
    tokens = (*(WORDS[i % len(WORDS)] for i in range(size - 1)), HOSTILE)
    places = np.linspace(4, size - 1, queries).astype(int)
    return Passage(tuple(places.tolist()), tokens, tokens, special=(0,))


def audit(layers=48, heads=32, *, seed=0, **special):
    """`special`: measures of the head in the middle of each layer."""
    rng = np.random.default_rng(seed)
    text = passage()
    cards = []
    for layer in range(layers):
        for head in range(heads):
            own = special if head == heads // 2 else {}
            cards.append(card(rng, layer, head, passage=text, **own))
    return Audit(HOSTILE, 1, 256, 1e-7, tuple(cards), passages={"model": text}, fingerprint="one")
