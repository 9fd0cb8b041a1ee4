"""Permutation checks: what holds, what breaks with which swap, what is random, what cannot be
asked."""

import numpy as np
import pytest
from tests.tolerances import ROUNDING

import headwright as hw
from headwright.errors import InputError

N, D = 6, 4


@pytest.fixture
def layer(rng):
    W = rng.standard_normal((3, D, D))
    return lambda x, mask=None: hw.attend(x @ W[0], x @ W[1], x @ W[2], mask=mask).output


@pytest.fixture
def X(rng):
    return rng.standard_normal((N, D))


def _verify(layer, X, found):
    """A counterexample must speak for itself: apply the one swap and look at the rows."""
    order = list(found.order)
    i, j = found.swap
    swapped = order.copy()
    swapped[i], swapped[j] = order[j], order[i]
    straight, crossed = layer(X[order]), layer(X[swapped])
    crossed[[i, j]] = crossed[[j, i]]
    apart = np.abs(straight - crossed).max(axis=1)
    assert apart.max() == pytest.approx(found.error, rel=1e-6)


def test_self_attention_is_equivariant(layer, X):
    v = hw.symmetry.permutation(layer, X)
    assert v.holds
    assert v.status == "equivariant"
    assert v.error <= v.expected_rounding < 1e-10
    assert v.counterexample is None


def test_permutation_on_the_right_is_false(layer, X):
    v = hw.symmetry.permutation(layer, X, axis=-1)
    assert not v.holds
    i, j = v.counterexample.swap
    P = np.eye(D)
    P[[i, j]] = P[[j, i]]
    assert np.abs(layer(X @ P) - layer(X) @ P).max() == pytest.approx(
        v.counterexample.error, abs=ROUNDING
    )


@pytest.mark.parametrize("how", ["positions", "causal mask", "first token special"])
def test_broken_layers_come_with_one_swap(layer, X, rng, how):
    positions = rng.standard_normal((N, D))

    def special(x):
        out = layer(x)
        out[0] *= 2
        return out

    broken = {
        "positions": lambda x: layer(x + positions),
        "causal mask": lambda x: layer(x, np.tril(np.ones((N, N), dtype=bool))),
        "first token special": special,
    }[how]
    v = hw.symmetry.permutation(broken, X)
    assert v.status == "broken"
    _verify(broken, X, v.counterexample)
    if how == "first token special":
        assert 0 in v.counterexample.swap
        assert v.counterexample.rows == v.counterexample.swap


def test_a_padding_mask_keeps_the_visible_tokens_symmetric(layer, X):
    visible = np.array([True, True, True, True, False, False])
    padded = lambda x: layer(x, visible)  # noqa: E731
    assert not hw.symmetry.permutation(padded, X).holds
    assert hw.symmetry.permutation(padded, X, among=[0, 1, 2, 3]).holds


def test_many_tokens_stay_within_the_budget(rng):
    calls = []

    def layer(x):
        calls.append(1)
        return x * 2.0

    v = hw.symmetry.permutation(layer, rng.standard_normal((300, 2)), budget=50)
    assert v.holds
    assert v.tried == 50
    assert len(calls) <= 55


def test_torch_modules_and_dropout():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    block = torch.nn.TransformerEncoderLayer(8, 2, dropout=0.3, batch_first=True)
    X = torch.randn(1, 10, 8)
    random = hw.symmetry.permutation(block, X)
    assert random.status == "stochastic"
    assert not random.holds
    assert "eval()" in random.message
    still = hw.symmetry.permutation(block.eval(), X, budget=60)
    assert still.holds
    assert hw.symmetry.permutation(block.bfloat16(), X.bfloat16(), budget=20).holds


def test_one_token_is_trivially_equivariant(layer, X):
    assert hw.symmetry.permutation(layer, X[:1]).holds


@pytest.mark.parametrize(
    ("layer", "X", "says"),
    [
        (lambda x: x.sum(axis=0), np.ones((3, 2)), "one output row per token"),
        (lambda x: (x, x), np.ones((3, 2)), "returns one array"),
        (lambda x: x * np.nan, np.ones((3, 2)), "finite outputs"),
        (lambda x: x @ np.ones(7), np.ones((3, 2)), "accepts shape"),
        (lambda x: x, np.ones(3), "X of shape"),
        (lambda x: x, [[1.0, np.nan]], "finite"),
    ],
)
def test_bad_input(layer, X, says):
    with pytest.raises(InputError, match=says):
        hw.symmetry.permutation(layer, X)
