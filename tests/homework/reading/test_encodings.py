"""Text in whatever encoding it comes; a guess is noted."""

from __future__ import annotations

import pytest

from headwright.homework.reading.encodings import decoded
from headwright.homework.reading.formats import read_bytes


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_encodings_keep_words_and_formulas(encoding):
    text = "（a）注意力权重远大于其他的权重，所以输出接近这个值。$q = \\beta(k_a+k_b)$"
    document = read_bytes(text.encode(encoding), name="t")
    assert "远大于" in document.text
    assert [s.text for s in document.segments if s.kind == "math"] == ["q = \\beta(k_a+k_b)"]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("вектор запроса намного больше остальных", "cp1251"),
        ("größer für alle Schlüssel, süß", "cp1252"),
        ("훨씬 더 크다 그래서 가중치", "cp949"),
        ("SID;Name\n1;Chloé Sánchez\n2;Søren Østergård\n", "cp1252"),
        ("id;name\n1;Müller\n2;Jürgen", "cp1252"),
    ],
)
def test_legacy_encodings_are_guessed_and_noted(text, encoding):
    got, notes = decoded(text.encode(encoding))
    assert got == text
    assert encoding in notes[0]
