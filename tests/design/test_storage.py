import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tolerances import FEEDBACK

import headwright as hw
from headwright.design.storage import neighbours, representable, rounded

torch = pytest.importorskip("torch", reason="bfloat16 by another hand")


@given(
    st.lists(st.floats(-1e30, 1e30), min_size=1, max_size=20),
    st.sampled_from(["float32", "bfloat16"]),
)
def test_neighbours_enclose_and_are_of_the_format(numbers, storage):
    q = np.array(numbers)
    low, high = neighbours(q, storage)
    assert np.all((low <= q) & (q <= high))
    kind = torch.float32 if storage == "float32" else torch.bfloat16
    for side in (low, high):
        again = torch.tensor(side).to(kind).double().numpy()
        assert np.array_equal(again, side)
        assert representable(side, storage)
    # The nearest number of the format, by torch, is one of the two.
    nearest = torch.tensor(q).to(kind).double().numpy()
    assert np.all((nearest == low) | (nearest == high) | (np.abs(q) < 1e-37))


def test_error_feedback_keeps_a_mixture(rng):
    K = rng.standard_normal((300, 384))
    d = hw.design.mixture({0: 0.7, 1: 0.3}, K)
    difference = (K[0] - K[1])[None]
    wanted = float(difference[0] @ d.queries[0])
    plain = rounded(d.queries[0], np.zeros((0, 384)), "bfloat16")
    steered = rounded(d.queries[0], difference, "bfloat16")
    miss, miss_steered = (abs(float(difference[0] @ q) - wanted) for q in (plain, steered))
    assert miss_steered < FEEDBACK
    assert miss > 10 * miss_steered


@pytest.mark.parametrize("storage", ["float32", "bfloat16"])
@pytest.mark.parametrize("leak", [0.1, 1e-4])
def test_the_stored_query_is_what_is_certified(storage, leak, rng):
    K = rng.standard_normal((200, 64))
    d = hw.design.average([0, 1], K, leak=leak, storage=storage)
    assert d.status == "reached"
    assert representable(d.queries, storage)
    assert d.certify().leak_bound <= leak
    assert d.norm >= d.lower_bound
