"""Variants depend on the seed and the student, and on nothing else."""

import pytest

from headwright.course.variants.variant import Variant, drawn, restored_variant
from headwright.errors import InputError


def test_a_student_keeps_the_variant_whatever_version_draws_it():
    # Sheets that were handed out must be found again: this very variant, for ever.
    assert drawn("0", "u1") == Variant("w", "f", False, 75, 9, 3, 0, "1/4")


def test_another_seed_or_student_has_another_variant():
    variants = {drawn(seed, student) for seed in "01" for student in ("u1", "u2", "u3")}

    assert len(variants) == 6


def test_the_seed_and_the_student_are_kept_apart():
    assert drawn("1", "2u") != drawn("12", "u")


def test_everything_that_may_vary_does():
    variants = [drawn("0", f"u{k}") for k in range(300)]

    for name, least in {"percent": 10, "n": 10, "leak": 5, "d": 7, "variance": 5}.items():
        assert len({getattr(one, name) for one in variants}) == least
    assert {one.varying_first for one in variants} == {True, False}
    assert len({(one.varying, one.steady) for one in variants}) > 80
    assert all(one.varying != one.steady for one in variants)
    assert all(one.n <= one.d for one in variants if one.d)


def test_a_variant_comes_back_from_its_record():
    variant = drawn("seed", "ü/..")

    assert restored_variant(variant.record()) == variant
    with pytest.raises(InputError, match="wanted a variant with"):
        restored_variant({"varying": "a"})
