"""The engines' proof that a variant can be answered notices one that cannot, and a wrong key."""

import pytest

from headwright.course.variants import drawn, solvable
from headwright.course.variants.solvable import prove_solvable
from headwright.errors import HeadwrightError


@pytest.fixture(autouse=True)
def forgetful():
    """Proofs are remembered; not across these tests."""
    for proof in (solvable._mixture, solvable._average, solvable._swings):
        proof.cache_clear()
    yield
    for proof in (solvable._mixture, solvable._average, solvable._swings):
        proof.cache_clear()


def test_drawn_variants_are_solvable():
    for student in range(3):
        prove_solvable(drawn("0", f"u{student}"))


def test_a_scale_in_the_key_that_misses_the_leak_is_noticed(monkeypatch):
    right = solvable.sharpness
    monkeypatch.setattr(solvable, "sharpness", lambda *a, **k: right(*a, **k) + 1e-6)

    with pytest.raises(HeadwrightError, match="no proof that the average"):
        prove_solvable(drawn("0", "u1"))


def test_a_key_whose_length_hardly_varies_does_not_swing():
    assert solvable._swings(0.5)
    assert not solvable._swings(1e-9)
