"""Rounding: the grid itself, and the predicted logit error against really rounded keys."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import tolerances

from headwright.errors import InputError
from headwright.keys import GaussianKeys, rounded


def loop(keys, bits, per, group):
    """The definition, one group at a time."""
    rows = keys.T if per == "channel" else keys
    out = rows.copy()
    size = group or rows.shape[1]
    for line in out:
        for start in range(0, len(line), size):
            block = line[start : start + size]
            low, step = block.min(), (block.max() - block.min()) / (2**bits - 1)
            if step > 0:
                block[:] = low + step * np.round((block - low) / step)
    return out.T if per == "channel" else out


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.sampled_from(["channel", "token"]),
    st.sampled_from([None, 1, 2, 3, 5, 100]),
)
def test_equals_the_loop_over_groups(seed, bits, per, group):
    keys = np.random.default_rng(seed).normal(size=(11, 7))
    ours = rounded(keys, bits=bits, per=per, group=group)
    assert ours == pytest.approx(loop(keys, bits, per, group), abs=tolerances.ROUNDING)


def test_no_entry_moves_by_more_than_half_a_step(rng):
    keys = rng.normal(size=(64, 16))
    law = GaussianKeys.quantised(keys, bits=3, group=16)
    half_step = np.sqrt(12 * law.parts[0].array) / 2
    assert np.all(np.abs(rounded(keys, bits=3, group=16) - keys) <= half_step + tolerances.ROUNDING)
    again = rounded(rounded(keys, bits=3, group=16), bits=3, group=16)
    assert again == pytest.approx(rounded(keys, bits=3, group=16), abs=tolerances.ROUNDING)


@pytest.mark.parametrize("bits", [8, 4, 3])
@pytest.mark.parametrize(
    ("per", "group"), [("channel", None), ("channel", 128), ("token", None), ("token", 64)]
)
def test_predicted_logit_variance_is_the_measured_one(bits, per, group, rng):
    # 2,000 keys of 128 unequal channels, 200 queries: measured and predicted mean squared logit
    # error.
    keys = rng.normal(size=(2000, 128)) * np.exp(rng.normal(size=128) / 2)
    queries = rng.normal(size=(200, 128))
    predicted = GaussianKeys.quantised(keys, bits=bits, per=per, group=group).logits_law(
        queries, scale=0.1
    )
    moved = 0.1 * queries @ (rounded(keys, bits=bits, per=per, group=group) - keys).T
    ratio = (moved**2).mean() / predicted.variances.mean()
    assert ratio == pytest.approx(1.0, rel=tolerances.ROUNDING_VARIANCE)
    # Close to Gaussian: as many errors beyond two deviations as the normal law has.
    beyond = (np.abs(moved) > 2 * np.sqrt(predicted.variances)).mean()
    assert beyond == pytest.approx(0.0455, abs=tolerances.ROUNDING_TAIL)


def test_constant_groups_have_no_error():
    keys = np.ones((6, 4))
    assert np.array_equal(rounded(keys, bits=2), keys)
    assert repr(GaussianKeys.quantised(keys, bits=2)) == "GaussianKeys(n=6, d=4, no noise)"


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
@pytest.mark.parametrize("per", ["channel", "token"])
def test_other_libraries(library, per, rng):
    xp, keys = pytest.importorskip(library), rng.normal(size=(10, 6)).astype(np.float32)
    ours = rounded(keys, bits=4, per=per, group=4)
    theirs = rounded(xp.asarray(keys), bits=4, per=per, group=4)
    assert type(theirs) is type(xp.asarray(keys))
    assert np.asarray(theirs) == pytest.approx(ours, abs=tolerances.SINGLE)
    law = GaussianKeys.quantised(xp.asarray(keys), bits=4, per=per, group=4)
    ours = GaussianKeys.quantised(keys, bits=4, per=per, group=4).parts[0].array
    assert np.asarray(law.parts[0].array) == pytest.approx(ours, abs=tolerances.SINGLE)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"bits": 0}, "bits"),
        ({"bits": 17}, "bits"),
        ({"bits": True}, "bits"),
        ({"bits": 4, "group": 0}, "group"),
        ({"bits": 4, "per": "row"}, "per="),
    ],
)
def test_bad_settings_are_refused(settings, word):
    for function in (rounded, GaussianKeys.quantised):
        with pytest.raises(InputError, match=word):
            function(np.eye(3), **settings)


def test_bad_keys_are_refused():
    for keys in (np.ones(3), np.empty((0, 2)), [[np.nan, 0.0]], [[1.7e308, 0.0], [-1.7e308, 0.0]]):
        with pytest.raises(InputError), np.errstate(over="ignore"):
            rounded(keys, bits=4)
