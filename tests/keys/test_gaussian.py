"""Every part of the covariance against the dense matrix it stands for, in three array libraries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import tolerances

from headwright.errors import InputError
from headwright.keys import CorrelatedKeys, GaussianKeys

N, D, H = 4, 3, 2


def ingredients(rng):
    root = rng.normal(size=(N, D, D))
    return {
        "isotropic": rng.random(N),
        "radial": rng.random(N),
        "diagonal": rng.random((N, D)),
        "factors": rng.normal(size=(N, D, 2)),
        "covariance": root @ root.transpose(0, 2, 1),
    }


def dense(part, array, mu):
    """`Sigma_i` written out, straight from the definition."""
    return {
        "isotropic": lambda: [a * np.eye(D) for a in array],
        "radial": lambda: [r * np.outer(k, k) for r, k in zip(array, mu, strict=True)],
        "diagonal": lambda: [np.diag(x) for x in array],
        "factors": lambda: [F @ F.T for F in array],
        "covariance": lambda: array,
    }[part]()


PARTS = list(ingredients(np.random.default_rng(0)))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("scale", [1.0, -0.5])
def test_each_part_is_its_dense_covariance(part, scale, rng):
    mu, Q, array = rng.normal(size=(N, D)), rng.normal(size=(H, D)), ingredients(rng)[part]
    law = GaussianKeys(mu, **{part: array}).logits_law(Q, scale=scale)
    cross = np.stack([scale**2 * Q @ S @ Q.T for S in dense(part, array, mu)], axis=-1)
    assert law.cross == pytest.approx(cross, abs=tolerances.ROUNDING)
    assert law.variances == pytest.approx(np.einsum("hhn->hn", cross), abs=tolerances.ROUNDING)
    assert law.means == pytest.approx(scale * Q @ mu.T, abs=tolerances.ROUNDING)


@pytest.mark.parametrize("part", PARTS)
def test_queries_see_of_a_key_what_lies_in_their_span(part, rng):
    """Two queries in three dimensions, and the same queries in the coordinates of their plane."""
    mu, Q = rng.normal(size=(N, D)), rng.normal(size=(H, D))
    keys = GaussianKeys(mu, **{part: ingredients(rng)[part]})
    directions, _ = np.linalg.qr(Q.T)
    whole = keys.logits_law(Q)
    seen = keys.along(directions).logits_law(Q @ directions)
    assert seen.means == pytest.approx(whole.means, abs=tolerances.ROUNDING)
    assert seen.cross == pytest.approx(whole.cross, abs=tolerances.ROUNDING)


@pytest.mark.parametrize("part", PARTS)
def test_pull_is_the_weighted_sum_of_covariances(part, rng):
    mu, q, w, array = (
        rng.normal(size=(N, D)),
        rng.normal(size=D),
        rng.normal(size=N),
        ingredients(rng)[part],
    )
    wanted = sum(wi * S @ q for wi, S in zip(w, dense(part, array, mu), strict=True))
    assert GaussianKeys(mu, **{part: array}).covariance_product(w, q) == pytest.approx(
        wanted, abs=tolerances.ROUNDING
    )
    assert np.array_equal(GaussianKeys(mu).covariance_product(w, q), np.zeros(D))


@pytest.mark.parametrize("part", PARTS)
def test_draws_follow_the_law(part, rng):
    mu, array, size = rng.normal(size=(N, D)), ingredients(rng)[part], 20_000
    keys = GaussianKeys(mu, **{part: array})
    draws = keys.sample(rng, size) - mu
    for i, S in enumerate(dense(part, array, mu)):
        products = draws[:, i, :, None] * draws[:, i, None, :]
        error = products.std(axis=0) / np.sqrt(size) + tolerances.ROUNDING
        assert (np.abs(products.mean(axis=0) - S) / error).max() < tolerances.SIGMAS
    # Different keys are independent.
    between = draws[:, 0, :, None] * draws[:, 1, None, :]
    error = between.std(axis=0) / np.sqrt(size) + tolerances.ROUNDING
    assert (np.abs(between.mean(axis=0)) / error).max() < tolerances.SIGMAS


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_parts_add_up(seed):
    rng = np.random.default_rng(seed)
    mu, q, all_parts = rng.normal(size=(N, D)), rng.normal(size=D), ingredients(rng)
    together = GaussianKeys(mu, **all_parts).logits_law(q).variances
    apart = sum(
        GaussianKeys(mu, **{part: array}).logits_law(q).variances
        for part, array in all_parts.items()
    )
    assert together == pytest.approx(apart, rel=tolerances.ROUNDING)


def test_the_forms_a_part_may_be_given_in(rng):
    mu, q = rng.normal(size=(N, D)), rng.normal(size=D)

    def variances(**parts):
        return GaussianKeys(mu, **parts).logits_law(q).variances

    assert np.array_equal(variances(isotropic=0.3), variances(isotropic=np.full(N, 0.3)))
    assert np.array_equal(
        variances(diagonal=np.arange(D)), variances(diagonal=np.tile(np.arange(D), (N, 1)))
    )
    assert np.array_equal(
        variances(covariance=np.eye(D)), variances(covariance=np.stack([np.eye(D)] * N))
    )
    assert np.array_equal(variances(radial={2: 0.5}), variances(radial=[0, 0, 0.5, 0]))
    assert np.array_equal(
        GaussianKeys(mu).radial({2: 0.5}).logits_law(q).variances, variances(radial={2: 0.5})
    )


def test_one_query_is_a_row_of_several_and_bias_is_added(rng):
    mu, Q, bias = rng.normal(size=(N, D)), rng.normal(size=(H, D)), rng.normal(size=N)
    keys = GaussianKeys(mu, isotropic=0.1).radial({1: 2.0})
    many = keys.logits_law(Q, bias=bias)
    for h in range(H):
        one = keys.logits_law(Q[h], bias=bias)
        assert one.means == pytest.approx(many.means[h], abs=tolerances.ROUNDING)
        assert one.variances == pytest.approx(many.variances[h], abs=tolerances.ROUNDING)
    assert many.means == pytest.approx(Q @ mu.T + bias, abs=tolerances.ROUNDING)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_other_libraries_agree_and_keep_their_kind(library, rng):
    xp = pytest.importorskip(library)
    mu, Q = rng.normal(size=(N, D)).astype(np.float32), rng.normal(size=(H, D)).astype(np.float32)
    parts = {name: x.astype(np.float32) for name, x in ingredients(rng).items()}
    ours = GaussianKeys(mu, **parts).logits_law(Q)
    theirs = GaussianKeys(xp.asarray(mu), **{name: xp.asarray(x) for name, x in parts.items()})
    law = theirs.logits_law(xp.asarray(Q))
    assert type(law.variances) is type(xp.asarray(mu))
    assert np.asarray(law.cross) == pytest.approx(
        ours.cross, rel=tolerances.SINGLE, abs=tolerances.SINGLE
    )
    assert type(theirs.sample(rng, 2)) is type(xp.asarray(mu))
    pulled = np.asarray(theirs.covariance_product(xp.ones(N), xp.asarray(Q[0])))
    assert pulled == pytest.approx(
        GaussianKeys(mu, **parts).covariance_product(np.ones(N), Q[0]), rel=tolerances.SINGLE
    )
    # A query of another library decides, as in `attend`.
    mixed = GaussianKeys(mu, **parts).logits_law(xp.asarray(Q))
    assert type(mixed.variances) is type(xp.asarray(mu))


def test_precisions_may_differ():
    torch = pytest.importorskip("torch")
    keys = GaussianKeys(torch.eye(3, dtype=torch.float32), diagonal=torch.ones(3), radial={0: 0.5})
    assert keys.logits_law(torch.ones(3, dtype=torch.float64)).variances.dtype == torch.float64


def test_gradients_flow_to_the_query():
    torch = pytest.importorskip("torch")
    q = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    keys = GaussianKeys(torch.eye(2, dtype=torch.float64), isotropic=0.5)
    keys.logits_law(q).variances.sum().backward()
    # d/dq of 2 * 0.5 * ||q||^2 is 2 q.
    assert q.grad.tolist() == [2.0, 4.0]


def test_what_it_calls_itself():
    keys = GaussianKeys(np.eye(3), isotropic=0.1, factors=np.ones((3, 3, 1))).radial({1: 0.5})
    assert repr(keys) == "GaussianKeys(n=3, d=3, isotropic, factors, radial)"
    assert repr(GaussianKeys(np.eye(3), isotropic=0.0)) == "GaussianKeys(n=3, d=3, no noise)"
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"means": np.empty((0, 3))}, "empty"),
        ({"means": np.ones(3)}, "means"),
        ({"means": [[np.nan, 1.0]]}, "finite"),
        ({"isotropic": -0.1}, "variance"),
        ({"isotropic": np.ones(N + 1)}, "isotropic"),
        ({"isotropic": np.inf}, "finite"),
        ({"radial": {0: -1.0}}, "variance"),
        ({"radial": {N: 1.0}}, "between 0 and"),
        ({"radial": {-1: 1.0}}, "between 0 and"),
        ({"radial": {True: 1.0}}, "between 0 and"),
        ({"diagonal": -np.ones(D)}, "variance"),
        ({"diagonal": np.ones((D, N))}, "diagonal"),
        ({"factors": np.ones((N, D))}, "factors"),
        ({"covariance": -np.eye(D)}, "semidefinite"),
        ({"covariance": np.triu(np.ones((D, D)))}, "symmetric"),
        ({"covariance": np.ones((D, D + 1))}, "covariance"),
    ],
)
def test_bad_parts_are_refused(arguments, word):
    arguments = {"means": np.ones((N, D)), **arguments}
    with pytest.raises(InputError, match=word):
        GaussianKeys(arguments.pop("means"), **arguments)


@pytest.mark.parametrize(
    ("query", "settings", "word"),
    [
        (np.ones(D + 1), {}, "queries"),
        (np.ones((2, 2, D)), {}, "queries"),
        (np.full(D, np.inf), {}, "finite"),
        (np.ones(D), {"scale": np.nan}, "scale"),
        (np.ones(D), {"bias": np.ones(N + 1)}, "bias"),
        (np.full(D, 1e200), {}, "finite"),
    ],
)
def test_bad_queries_are_refused(query, settings, word):
    with pytest.raises(InputError, match=word), np.errstate(over="ignore"):
        GaussianKeys(np.ones((N, D)), isotropic=1.0).logits_law(query, **settings)


def test_shared_factors_correlate_the_keys(rng):
    mu, q, shared, size = (
        rng.normal(size=(N, D)),
        rng.normal(size=D),
        rng.normal(size=(2, N, D)),
        40_000,
    )
    keys = CorrelatedKeys(GaussianKeys(mu, isotropic=0.3), shared)
    law = keys.logits_law(q, scale=0.5)
    wanted = law.shared.T @ law.shared + np.diag(law.variances)
    z = 0.5 * keys.sample(rng, size) @ q - law.means
    products = z[:, :, None] * z[:, None, :]
    error = products.std(axis=0) / np.sqrt(size)
    assert (np.abs(products.mean(axis=0) - wanted) / error).max() < tolerances.SIGMAS


def test_a_common_shift_may_be_written_short(rng):
    keys = GaussianKeys(rng.normal(size=(N, D)))
    short, long = (
        CorrelatedKeys(keys, np.eye(D)[:1]),
        CorrelatedKeys(keys, np.tile(np.eye(D)[0], (1, N, 1))),
    )
    q = rng.normal(size=(H, D))
    assert np.array_equal(short.logits_law(q).shared, long.logits_law(q).shared)
    assert repr(short) == f"CorrelatedKeys({keys!r}, 1 shared factors)"
    with pytest.raises(InputError, match="shared"):
        CorrelatedKeys(keys, np.ones((1, N + 1, D)))
