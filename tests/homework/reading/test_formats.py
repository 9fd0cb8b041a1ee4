"""Formats: what is read, what is hidden, and what is honestly unread."""

from __future__ import annotations

import json

import pytest

from headwright.homework.reading.formats import read_bytes, read_file, read_text


def math(text, suffix=""):
    return [s.text for s in read_text(text, name="t", suffix=suffix).segments if s.kind == "math"]


@pytest.mark.parametrize(
    ("text", "suffix", "formulas"),
    [
        ("a $x$ b $$y$$", ".md", ["x", "y"]),
        ("\\(x\\) \\[y\\]", ".md", ["x", "y"]),
        ("\\\\(x\\\\) and \\\\[y\\\\]", ".md", ["x", "y"]),
        ("```math\nq = 1\n```", ".md", ["q = 1"]),
        ("```python\nq = '$x$'\n```\n$y$", ".md", ["y"]),
        ("<!-- $hidden$ --> $y$", ".md", ["y"]),
        ("\\begin{align*} q &= 1 \\\\ &= 2 \\end{align*}", ".tex", ["q &= 1 \\\\ &= 2"]),
        ("$$\\begin{aligned} q &= 1 \\end{aligned}$$", ".md", ["q &= 1"]),
        ("\\begin{equation}q=1\\end{equation}", ".md", ["q=1"]),
        ("\\begin{cases} a \\\\ b \\end{cases}", ".md", ["\\begin{cases} a \\\\ b \\end{cases}"]),
        ("so \\boxed{q = \\beta (k_a+k_b)}", ".tex", ["\\boxed{q = \\beta (k_a+k_b)}"]),
        (
            "$ q = beta (k_a + k_b) $ and $beta >> 0$",
            ".typ",
            ["q = \\beta  (k_a + k_b)", "\\beta  \\gg  0"],
        ),
        ("$frac(1, 2) bold(q)_(a b)$", ".typ", ["\\frac{1}{ 2} \\mathbf{q}_{a b}"]),
        ("% $x$\n$y$ % $z$\n50\\% $w$", ".tex", ["y", "w"]),
        ("\\begin{document}$y$\\end{document}$x$", ".tex", ["y"]),
        ("\\iffalse $x$ \\else $z$ \\fi $y$", ".tex", ["z", "y"]),
        ("\\begin{comment}$x$\\end{comment}$y$", ".tex", ["y"]),
    ],
)
def test_formulas_of_every_format(text, suffix, formulas):
    assert math(text, suffix) == formulas


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("costs $5, but $q = \\beta k_a$ holds", ["q = \\beta k_a"]),
        (
            "$q = \\beta(k_a + k_b), but nothing here\n\nnext $y$",
            ["q = \\beta(k_a + k_b), but nothing here", "y"],
        ),
        ("only $5 for the whole class of ten students\n\nnext $y$", ["y"]),
        ("$$ q = 1\n\nHere is a long sentence about nothing much, going on. $y$", ["q = 1", "y"]),
        ("$$ q_1 = \\mu_a $ and", ["q_1 = \\mu_a"]),
        ("\\[ q = 1\n\nwords $y$", ["q = 1", "y"]),
        ("\\begin{align} q = 1\n\nwords $y$", ["q = 1", "y"]),
        ("(a) $q = k_a\n(b) $y$", ["q = k_a", "y"]),
        ("$$$$ $x$", ["", "x"]),
        ("$q = \\beta \\frac{1}{2 (k_a$", ["q = \\beta \\frac{1}{2 (k_a"]),
    ],
)
def test_unbalanced_delimiters_stay_in_their_paragraph(text, formulas):
    assert math(text) == formulas


@pytest.mark.parametrize(
    ("text", "struck", "kept"),
    [
        ("~~$q=k_a$~~ $q=1$", ["q=k_a"], ["q=1"]),
        ("\\sout{$x$} $y$", ["x"], ["y"]),
        ("<del>$x$</del> $y$", ["x"], ["y"]),
        ("$\\cancel{k_a} q$", [], ["q"]),
        ("$\\cancel{k_a}$", ["k_a"], []),
        ("$a + \\cancelto{0}{b}$", [], ["a + 0{b}"]),
    ],
)
def test_crossed_out_text_is_marked_or_cut(text, struck, kept):
    segments = [s for s in read_text(text, name="t").segments if s.kind == "math"]
    assert [s.text for s in segments if s.struck] == struck
    assert [s.text for s in segments if not s.struck] == kept


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"%PDF-1.7 stuff", "a PDF"),
        (b"PK\x03\x04rest", "zip or office"),
        (b"{\\rtf1 text}", "rich text"),
        (bytes(range(32)) * 50, "binary data"),
        (b'{"cells": 3}', "no list of cells"),
        (b'{"cells": [', "damaged"),
    ],
)
def test_unreadable_data_says_why(data, reason):
    suffix = ".ipynb" if data.startswith(b"{") else ".txt"
    document = read_bytes(data, name="t", suffix=suffix)
    assert reason in document.unread
    assert document.segments == ()


def test_null_bytes_are_blanks_and_noted():
    document = read_bytes(
        b"(a) $q = \x00\\beta k_a$ enough text around it to be a document", name="t"
    )
    assert document.notes == ("1 control characters ignored",)
    assert [s.text for s in document.segments if s.kind == "math"] == ["q =  \\beta k_a"]


def test_private_use_characters_cannot_forge_marks():
    document = read_text("\ue002$x$\ue003", name="t")
    assert [s.struck for s in document.segments if s.kind == "math"] == [False]


def test_too_large_files_are_not_opened(tmp_path, monkeypatch):
    monkeypatch.setattr("headwright.homework.limits.MOST_BYTES", 10)
    path = tmp_path / "big.md"
    path.write_text("x" * 11)
    assert "limit" in read_file(path).unread


def test_old_notebooks_with_worksheets():
    old = {"worksheets": [{"cells": [{"cell_type": "markdown", "source": "$q$"}]}]}
    assert math(json.dumps(old), ".ipynb") == ["q"]


@pytest.mark.parametrize("character", ["\x1b", "\x07", "\x9b", "\ud83d"])
def test_no_character_that_an_output_cannot_show_stays_in_the_text(character):
    """Not left to whoever writes or prints it: every quotation comes out of this text."""
    text = f"(b) ii. $q = 5(k_a + k_b)$ {character} and so on"
    document = read_text(text, name="answers", suffix=".md")

    assert character not in document.text
    assert len(document.text) == len(text)
