"""Forward attention: identities, extreme logits, three array libraries, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests import reference
from tests.cases import AVERAGING
from tests.tolerances import ROUNDING, SINGLE

import headwright as hw
from headwright import attention
from headwright.errors import InputError


@pytest.fixture
def problem(rng):
    return rng.standard_normal((3, 5)), rng.standard_normal((7, 5)), rng.standard_normal((7, 4))


@pytest.mark.parametrize("case", AVERAGING, ids=str)
def test_closed_form_weights(case):
    K = np.eye(case.n)
    got = hw.attend(case.beta * K[: case.m].sum(axis=0), K, K)
    np.testing.assert_allclose(got.weights[: case.m], case.weight, rtol=ROUNDING)
    assert got.weights[case.m :].sum() == pytest.approx(case.leak, abs=ROUNDING)


def test_agrees_with_the_slow_twin(problem, rng):
    Q, K, V = problem
    bias = rng.standard_normal(7)
    got = hw.attend(Q, K, V, scale=0.7, bias=bias)
    for i, q in enumerate(Q):
        alpha = reference.softmax(reference.logits(q, K, scale=0.7, bias=bias))
        np.testing.assert_allclose(got.weights[i], np.array(alpha, dtype=float), atol=ROUNDING)
        np.testing.assert_allclose(
            got.output[i], np.array(reference.output(alpha, V), dtype=float), atol=ROUNDING
        )


def test_one_query_is_a_row_of_many(problem):
    Q, K, V = problem
    many = hw.attend(Q, K, V)
    for i, q in enumerate(Q):
        np.testing.assert_allclose(hw.attend(q, K, V).output, many.output[i], atol=ROUNDING)


def test_heads_are_mixed(problem):
    Q, K, V = problem
    mix = np.array([0.5, 0.2, 0.3])
    got = hw.multihead(Q, K, V, mix=mix)
    np.testing.assert_allclose(got.output, mix @ hw.attend(Q, K, V).output, atol=ROUNDING)
    equal = hw.multihead(Q, K, V)
    np.testing.assert_allclose(equal.output, equal.outputs.mean(axis=0), atol=ROUNDING)


def test_several_queries_per_head(rng):
    Q, K, V = (
        rng.standard_normal((2, 3, 5)),
        rng.standard_normal((7, 5)),
        rng.standard_normal((7, 4)),
    )
    got = hw.multihead(Q, K, V)
    assert got.output.shape == (3, 4)
    np.testing.assert_allclose(got.output[1], hw.multihead(Q[:, 1], K, V).output, atol=ROUNDING)


@given(arrays(float, 9, elements=st.floats(-1e5, 1e5)))
def test_weights_are_a_distribution(z):
    alpha = attention.weights(z)
    assert (alpha >= 0).all()
    assert alpha.sum() == pytest.approx(1.0, abs=ROUNDING)


@given(arrays(float, 6, elements=st.floats(-50, 50)), st.floats(-1e4, 1e4))
def test_a_common_shift_changes_nothing(z, shift):
    # Adding 1e4 to a number of size 50 rounds it at 1e4 * 2^-53, and the weights move by as much.
    np.testing.assert_allclose(
        attention.weights(z + shift), attention.weights(z), atol=4 * abs(shift) * 2**-53 + ROUNDING
    )


def test_mask_hides_keys_exactly(problem):
    Q, K, V = problem
    mask = np.array([True, True, False, True, False, True, True])
    got = hw.attend(Q, K, V, mask=mask)
    assert (got.weights[:, ~mask] == 0).all()
    np.testing.assert_allclose(got.output, hw.attend(Q, K[mask], V[mask]).output, atol=ROUNDING)


def test_a_row_that_sees_nothing_is_an_error(problem):
    Q, K, V = problem
    mask = np.ones((3, 7), dtype=bool)
    mask[1] = False
    with pytest.raises(InputError, match=r"hides every key.*row 1"):
        hw.attend(Q, K, V, mask=mask)


def test_torch_in_torch_out(problem):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    Q, K, V = problem
    got = hw.attend(
        torch.as_tensor(Q),
        torch.as_tensor(K),
        torch.as_tensor(V),
        mask=torch.ones(7, dtype=torch.bool),
    )
    assert isinstance(got.output, torch.Tensor)
    np.testing.assert_allclose(got.output.numpy(), hw.attend(Q, K, V).output, atol=ROUNDING)


def test_single_precision_stays_single(problem):
    Q, K, V = (x.astype(np.float32) for x in problem)
    got = hw.attend(Q, K, V)
    assert got.output.dtype == np.float32
    np.testing.assert_allclose(got.output, hw.attend(*problem).output, atol=SINGLE)


def test_jax_in_jax_out(problem):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    Q, K, V = (jax.numpy.asarray(x.astype(np.float32)) for x in problem)
    got = hw.multihead(Q, K, V)
    assert isinstance(got.output, jax.Array)
    np.testing.assert_allclose(np.asarray(got.output), hw.multihead(*problem).output, atol=SINGLE)


def test_a_million_keys(rng):
    K = rng.standard_normal((10**6, 4))
    got = hw.attend(np.ones(4), K, K)
    assert got.weights.sum() == pytest.approx(1.0, abs=1e3 * ROUNDING)


GOOD = {"q": [1.0, 0.0], "K": np.eye(2), "V": np.eye(2)}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"q": [1.0, np.nan]}, "finite"),
        ({"K": [[1.0, np.inf], [0.0, 1.0]]}, "finite"),
        ({"q": [1.0, 2.0, 3.0]}, "query of 2 coordinates"),
        ({"q": []}, "query of 2"),
        ({"K": np.empty((0, 2)), "V": np.empty((0, 2))}, "empty"),
        ({"K": [[1.0, 2.0], [3.0]]}, "rectangular"),
        ({"K": [["a", "b"], ["c", "d"]]}, "real numbers"),
        ({"K": np.eye(2) * 1j}, "real numbers"),
        ({"K": [1.0, 2.0]}, "shape"),
        ({"V": np.eye(3)}, "V of shape"),
        ({"scale": np.inf}, "scale"),
        ({"bias": [1.0, 2.0, 3.0]}, "bias that broadcasts"),
        ({"bias": [0.0, -np.inf]}, "mask="),
        ({"mask": [1, 0]}, "boolean mask"),
        ({"mask": [True, False, True]}, "mask that broadcasts"),
        ({"mask": [False, False]}, "hides every key"),
        ({"q": [1e200, 0.0], "K": np.eye(2) * 1e200}, "logits with finite"),
    ],
)
def test_bad_input_says_what_was_wanted(change, says):
    with pytest.raises(InputError, match=says) as caught:
        hw.attend(**{**GOOD, **change})
    assert "wanted" in str(caught.value)
    assert "try:" in str(caught.value)


def test_mix_must_fit_the_heads():
    with pytest.raises(InputError, match="mix"):
        hw.multihead(np.eye(2), np.eye(2), np.eye(2), mix=[1.0, 0.0, 0.0])
    with pytest.raises(InputError, match="Q of shape"):
        hw.multihead([1.0, 0.0], np.eye(2), np.eye(2))
