"""Every public name has an example in its docstring, and the examples of the reference do what they
say."""

import doctest
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import headwright as hw
from headwright.site.public_names import public_names

DOCS = Path(__file__).resolve().parents[1] / "docs"
# name -> the library that its example needs
NEEDS = {"audit": "transformers", "headwright.trained.layers": "transformers"}
# The lab is a page in the browser: nothing that an example could print
NAMES = [name for name in hw.__all__ if name != "lab"]


def _examples(name, said):
    return doctest.DocTestParser().get_doctest(said or "", {"hw": hw, "np": np}, name, None, 0)


def _insist(example):
    told = []
    found = doctest.DocTestRunner().run(example, out=told.append)
    assert found.failed == 0, "".join(told)


def _at_hand(name):
    return name not in NEEDS or find_spec(NEEDS[name]) is not None


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_public_name_is_true(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="the models extra is not installed")
    example = _examples(name, getattr(hw, name).__doc__)
    assert example.examples

    _insist(example)


def test_the_other_examples_of_the_reference_are_true():
    texts = [page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")]
    groups = public_names(texts)
    offered = {f"hw.{name}" for name in hw.__all__}
    others = [public for group in groups.values() for public in group if public.name not in offered]

    with_examples = set()
    for public in others:
        example = _examples(public.name, public.thing.__doc__ if public.thing else "")
        if example.examples and _at_hand(public.name):
            with_examples.add(public.name)
            _insist(example)

    assert {
        "headwright.keys.CorrelatedKeys",
        "headwright.keys.rounded",
        "headwright.noise.exceedance",
        "headwright.noise.weight_distribution",
        "headwright.noise.winners",
        "hw.design.average",
        "hw.design.certify",
        "hw.design.copy",
        "hw.design.mixture",
        "hw.design.reach",
        "hw.design.selectable",
    } <= with_examples
