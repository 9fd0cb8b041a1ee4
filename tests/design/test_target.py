import numpy as np
import pytest

import headwright as hw
from headwright.errors import InputError

K = np.eye(4)

BAD = {
    "key out of range": lambda: hw.design.copy(4, K),
    "negative key": lambda: hw.design.copy(-1, K),
    "a word for a key": lambda: hw.design.copy("a", K),
    "a key twice": lambda: hw.design.average([1, 1], K),
    "no key": lambda: hw.design.average([], K),
    "a number for a list": lambda: hw.design.average(3, K),
    "shares off 1": lambda: hw.design.mixture({0: 0.5, 1: 0.4}, K),
    "negative share": lambda: hw.design.mixture({0: 1.5, 1: -0.5}, K),
    "shares of wrong length": lambda: hw.design.mixture([0.5, 0.5], K),
    "leak 0": lambda: hw.design.copy(0, K, leak=0.0),
    "leak 1": lambda: hw.design.copy(0, K, leak=1.0),
    "leak nan": lambda: hw.design.copy(0, K, leak=float("nan")),
    "scale 0": lambda: hw.design.copy(0, K, scale=0.0),
    "bias of wrong length": lambda: hw.design.copy(0, K, bias=[0.0, 1.0]),
    "keys with nan": lambda: hw.design.copy(0, [[np.nan, 1.0]]),
    "keys whose squares overflow": lambda: hw.design.copy(0, K * 1e200),
    "keys whose squares vanish": lambda: hw.design.copy(0, K * 1e-200),
    "a scale that vanishes": lambda: hw.design.copy(0, K, scale=1e-200),
    "no keys": lambda: hw.design.copy(0, np.zeros((0, 3))),
    "flat keys": lambda: hw.design.copy(0, np.zeros(3)),
    "heads 0": lambda: hw.design.average([0, 1], K, heads=0),
    "more heads than keys": lambda: hw.design.average([0, 1], K, heads=3),
    "half a head": lambda: hw.design.average([0, 1], K, heads=1.5),
    "unknown option": lambda: hw.design.copy(0, K, sharpnes=3),
    "unknown storage": lambda: hw.design.copy(0, K, storage="int8"),
    "law of other keys": lambda: hw.design.copy(0, K, law=hw.GaussianKeys(np.eye(3))),
    "law that is none": lambda: hw.design.copy(0, K, law="noise"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_advice(name):
    with pytest.raises(InputError, match=r"wanted .*; got .*; try: "):
        BAD[name]()


def test_shares_may_be_dense_and_zeros_are_left_out():
    dense, named = (
        hw.design.mixture([0.7, 0.0, 0.3, 0.0], K),
        hw.design.mixture({0: 0.7, 2: 0.3}, K),
    )
    assert dense.target.support == named.target.support == (0, 2)
    assert np.array_equal(dense.queries, named.queries)
