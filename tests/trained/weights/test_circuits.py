"""Copying and composition from d x d products equal the same from the whole matrices."""

from dataclasses import replace

import numpy as np
import pytest
from tests.tolerances import ROUNDING, SIGMAS, STREAMED

torch = pytest.importorskip("torch", reason="needs the extra 'models'")
pytest.importorskip("transformers", reason="needs the extra 'models'")

from headwright.trained.weights.circuits import composition, copying  # noqa: E402
from headwright.trained.weights.projections import Projections  # noqa: E402

WIDTH, GROUP = 12, 2


def random_layer(rng, *, h=4, **without):
    d, v = 3, 5
    sizes = {
        "W_Q": (h, WIDTH, d),
        "W_K": (h // GROUP, WIDTH, d),
        "W_V": (h // GROUP, WIDTH, v),
        "W_O": (h, v, WIDTH),
    }
    matrices = {name: torch.asarray(rng.standard_normal(size)) for name, size in sizes.items()}
    return Projections(**(matrices | without), heads=h, folded=True)


def whole(layer, head):
    """The m x m matrices of a head: what it moves, and what it asks."""
    g = head // GROUP
    moves = np.asarray(layer.W_V[g]) @ np.asarray(layer.W_O[head])
    asks = np.asarray(layer.W_Q[head]) @ np.asarray(layer.W_K[g]).T
    return moves, asks


def test_copying_is_that_of_the_whole_matrix(rng):
    layer = random_layer(rng)
    for head, score in enumerate(copying(layer)):
        eigenvalues = np.linalg.eigvals(whole(layer, head)[0])
        expected = eigenvalues.real.sum() / np.abs(eigenvalues).sum()
        np.testing.assert_allclose(score, expected, rtol=STREAMED)


def test_copying_of_known_heads():
    """A head that writes what it reads, one that writes its opposite, one that turns it by 90
    degrees."""
    eye = torch.eye(4, dtype=torch.float64)
    turned = eye[[1, 0, 3, 2]] * torch.asarray([1.0, -1.0, 1.0, -1.0])
    W_V = eye[None]
    W_O = torch.stack([2.0 * eye, -eye, turned])
    layer = Projections(None, None, W_V, W_O, heads=3, folded=False)
    np.testing.assert_allclose(copying(layer), [1.0, -1.0, 0.0], atol=ROUNDING)


def test_composition_is_that_of_the_whole_matrices(rng):
    layers = {("model", i): random_layer(rng) for i in range(3)}
    found = composition(layers, "model")
    np.testing.assert_allclose(found.baseline, WIDTH**-0.5)
    for a, (early, head) in enumerate(found.heads):
        written = whole(layers["model", early], head)[0]
        for b, (late, other) in enumerate(found.heads):
            moves, asks = whole(layers["model", late], other)
            read = {"q": asks, "k": asks.T, "v": moves}
            for kind, circuit in read.items():
                score = found.score[kind][a, b]
                if early >= late:
                    assert np.isnan(score)
                    continue
                sizes = np.linalg.norm(written) * np.linalg.norm(circuit)
                ratio = np.linalg.norm(written @ circuit) / sizes
                np.testing.assert_allclose(score + found.baseline, ratio, rtol=STREAMED)


def test_the_baseline_is_that_of_hidden_states_turned_at_random(rng):
    """Mean square 1 / m over rotations between the two heads, whatever the two heads are."""
    first, second = random_layer(rng), random_layer(rng)
    squares = []
    for _ in range(400):
        turn, _ = np.linalg.qr(rng.standard_normal((WIDTH, WIDTH)))
        turned = replace(first, W_O=first.W_O @ torch.asarray(turn))
        pair = {("model", 0): turned, ("model", 1): second}
        score = composition(pair, "model").score["v"][0, 4]
        squares.append((score + WIDTH**-0.5) ** 2)
    error = np.std(squares) / np.sqrt(len(squares))
    assert abs(np.mean(squares) - 1 / WIDTH) < SIGMAS * error


def test_the_strongest_source_is_named(rng):
    layers = {("model", i): random_layer(rng) for i in range(2)}
    # Heads 1.2 and 1.3 read with their value matrix just what head 0.2 writes.
    written = layers["model", 0].W_O[2]
    layers["model", 1].W_V[1] = torch.linalg.pinv(written)
    best, sources = composition(layers, "model").strongest("v")
    assert sources[:4] == [None] * 4
    assert np.isnan(best[:4]).all()
    assert sources[6:] == ["0.2", "0.2"]
    assert min(best[6:]) > max(best[4:6])


def test_layers_without_matrices_have_no_score(rng):
    layers = {
        ("model", 0): random_layer(rng),
        ("model", 1): random_layer(rng, W_Q=None, W_K=None),
        ("model", 2): random_layer(rng, W_V=None),
    }
    found = composition(layers, "model")
    assert np.isnan(found.score["q"][:4, 4:8]).all()
    assert np.isfinite(found.score["v"][:4, 4:8]).all()
    assert np.isnan(found.score["v"][:, 8:]).all()
    assert np.isfinite(found.score["k"][:8, 8:]).all()
    assert np.isnan(copying(layers["model", 2])).all()
    assert composition(layers, "encoder") is None
