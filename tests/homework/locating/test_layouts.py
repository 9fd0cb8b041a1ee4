"""Every layout of every course: each answer ends in the row of its question, and in no other."""

from __future__ import annotations

import pytest

from headwright.exercise.bank import load
from headwright.homework.locating.locate import locate
from headwright.homework.meaning.statements import stream
from headwright.homework.reading.formats import read_text

from .layouts import ANSWERS, COURSES, LAYOUTS

OTHER_EXERCISES = """

# {k}. Pretraining and knowledge access

(a) Done in the code.

(b) 4.8 percent on the dev set.

(c) The model makes up a place.
"""


def located(text: str, suffix: str = ".md") -> dict[str, str]:
    """What stands in the row of each question, without spaces and markup."""
    document = read_text(text, name="x", suffix=suffix)
    rows = locate(document, load(), stream(document))
    return {row.question: "".join(document.segments[k].text for k in row.segments) for row in rows}


def squeezed(text: str) -> str:
    return "".join(text.replace("$", "").split())


def filled(course: str) -> list[list[list[tuple[str, str]]]]:
    return [
        [[(question, ANSWERS[question]) for question in part] for part in exercise]
        for exercise in COURSES[course]
    ]


def asked(course: str) -> set[str]:
    return {question for exercise in COURSES[course] for part in exercise for question in part}


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_answer_is_in_its_own_row(layout, course):
    write, suffix = LAYOUTS[layout]
    rows = located(write(filled(course)), suffix)
    misplaced = {
        question: squeezed(rows.get(question, ""))
        for question in asked(course)
        if squeezed(ANSWERS[question]) not in squeezed(rows.get(question, ""))
    }
    assert misplaced == {}
    assert set(rows) <= asked(course)


@pytest.mark.parametrize("layout", ["chained", "headings", "nested enumerate", "counted sections"])
@pytest.mark.parametrize("course", COURSES)
def test_other_exercises_on_the_sheet_answer_none_of_these_questions(layout, course):
    write, suffix = LAYOUTS[layout]
    other = OTHER_EXERCISES.format(k=len(COURSES[course]) + 1)
    if suffix == ".tex":
        other = other.replace("# ", r"\section*{").replace("access\n", "access}\n")
    whole = write(filled(course)).replace(r"\end{document}", "") + other
    rows = located(whole, suffix)
    assert set(rows) == asked(course)
    elsewhere = ("4.8", "makes up", "Done in")
    assert not [q for q, text in rows.items() for words in elsewhere if words in text]


