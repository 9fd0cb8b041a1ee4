"""What is said before a label says nothing about what follows it."""

import pytest

from headwright.homework.meaning.statements import Statement, stream
from headwright.homework.reading.formats import read_text


def _stated(text):
    pieces = stream(read_text(text, name="t", suffix=".md"))
    return [piece for piece in pieces if isinstance(piece, Statement)]


@pytest.mark.parametrize("words", ["with $a$ much larger", "where $a$ is", "avec $a$ très grand."])
def test_a_comparison_does_not_reach_across_a_label(words):
    text = f"(b) $q = a (k_a + k_b)$ {words}\n\n(c) $q = a (\\mu_a + \\mu_b)$"
    stated = _stated(text)
    assert [one.chain.relations for one in stated] == [("=",), (), ("=",)]
    assert stated[-1].before == ""


def test_a_sum_does_not_go_on_behind_a_label():
    stated = _stated("(b) $$q = a k_a$$\n\n(c) $$+ a k_b$$")
    assert [one.source for one in stated] == ["q = a k_a", "+ a k_b"]


def test_without_a_label_both_go_on():
    assert [one.chain.relations for one in _stated("$a$ greater\n\n$b$")] == [(">",)]
    assert [one.source for one in _stated("$$q = a k_a$$\n\n$$+ a k_b$$")] == ["q = a k_a + a k_b"]
