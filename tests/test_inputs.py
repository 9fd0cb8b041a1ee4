"""Whatever is passed to the public functions, they answer or say in words what was wrong; nothing
else is raised."""

import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest

import headwright as hw
from headwright import inputs
from headwright.errors import HeadwrightError, InputError

K = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
V = np.eye(3)
KEYS = hw.GaussianKeys(K, isotropic=0.01)


class Broken:
    """Calls itself an array, cannot be made one, and cannot be printed."""

    def __array__(self, *_, **__):
        raise RuntimeError("no array after all")

    def __repr__(self):
        raise RuntimeError("no words either")


class Liar:
    shape = (3, 2)
    ndim = 2
    dtype = "float"


HOSTILE = [
    None, "abc", "3", b"ab", object(), Broken(), Liar(),
    [[1, 2], [3]], [None, None], [[1, "x"]], {"a": 1}, {1, 2}, [], [[]],
    np.nan, np.inf, np.full((3, 2), np.nan), 10**400, 10**5000, -1, 0, True, 1j,
    K.astype(complex), 0.5, 9, np.array([[1, None], [2, 3]], dtype=object),
    np.array(["2020-01-01"], dtype="M8[D]"), np.array([["a", "b"]]), [[[[1.0]]]], len, int,
    np.ma.masked_array(K, mask=K > 0), np.array(1.0), Decimal("1.5"), [1.0], (i for i in "ab"),
]  # fmt: skip

CALLS = {
    "attend": (
        hw.attend,
        {"q": [2.0, 1.0], "K": K, "V": V, "scale": 1.0, "bias": None, "mask": None},
    ),
    "multihead": (
        hw.multihead,
        {"Q": K[:2], "K": K, "V": V, "mix": None, "scale": 1.0, "bias": None, "mask": None},
    ),
    "GaussianKeys": (
        hw.GaussianKeys,
        {"means": K, "isotropic": None, "radial": None, "factors": None},
    ),
    "moments": (
        hw.moments,
        {
            "q": [2.0, 1.0],
            "keys": KEYS,
            "V": V,
            "method": "exact",
            "mix": None,
            "scale": 1.0,
            "mask": None,
        },
    ),
    "worst_case": (
        hw.worst_case,
        {"z_low": [0.0, 0.0], "z_high": [1.0, 1.0], "direction": [1.0, 2.0]},
    ),
    "worst_case around keys": (
        hw.worst_case,
        {"q": [2.0, 1.0], "keys": K, "V": V, "radius": 0.5, "scale": 1.0, "bias": None},
    ),
    "extract": (hw.extract, {"A": [[1.0], [0.0]], "B": [[0.0], [1.0]]}),
    "copy": (
        hw.design.copy,
        {"j": 0, "K": K, "leak": 0.01, "heads": 1, "scale": 1.0, "bias": None},
    ),
    "average": (hw.design.average, {"keys": [0, 1], "K": K, "leak": 0.01, "heads": 1}),
    "mixture": (hw.design.mixture, {"shares": {0: 0.5, 1: 0.5}, "K": K, "leak": 0.01}),
    "reach": (hw.design.reach, {"K": K, "sets": None, "tolerance": None}),
    "permutation": (
        hw.symmetry.permutation,
        {
            "layer": np.tanh,
            "X": np.arange(12.0).reshape(4, 3),
            "axis": -2,
            "among": None,
            "budget": 20,
            "seed": 0,
        },
    ),
}


def violations():
    """Every argument of every function, replaced by every hostile value: what is raised besides our
    own errors."""
    for name, (function, named) in CALLS.items():
        for argument in named:
            for value in HOSTILE:
                try:
                    function(**{**named, argument: value})
                except HeadwrightError as error:
                    if "wanted" not in str(error) or len(str(error)) > 400:
                        yield f"{name}({argument}={type(value).__name__}) says: {str(error)[:500]}"
                except Exception as error:
                    yield f"{name}({argument}={type(value).__name__}) raises {type(error).__name__}"


def test_hostile_arguments_are_answered_in_words():
    """In a process of its own: in this one the types of all arguments are checked before the
    functions see them."""
    done = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        (name, one)
        for name, (_, named) in CALLS.items()
        for one in named
        if isinstance(named[one], (list, np.ndarray))
    ],
)
@pytest.mark.parametrize(
    "value", [None, "abc", object(), [[1, 2], [3]]], ids=["none", "text", "object", "ragged"]
)
def test_what_is_no_array_is_refused(name, argument, value):
    function, named = CALLS[name]
    with pytest.raises(InputError):
        function(**{**named, argument: value})


def test_masked_entries_are_not_taken_for_numbers():
    with pytest.raises(InputError, match="masked"):
        hw.attend([1.0, 0.0], np.ma.masked_array(K, mask=K < 0), V)
    unmasked = hw.attend([1.0, 0.0], np.ma.masked_array(K), V)
    np.testing.assert_array_equal(unmasked.weights, hw.attend([1.0, 0.0], K, V).weights)


def test_numbers_are_numbers():
    assert inputs.number("x", np.float32(0.5)) == 0.5
    for value in ("2", b"2", [2.0], np.array([2.0]), 10**400, None):
        with pytest.raises(InputError):
            inputs.number("x", value)
    assert inputs.whole("x", 3.0, low=1) == 3
    for value in (3.5, True, "3", 0, 10**400):
        with pytest.raises(InputError):
            inputs.whole("x", value, low=1, high=10)


def test_a_message_is_short_whatever_it_speaks_of():
    assert inputs.shown("x" * 1000) == repr("x" * 1000)[:57] + "..."
    assert inputs.shown(10**5000) == "an object of type int"
    assert inputs.shown(Broken()) == "an object of type Broken"


def test_arrays_of_two_libraries_or_without_numbers_are_refused():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax.numpy")
    with pytest.raises(InputError, match="one library"):
        hw.attend(jax.ones(2), torch.tensor(K), V)
    with pytest.raises(InputError, match="dense"):
        hw.attend([1.0, 0.0], torch.ones(3, 2, device="meta"), V)
    with pytest.raises(InputError, match="dense"):
        hw.attend([1.0, 0.0], torch.tensor(K).to_sparse(), V)


def test_logits_beyond_all_floats_are_weighed_in_silence():
    weights = hw.attend([1.0, 0.0], 1e308 * np.array([[1.0, 0.0], [-1.0, 0.0]]), np.eye(2)).weights
    np.testing.assert_array_equal(weights, [1.0, 0.0])


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in violations())
