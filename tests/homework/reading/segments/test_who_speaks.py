"""The handout's question and the student's answer are told apart where the document says so."""

from __future__ import annotations

import pytest

from headwright.homework.reading.formats import read_text


@pytest.mark.parametrize(
    ("text", "suffix", "voices"),
    [
        ("(a) Find $x$.\n\n**Answer:** $y$", ".md", ["question", "answer"]),
        ("(a) 求 $x$\n解：$y$\n\n(b) $z$", ".md", ["question", "answer", ""]),
        ("(a) (2 points) Find $x$.\n\n$y$", ".md", ["question", ""]),
        ("(a) (2 points) $x$", ".md", [""]),
        ("> Here $x$\n\n$y$", ".md", ["quote", ""]),
        ("> Let $z$. Find $x$\n\n$y$", ".md", ["question", "question", ""]),
        ("\\item Find $x$. \\ifans{$y$}\\fi", ".tex", ["question", "answer"]),
        ("\\begin{solution}$y$\\end{solution}", ".tex", ["answer"]),
        (
            "\\newcommand{\\ans}[1]{{\\color{blue}#1}}Find $x$. \\ans{$y$}",
            ".tex",
            ["question", "answer"],
        ),
        ("### Problem\n$x$\n### Solution\n$y$", ".md", ["question", "answer"]),
    ],
)
def test_who_speaks(text, suffix, voices):
    segments = read_text(text, name="t", suffix=suffix).segments
    assert [s.voice for s in segments if s.kind == "math"] == voices
