"""Every public name has an example in its docstring, and the example does what it says."""

import doctest

import numpy as np
import pytest

import headwright as hw

NEEDS = {"audit": "transformers"}  # public name -> the library that its example needs
# The lab is a page in the browser: nothing that an example could print
NAMES = [name for name in hw.__all__ if name != "lab"]


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_public_name_is_true(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="the models extra is not installed")
    said = getattr(hw, name).__doc__
    example = doctest.DocTestParser().get_doctest(said, {"hw": hw, "np": np}, name, None, 0)
    assert example.examples

    told = []
    found = doctest.DocTestRunner().run(example, out=told.append)
    assert found.failed == 0, "".join(told)