# What stands where: document, and for each question a piece of its row
CASES = {
    "second question first": (
        "(b) ii. $q = t(k_a + k_b)$, $t \\gg 1$\n\n(b) i. $M = A A^T$\n\n(c) i. $q = t(\\mu_a + \\mu_b)$",
        {"b.q": "k_a", "b.M": "A A^T", "c.q": r"\mu_a"},
    ),
    "parts in any order": (
        "(d) i. $q_1 = t\\mu_a, q_2 = t\\mu_b$\n\n(d) ii. It stays.\n\n(a) ii. $k_j^T q \\gg k_i^T q$\n\n"
        "(a) i. $\\alpha_i \\ge 0$, $\\sum_i \\alpha_i = 1$\n\n(b) i. $M = A A^T$\n\n(b) ii. It is the sum.",
        {"d.q": "q_1", "d.var": "stays", "a.cond": r"\gg", "a.prob": r"\ge", "b.q": "the sum"},
    ),
    "two answers on consecutive lines": (
        "a) $k_j^T q \\gg k_i^T q$\nb) $M = A A^T$\n$q = 1000 k_a + 1000 k_b$\nc) $q = 1000(\\mu_a + \\mu_b)$",
        {"a.cond": "k_j", "b.M": "A A^T", "b.q": "1000 k_a", "c.q": r"\mu_a"},
    ),
    "two answers in one sentence": (
        "(b) We take $M = \\sum_i a_i a_i^T$ for the first and $q = s(k_a + k_b)$, $s \\gg 0$ for the second.",
        {"b.M": "a_i", "b.q": "s(k_a"},
    ),
    "displays between paragraphs": (
        "(c) i.\n\nWe choose\n\n$$q = t(\\mu_a + \\mu_b)$$\n\nwhere t is large.\n\n$$t \\gg 1$$\n\n"
        "ii.\n\nThen\n\n$$k_a \\approx \\gamma \\mu_a$$\n\nso that\n\n$$c \\approx v_a$$\n\nor the other.",
        {"c.q": r"t \gg 1", "c.var": "or the other"},
    ),
    "one question asked, the other counted": (
        "### 1a\n\n$k_j^T q \\gg k_i^T q$\n\n### 1b\n\n$q = t(k_a + k_b)$\n\n### 1c\n\n1) $q = t(\\mu_a+\\mu_b)$\n\n"
        "2) Either of them.\n\n### 1d\n\n1) $q_1 = t\\mu_a$, $q_2 = t\\mu_b$\n\n2) Both of them.",
        {"a.cond": "k_j", "b.q": "k_a", "c.q": r"\mu_a", "c.var": "Either", "d.var": "Both of"},
    ),
    "questions first, answers counted once more": (
        "### Q1-3. One head\n\ni. Design a query for the average.\n\nii. What happens over samples?\n\n"
        "My answer:\n\ni. $q = t(\\mu_a + \\mu_b)$\n\nii. Now this one, now that one.\n\n"
        "### Q1-4. Two heads\n\ni. Design two queries.\n\nii. What happens over samples?\n\n"
        "My answer:\n\ni. $q_1 = t\\mu_a$ and $q_2 = t\\mu_b$\n\nii. Nothing to see any more.",
        {"c.q": r"\mu_a", "c.var": "Now this one", "d.q": "q_1", "d.var": "Nothing to see"},
    ),
    "a list in an answer": (
        "(a) i. $\\alpha_i \\ge 0$, $\\sum_i \\alpha_i = 1$\n\n(a) ii. Two things are needed:\n\n"
        "1. a good direction,\n2. a good length.\n\n(a) iii. $c \\approx v_j$\n\n(a) iv. As it is.",
        {"a.cond": "a good length", "a.out": "v_j", "a.intu": "As it is"},
    ),
    "the question's words place the answer": (
        "**Why can the weights be seen as a categorical distribution?**\n\nThey come from counting.\n\n"
        "**Under what conditions is almost all weight on one key?**\n\nIf the others are far behind.\n\n"
        "**Describe the output in that case.**\n\nIt is that one.\n\n"
        "**Summarise how several heads overcome the drawbacks.**\n\nThey share the work.",
        {"a.prob": "counting", "a.cond": "far behind", "a.out": "that one", "e.sum": "share the work"},
    ),
    "alternatives counted in an answer": (
        "\\begin{enumerate}[label=(\\alph*)]\n\\setcounter{enumi}{3}\n\\item Two heads\n"
        "\\begin{enumerate}[label=\\roman*.]\n\\item Two queries.\n\\begin{solution}$q_1 = t\\mu_a$, $q_2 = t\\mu_b$. Or:\n"
        "\\begin{enumerate}[label=\\roman*.]\n\\item the other way round,\n\\item with two scales.\n\\end{enumerate}\n"
        "\\end{solution}\n\\item And now?\n\\begin{solution}As it was.\n\\begin{enumerate}[label=\\roman*.]\n"
        "\\item With $q_1 = t\\mu_a$ nothing changes.\n\\item Nor with the other.\n\\end{enumerate}\n\\end{solution}\n"
        "\\end{enumerate}\n\\end{enumerate}",
        {"d.q": "two scales", "d.var": "Nor with the other"},
    ),
    "headings in German": (
        "## Kopieren\n\n$k_j^T q \\gg k_i^T q$\n\n## Der Mittelwert aus zwei\n\n$q = t(k_a+k_b)$\n\n"
        "## Nachteile eines einzelnen Kopfes\n\n1. $q = t(\\mu_a+\\mu_b)$\n\n2. Mal so, mal so.\n\n"
        "## Vorteile mehrerer Köpfe\n\n1. $q_1 = t\\mu_a$, $q_2 = t\\mu_b$\n\n2. Immer gleich.",
        {"a.cond": "k_j", "b.q": "k_a", "c.var": "Mal so", "d.var": "Immer gleich"},
    ),
    "headings in Chinese": (
        "## 注意力中的复制\n\n$k_j^T q \\gg k_i^T q$\n\n## 两个向量的平均\n\n$q = t(k_a+k_b)$\n\n"
        "## 单头注意力的缺点\n\n1. $q = t(\\mu_a+\\mu_b)$\n\n2. 时左时右。\n\n"
        "## 多头注意力的优点\n\n1. $q_1 = t\\mu_a$, $q_2 = t\\mu_b$\n\n2. 几乎不动。",
        {"a.cond": "k_j", "b.q": "k_a", "c.var": "时左时右", "d.var": "几乎不动"},
    ),
    "headings in Spanish": (
        "## (a) Copiar con atención\n\n$k_j^T q \\gg k_i^T q$\n\n## (b) El promedio de dos\n\n$q = t(k_a+k_b)$\n\n"
        "## (c) Desventajas de una sola cabeza\n\ni) $q = t(\\mu_a+\\mu_b)$\n\nii) A veces una, a veces otra.\n\n"
        "## (d) Ventajas de varias cabezas\n\ni) $q_1 = t\\mu_a$, $q_2 = t\\mu_b$\n\nii) Siempre igual.",
        {"a.cond": "k_j", "b.q": "k_a", "c.var": "A veces", "d.var": "Siempre"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_nothing_vanishes_and_labels_win(case):
    text, wanted = CASES[case]
    rows = located(text)
    assert {q: words in rows.get(q, "") for q, words in wanted.items()} == dict.fromkeys(
        wanted, True
    )
