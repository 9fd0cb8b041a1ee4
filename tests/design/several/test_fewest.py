"""Fewest heads against brute force over all partitions."""

import itertools

import numpy as np
import pytest
from tests.tolerances import ROUNDING

import headwright as hw


def partitions(items):
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for smaller in partitions(rest):
        for i in range(len(smaller)):
            yield [*smaller[:i], [first, *smaller[i]], *smaller[i + 1 :]]
        yield [[first], *smaller]


def fewest_by_brute_force(K, S):
    known = {
        part: hw.design.selectable(K, list(part)).status == "selectable"
        for r in range(1, len(S) + 1)
        for part in itertools.combinations(S, r)
    }
    counts = [len(p) for p in partitions(S) if all(known[tuple(sorted(part))] for part in p)]
    return min(counts, default=None)


@pytest.mark.parametrize("seed", range(6))
def test_fewest_heads_are_the_fewest(seed):
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((40, 6))
    on_the_hull = [j for j in range(40) if hw.design.selectable(K, [j]).status == "selectable"]
    S = on_the_hull[:5]
    d = hw.design.average(S, K, heads="auto", leak=1e-3)
    assert d.status == "reached"
    assert len(d.mix) == d.fewest_heads == fewest_by_brute_force(K, S)
    assert sorted(a for face in d.faces for a in face.support) == S
    assert d.certify().holds
    assert d.weights[S].sum() == pytest.approx(1 - d.leak, abs=ROUNDING)


def test_collinear_keys_can_need_each_other():
    K = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, -1.0], [1.0, -3.0]])
    whole = hw.design.average([0, 1, 2], K, heads="auto")
    assert (whole.status, len(whole.mix)) == ("reached", 1)
    with_a_corner = hw.design.average([0, 1, 2, 4], K, heads="auto", leak=1e-3)
    assert (with_a_corner.status, len(with_a_corner.mix)) == ("reached", 2)


def test_no_number_of_heads_reaches_the_inside():
    K = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.3, 0.3]])
    d = hw.design.average([0, 3], K, heads="auto", leak=1e-3)
    assert d.status == "impossible"
    assert d.proof.inside == (3,)
    assert d.certify().holds


def test_a_fixed_number_of_heads(rng):
    K = np.eye(6)
    for heads in (1, 2, 3):
        d = hw.design.average([0, 1, 2], K, heads=heads)
        assert (d.status, len(d.mix)) == ("reached", heads)
        assert d.certify().holds
    square = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    assert hw.design.average([0, 1], square, heads="auto").fewest_heads == 2
    assert hw.design.average([0, 1], square, heads=1).status == "impossible"


@pytest.mark.parametrize("p", [0.5, 0.7])
def test_uniform_head_weights(p):
    K = np.eye(4)
    d = hw.design.mixture({0: p, 1: 1 - p}, K, heads=2, uniform=True, leak=1e-4)
    assert d.status == "reached"
    assert np.array_equal(d.mix, [0.5, 0.5])
    assert d.weights[0] == pytest.approx(p, abs=1e-4)
    assert d.certify().holds


def test_fewest_heads_says_when_it_is_proven():
    """No single query selects the ends of a line without its middle, yet one head reaches them at a
    large leak."""
    line = np.array([[-1.0], [1.0], [0.0]])
    two = hw.design.average([0, 1], line, heads="auto", leak=0.1)
    assert (two.fewest_heads, two.fewest_heads_when) == (2, "for every leak small enough")
    assert "for every leak small enough" in two.message
    one = hw.design.average([0, 1], line, heads="auto", leak=0.34)
    assert (one.status, len(one.mix), one.fewest_heads, one.fewest_heads_when) == (
        "reached",
        1,
        1,
        "always",
    )


def test_dependent_keys_prove_less():
    """Three keys in a row are selected together and not in two parts: that two heads fail says
    nothing about one."""
    K = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, -1.0]])
    d = hw.design.average([0, 1, 2], K, heads=2, leak=1e-3)
    assert (d.status, len(d.mix), d.fewest_heads) == ("reached", 1, 1)
    corner = hw.design.average([0, 1, 2, 3], K, heads="auto", leak=1e-3)
    assert corner.fewest_heads <= len(corner.mix)
    assert corner.fewest_heads == 1 or "each key served by one head" in corner.fewest_heads_when
