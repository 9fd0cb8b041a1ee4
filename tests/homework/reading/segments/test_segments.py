"""Labels in every style, TeX lists as their PDF shows them, and who speaks."""

from __future__ import annotations

import pytest

from headwright.homework.reading.formats import read_text
from headwright.homework.reading.segments.item_labels import at_line, in_formula


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("(a) text", "(a)"),
        ("a) text", "a)"),
        ("i. text", "i."),
        ("ii) text", "ii)"),
        ("1.1 Copying", "1.1"),
        ("Q1(b) text", "Q1(b)"),
        ("Part c", "Part c"),
        ("(C) - i)", "(C) - i)"),
        ("(a)(ii) Text", "(a)(ii)"),
        ("2(c)ii. Text", "2(c)ii."),
        ("1.1(a) Text", "1.1(a)"),
        ("Question 1: Text", "Question 1:"),
        ("1.a.ii Text", "1.a.ii"),
        ("第一题 解", "第一题"),
        ("（二）文字", "（二）"),
        ("一、文字", "一、"),
        ("문제 2. 답", "문제 2."),
        ("Aufgabe 1b) Text", "Aufgabe 1b)"),
        ("b.ii) Text", "b.ii)"),
        ("1a) Text", "1a)"),
        ("(b)-ii) Text", "(b)-ii)"),
        ("iv 单词", "iv"),
        ("Zadanie 3", "Zadanie 3"),
        ("(i) Text", "(i)"),
        ("c) i. Text", "c) i."),
        ("Problem 1 (a) i", "Problem 1 (a) i"),
        ("1、文字", "1、"),
        ("Вопрос 2) Text", "Вопрос 2)"),
        ("Ejercicio 1.b: Text", "Ejercicio 1.b:"),
        ("3.2.1 Title", "3.2.1"),
    ],
)
def test_labels(line, label):
    found = at_line(line)
    assert found is not None
    assert found.group().strip() == label


@pytest.mark.parametrize(
    "line",
    [
        "e.g. this",
        "i.e. that",
        "A query",
        "a large number",
        "c = v_j",
        "0.5 v_a",
        "I think",
        "q = 1",
        "k_a",
        "(a + b) q",
        "exact",
        "Explain",
        "Equation 1",
        "b is large",
        "d dimensions",
        "part of it",
        "question of size",
        "Is it",
    ],
)
def test_words_are_no_labels(line):
    assert at_line(line) is None


@pytest.mark.parametrize(
    ("formula", "label"),
    [
        ("ii \\quad k", "ii"),
        ("b) \\quad v_a", "b)"),
        ("(ii) \\quad c", "(ii)"),
        ("(a)\\ q = 1", "(a)"),
        ("\\text{(a)} q", "(a)"),
        ("i) \\quad K", "i)"),
        ("(c) q", "(c)"),
    ],
)
def test_labels_in_formulas(formula, label):
    found = in_formula(formula)
    assert found is not None
    assert found[0] == label


@pytest.mark.parametrize(
    "formula", ["(a+b) x", "c = 1", "a_i \\quad b", "(1) x", "i = 1", "k_a \\quad"]
)
def test_formulas_without_labels(formula):
    assert in_formula(formula) is None


def labels(text, suffix=".tex"):
    return [s.label for s in read_text(text, name="t", suffix=suffix).segments if s.label]


def test_lists_get_the_labels_their_pdf_shows():
    nested = (
        "\\begin{enumerate}[label=(\\alph*)]\\item A "
        "\\begin{enumerate}[label=\\roman*.]\\item $x$ \\item $y$"
        "\\end{enumerate}\\item B\\begin{itemize}\\item dot\\end{itemize}\\end{enumerate}"
    )
    assert labels(nested) == ["(a)", "i.", "ii.", "(b)"]
    assert labels(
        "\\begin{enumerate}\\item x\\begin{enumerate}\\item y\\end{enumerate}\\end{enumerate}"
    ) == [
        "1.",
        "(a)",
    ]
    assert labels("\\begin{enumerate}[a)]\\item x\\item y\\end{enumerate}") == ["a)", "b)"]
    assert labels("\\begin{enumerate}[(i)]\\item x\\item y\\end{enumerate}") == ["(i)", "(ii)"]
    assert labels("\\begin{enumerate}\\setcounter{enumi}{2}\\item x\\end{enumerate}") == ["3."]
    assert labels(
        "\\begin{questions}\\question x\\begin{parts}\\part y\\part z\\end{parts}\\end{questions}"
    ) == [
        "1.",
        "(a)",
        "(b)",
    ]
    assert labels("\\begin{itemize}\\item[(c)] x\\end{itemize}") == ["(c)"]


def test_headings_carry_their_numbering():
    document = read_text(
        "### b) Query for $M$\n\n1 Attention Exploration\n\n\\section{x}", name="t"
    )
    assert [(s.kind, s.label, s.text) for s in document.segments][:3] == [
        ("heading", "b)", "Query for"),
        ("math", None, "M"),
        ("heading", "1", "Attention Exploration"),
    ]


@pytest.mark.parametrize(
    ("text", "suffix", "voices"),
    [
        ("(a) Find $x$.\n\n**Answer:** $y$", ".md", ["question", "answer"]),
        ("(a) 求 $x$\n解：$y$\n\n(b) $z$", ".md", ["question", "answer", ""]),
        ("(a) (2 points) Find $x$.\n\n$y$", ".md", ["question", ""]),
        ("(a) (2 points) $x$", ".md", [""]),
        ("> Find $x$\n\n$y$", ".md", ["quote", ""]),
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
