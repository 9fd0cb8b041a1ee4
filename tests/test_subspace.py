"""Extraction of v_a out of v_a + v_b: orthonormal, plain and tilted bases; subspaces that meet."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from tests.tolerances import ROUNDING

import headwright as hw
from headwright.errors import InputError

AMPLIFIED = 1e3  # random subspaces of this test amplify rounding by less than this


def _bases(seed, d=9, m=3, p=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((d, m)), rng.standard_normal((d, p)), rng


def test_orthonormal_bases_give_a_a_transposed(rng):
    basis = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    A, B = basis[:, :3], basis[:, 3:5]
    M = hw.extract(A, B)
    assert M.method == "orthogonal"
    assert M.amplification == 1.0
    np.testing.assert_allclose(M.matrix, A @ A.T, atol=ROUNDING)
    np.testing.assert_allclose(M.coordinates, A.T, atol=ROUNDING)


@given(st.integers(0, 2**32 - 1))
def test_it_returns_v_a_and_its_coordinates(seed):
    A, B, rng = _bases(seed)
    coefficients = rng.standard_normal(3)
    s = A @ coefficients + B @ rng.standard_normal(4)
    M = hw.extract(A, B)
    slack = ROUNDING * M.amplification * np.linalg.cond(A)
    np.testing.assert_allclose(M.matrix @ s, A @ coefficients, atol=10 * slack)
    np.testing.assert_allclose(M.coordinates @ s, coefficients, atol=10 * slack)
    np.testing.assert_allclose(M.matrix @ M.matrix, M.matrix, atol=10 * slack * M.amplification)


@given(st.integers(0, 2**32 - 1))
def test_amplification_is_the_norm_and_one_over_the_sine(seed):
    A, B, _ = _bases(seed)
    M = hw.extract(A, B)
    assert np.linalg.norm(M.matrix, 2) == pytest.approx(
        M.amplification, rel=AMPLIFIED * ROUNDING * M.amplification
    )
    assert 1 / np.sin(subspace_angles(A, B).min()) == pytest.approx(
        M.amplification, rel=AMPLIFIED * ROUNDING * M.amplification
    )


def test_dependent_columns_are_no_obstacle(rng):
    A = rng.standard_normal((6, 2))
    M = hw.extract(np.column_stack([A, A[:, 0]]), rng.standard_normal((6, 2)))
    np.testing.assert_allclose(M.matrix @ A, A, atol=AMPLIFIED * ROUNDING)


def test_scale_of_the_basis_does_not_matter(rng):
    A, B = rng.standard_normal((6, 2)), rng.standard_normal((6, 2))
    np.testing.assert_allclose(
        hw.extract(1e-9 * A, 1e9 * B).matrix, hw.extract(A, B).matrix, atol=AMPLIFIED * ROUNDING
    )


@pytest.mark.parametrize("meeting", ["shared column", "more columns than dimensions", "equal"])
def test_meeting_subspaces_are_an_error(rng, meeting):
    A, B = rng.standard_normal((5, 2)), rng.standard_normal((5, 2))
    B = {
        "shared column": np.column_stack([B, A @ [1.0, 1.0]]),
        "more columns than dimensions": rng.standard_normal((5, 4)),
        "equal": A,
    }[meeting]
    with pytest.raises(InputError, match="meet only in 0"):
        hw.extract(A, B)


def test_torch_in_torch_out(rng):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    A, B = rng.standard_normal((6, 2)), rng.standard_normal((6, 2))
    got = hw.extract(torch.as_tensor(A), torch.as_tensor(B)).matrix
    assert isinstance(got, torch.Tensor)
    np.testing.assert_allclose(got.numpy(), hw.extract(A, B).matrix, atol=AMPLIFIED * ROUNDING)


@pytest.mark.parametrize(
    ("A", "B", "says"),
    [
        (np.zeros((3, 1)), np.eye(3)[:, :1], "nonzero column"),
        ([1.0, 2.0], np.eye(2), "A of shape"),
        (np.eye(3)[:, :1], np.eye(2)[:, :1], "B of shape"),
        (np.full((3, 1), np.nan), np.eye(3)[:, :1], "finite"),
    ],
)
def test_bad_input(A, B, says):
    with pytest.raises(InputError, match=says):
        hw.extract(A, B)
