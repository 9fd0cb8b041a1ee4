"""Templates of a handout that students fill in, or do not: every layout in every language."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from headwright.homework.reading.numerals import ROMAN_NUMERALS

HANDOUTS = tomllib.loads(Path(__file__).with_name("templates.toml").read_text("utf-8"))
ANSWERS = {
    "a.prob": r"$\alpha_i \ge 0$ and $\sum_i \alpha_i = 1$",
    "a.cond": r"$k_j^\top q \gg k_i^\top q$ for all $i \ne j$",
    "a.out": r"$c \approx v_j$",
    "a.intu": "The output copies the value of the one key that matches.",
    "b.M": r"$M = AA^\top$",
    "b.q": r"$q = \beta(k_a + k_b)$ with $\beta \gg 0$",
    "c.q": r"$q = \beta(\mu_a + \mu_b)$ with $\beta \gg 0$",
    "c.var": r"$c$ swings between $v_a$ and $v_b$",
    "d.q": r"$q_1 = \beta\mu_a$, $q_2 = \beta\mu_b$ with $\beta \gg 0$",
    "d.var": r"$c$ stays near $\frac{1}{2}(v_a + v_b)$",
    "e.sum": "Each head has a key of its own, so the average is robust to noise in one of them.",
}


@dataclass(frozen=True)
class Item:
    """One question of a handout, with the title of its part where it is the first there."""

    id: str
    number: str  # "i", or nothing where its part asks no other
    title: str
    question: str
    answer: str

    @property
    def part(self) -> str:
        return self.id[0]

    @property
    def label(self) -> str:
        return f"({self.part}) {self.number}." if self.number else f"({self.part})"


@dataclass(frozen=True)
class Layout:
    name: str
    suffix: str
    item: Callable[[Item, str], str]
    start: str = ""
    end: str = ""


def items(language: str, answered: frozenset[str]) -> list[Item]:
    handout = HANDOUTS[language]
    questions: Mapping[str, str] = handout["questions"]
    by_part: dict[str, list[str]] = {}
    for question in questions:
        by_part.setdefault(question[0], []).append(question)
    out = []
    for part, asked in by_part.items():
        for place, question in enumerate(asked):
            number = ROMAN_NUMERALS[place] if len(asked) > 1 else ""
            title = handout["titles"][part] if place == 0 else ""
            answer = ANSWERS[question] if question in answered else ""
            out.append(Item(question, number, title, questions[question], answer))
    return out


def template(layout: Layout, language: str, answered: frozenset[str]) -> str:
    word = HANDOUTS[language]["answer"]
    filled = [layout.item(item, word) for item in items(language, answered)]
    return layout.start + "\n\n".join(filled) + layout.end


def _tex_item(item: Item) -> str:
    part = f"\\item[({item.part})] {item.title}\n" if item.title and item.number else ""
    inner = item.number or f"({item.part})"
    return f"{part}\\item[{inner}{'.' if item.number else ''}] {item.question}"


def _environment(item: Item, word: str) -> str:
    return f"{_tex_item(item)}\n\\begin{{solution}}\n{item.answer}\n\\end{{solution}}"


def _space(item: Item, word: str) -> str:
    return f"{_tex_item(item)}\n\n{item.answer or chr(92) + 'vspace{3cm}'}"


def _box(item: Item, word: str) -> str:
    inside = item.answer or r"\vspace{2cm}\hfill"
    return f"{_tex_item(item)}\n\n\\fbox{{\\parbox{{0.9\\textwidth}}{{{inside}}}}}"


def _bold_word(item: Item, word: str) -> str:
    return f"{_tex_item(item)}\n\n\\textbf{{{word}:}} {item.answer}"


def _heading(item: Item, word: str) -> str:
    return (
        f"{_markdown_title(item)}### {item.label}\n\n{item.question}\n\n**{word}:** {item.answer}"
    )


def _markdown_title(item: Item) -> str:
    return f"## ({item.part}) {item.title}\n\n" if item.title and item.number else ""


def _quotation(item: Item, word: str) -> str:
    title = f" *{item.title}.*" if item.title else ""
    return f"> **{item.label}**{title} {item.question}\n\n{item.answer}"


def _comment(item: Item, word: str) -> str:
    hole = item.answer or "<!-- write your answer here -->"
    return f"{_markdown_title(item)}**{item.label}** {item.question}\n\n{hole}"


def _row(item: Item, word: str) -> str:
    return f"| {item.label} | {item.question} | {item.answer} |"


def _underscores(item: Item, word: str) -> str:
    line = item.answer or "_" * 50
    return f"{item.label} {item.question}\n\n{line}"


def _plain(item: Item, word: str) -> str:
    return f"{item.label} {item.question}\n{word}: {item.answer}"


def _indented(item: Item, word: str) -> str:
    title = f"- ({item.part}) {item.title}\n" if item.title and item.number else ""
    number = f"{item.number}." if item.number else f"({item.part})"
    return f"{title}  - {number} {item.question}\n\n    {word}: {item.answer}"


_ARTICLE = "\\documentclass{article}\n\\begin{document}\n\\begin{enumerate}\n"
_END = "\n\\end{enumerate}\n\\end{document}\n"
LAYOUTS = (
    Layout("environments", ".tex", _environment, _ARTICLE, _END),
    Layout("space", ".tex", _space, _ARTICLE, _END),
    Layout("boxes", ".tex", _box, _ARTICLE, _END),
    Layout("bold word", ".tex", _bold_word, _ARTICLE, _END),
    Layout("headings", ".md", _heading, "# Homework\n\n"),
    Layout("quotations", ".md", _quotation),
    Layout("comments", ".md", _comment),
    Layout("underscores", ".txt", _underscores),
    Layout("plain", ".txt", _plain),
    Layout("indented", ".md", _indented),
)
