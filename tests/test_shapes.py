"""The checker of the test runs itself: what an annotation says holds at every call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import jaxtyping
import numpy as np
import pytest
from tests import shapes

from headwright.noise import conditioned
from headwright.types import Float, Keys, Values

Vector = Float[np.ndarray, "n"]


@shapes.checked
def total(keys: Keys, values: Values) -> Vector:
    return keys.sum(axis=1) if len(values) else np.zeros(7)


def refused(function, *args):
    with pytest.raises(jaxtyping.TypeCheckError):
        function(*args)


def test_an_axis_has_one_length_within_a_call_and_another_in_the_next():
    for n in (2, 3):
        assert total(np.ones((n, 4)), np.ones((n, 1))).tolist() == [4] * n
    refused(total, np.ones((2, 4)), np.ones((3, 1)))
    refused(total, np.ones(2), np.ones((2, 1)))


def test_what_a_function_returns_is_held_against_its_arguments():
    refused(total, np.ones((0, 4)), np.ones((0, 1)))


def test_a_call_inside_a_call_has_axes_of_its_own():
    @shapes.checked
    def outer(keys: Vector) -> Vector:
        total(np.ones((len(keys) + 1, 2)), np.ones((len(keys) + 1, 1)))
        return keys

    assert len(outer(np.ones(3))) == 3


def test_every_closure_of_the_same_code_is_checked_and_keeps_its_own_variables():
    def adding(number):
        @shapes.checked
        def add(other: float) -> float:
            return number + other

        return add

    one, ten = adding(1), adding(10)
    assert [one(1), ten(1), one(2)] == [2, 11, 3]
    for closure in (one, ten, adding("")):
        refused(closure, "a")
    refused(adding(1j), 1)


def test_dataclasses_and_generators_are_checked():
    @shapes.checked
    @dataclass
    class Pair:
        a: Vector
        b: Vector

    @shapes.checked
    def count(to: int) -> Iterator[int]:
        yield from range(to)

    assert Pair(np.ones(2), np.ones(2)).a.sum() == 2
    refused(Pair, np.ones(2), np.ones(3))
    assert list(count(2)) == [0, 1]
    refused(count, "2")


def test_every_closure_of_a_generator_is_checked_and_keeps_its_own_variables():
    def counting(first):
        @shapes.checked
        def count(to: int) -> Iterator[int]:
            yield from range(first, to)

        return count

    one, two = counting(1), counting(2)
    assert [list(one(4)), list(two(4)), list(one(3))] == [[1, 2, 3], [2, 3], [1, 2]]
    for closure in (one, two):
        refused(closure, "a")


def test_axes_are_found_inside_other_annotations():
    @shapes.checked
    def same(both: tuple[Vector, Vector] | None) -> list[Vector]:
        return [np.ones(3)]

    assert len(same((np.ones(3), np.ones(3)))) == 1
    assert len(same(None)) == 1
    refused(same, (np.ones(2), np.ones(3)))
    refused(same, (np.ones(2), np.ones(2)))


def test_the_package_is_checked():
    two, three = np.ones(2), np.ones(3)
    refused(conditioned._moves, two, three, two > 0, two > 0)
