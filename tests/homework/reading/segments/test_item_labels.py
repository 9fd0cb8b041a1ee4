"""Labels in every style: in front of lines, of headings and of formulas."""

from __future__ import annotations

import itertools

import pytest

from headwright.homework.reading.formats import read_text
from headwright.homework.reading.segments import item_labels
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
        ("Ejercicio 1.a.1** Text", "Ejercicio 1.a.1"),
        ("Part 1 · c · i", "Part 1 · c · i"),
        ("A.3 (1)** Text", "A.3 (1)"),
        ("【1-a-1】文字", "【1-a-1】"),
        ("1-2** 文字", "1-2"),
        ("1-가-① 답", "1-가-①"),
        ("一、1 文字", "一、1"),
        ("ii.Under these", "ii."),
        ("① 文字", "①"),
        ("1c ii) text", "1c ii)"),
        ("aii) text", "aii)"),
        ("(a, ii) text", "(a, ii)"),
        ("1-2-1. text", "1-2-1."),
        ("(가) 답", "(가)"),
        ("第1题 (a) (i)", "第1题 (a) (i)"),
        ("Parte a", "Parte a"),
        ("Questão 1, item (b): texto", "Questão 1, item (b):"),
        ("Aufgabe 1, Teil c (ii): Text", "Aufgabe 1, Teil c (ii):"),
        ("Problem 1 - Part b - ii", "Problem 1 - Part b - ii"),
        ("(2)I do not know", "(2)"),
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


def test_headings_carry_their_numbering():
    document = read_text(
        "### b) Query for $M$\n\n1 Attention Exploration\n\n\\section{x}", name="t"
    )
    assert [(s.kind, s.label, s.text) for s in document.segments][:3] == [
        ("heading", "b)", "Query for"),
        ("math", None, "M"),
        ("heading", "1", "Attention Exploration"),
    ]


WORDS = ("Question", "ans", "Aufgabe", "q", "문제", "题", "PART")
SPACES = ("", " ", ". ", ".", " # ", "№", "  ")
TOKENS = (
    "a", "H)", "(a)", "【1-a-1】", "1", "12.", "1.2", "1(a) i.", "2c i)", "iv.", "X:", "一、2", "①",
    "가)", "（二）", "1.a.2", "1 · c · i", "3.b", "1, part (b)", "vii", "d-ii", "[2]",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_every_label_behind_a_word_is_looked_at(word):
    """A glance at what follows the word decides whether the label's own expression is asked."""
    labels = 0
    for space, token in itertools.product(SPACES, TOKENS):
        line = f"{word}{space}{token} text"
        if item_labels._worded_at_line().match(line):
            labels += 1
            assert item_labels._BEGINS_AT_LINE.match(line), line
        formula = rf"\text{{{word.lower()}{space}{token}}} q"
        if item_labels._worded_in_formula().match(formula):
            assert item_labels._BEGINS_IN_FORMULA.match(formula), formula
    assert labels > 40
