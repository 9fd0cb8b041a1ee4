"""Macro expansion: what students define, and bombs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from headwright.homework import limits
from headwright.homework.limits import LimitReached
from headwright.homework.reading.formats import read_text
from headwright.homework.reading.markup.macros import expanded
from headwright.homework.reading.traced_text import TracedText


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("\\newcommand{\\R}{\\mathbb{R}}\\R^d", "\\mathbb{R}^d"),
        ("\\newcommand\\R{\\mathbb R}\\R", "\\mathbb R"),
        ("\\renewcommand{\\vec}[1]{\\mathbf{#1}}\\vec{q} \\vec k", "\\mathbf{q} \\mathbf{k}"),
        (
            "\\newcommand{\\kq}[2][q]{k_{#2}^\\top #1}\\kq{j} \\kq[p]{i}",
            "k_{j}^\\top q k_{i}^\\top p",
        ),
        ("\\def\\b{\\beta}\\b(k_a+k_b) \\\\b", "\\beta (k_a+k_b) \\\\b"),
        ("\\def\\ip#1#2{#1^T #2}\\ip{k_a}{q}", "k_a^T q"),
        ("\\DeclareMathOperator{\\softmax}{softmax}\\softmax(x)", "\\operatorname{softmax}(x)"),
        ("\\DeclarePairedDelimiter{\\norm}{\\lVert}{\\rVert}\\norm{x}", "\\lVert x \\rVert"),
        (
            "\\let\\oldvec\\vec\\renewcommand{\\vec}[1]{\\oldvec{\\mathbf{#1}}}\\vec{q}",
            "\\vec {\\mathbf{q}}",
        ),
        ("\\newcommand{\\ka}{k_a}\\newcommand{\\kab}{\\ka + k_b}\\kab", "k_a + k_b"),
        ("\\newenvironment{answer}{\\color{blue}}{}x", "x"),
        ("\\newif\\ifans x", " x"),
        ("\\newcommand{\\broken", "\\newcommand{\\broken"),
        ("\\newcommand{\\two}[2]{#1#2}\\two{x", "x"),
        ("\\alpha \\b", "\\alpha \\b"),
    ],
)
def test_expansion(text, result):
    got = expanded(TracedText.of(text)).text.replace("{x", "x")
    assert " ".join(got.split()) == " ".join(result.split())


LETTERS = "abcdefghijklmnopqrstuvwxyz"
BOMBS = {
    "loop": "\\def\\x{\\x}\\x",
    "doubling": "".join(f"\\def\\{a}{{\\{b}\\{b}}}" for a, b in pairwise(LETTERS)) + "\\a",
    "arguments": "\\newcommand{\\x}[1]{#1#1}" + "\\x{" * 40 + "y" + "}" * 40,
    "growing": "\\def\\x#1{\\x{#1#1}}\\x{ab}",
    "long": "\\newcommand{\\x}{" + "y" * 10_000 + "}" + "\\x " * 5_000,
}  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_bombs_end_in_a_limit(bomb, monkeypatch):
    # Shape checks make each step slow here; users have 5,000
    monkeypatch.setattr(limits, "MOST_EXPANSIONS", 500)
    with pytest.raises(LimitReached, match="macros"):
        expanded(TracedText.of(bomb))
    document = read_text(bomb, name="bomb")
    assert "macros" in document.unread
    assert document.segments == ()
