"""What is said before a label says nothing about what follows it."""

from headwright.homework.meaning.statements import Statement, stream
from headwright.homework.reading.formats import read_text


def test_a_comparison_does_not_reach_across_a_label():
    text = "(b) $q = a (k_a + k_b)$ avec $a$ très grand.\n\n(c) $q = a (\\mu_a + \\mu_b)$"
    pieces = stream(read_text(text, name="t", suffix=".md"))
    stated = [piece for piece in pieces if isinstance(piece, Statement)]
    assert [piece.chain.relations for piece in stated] == [("=",), (), ("=",)]
