"""What the page looks like: numbering, headings, restated questions, delimiters, file format,
scanner's dirt.

A layout turns the chosen answers (question -> lines) into the text of one document.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .notation import Notation
from .tongues import Tongue

ROMAN = ("i", "ii", "iii", "iv", "v")
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.DOTALL)

Items = Sequence[tuple[str, list[str]]]  # question id, lines of its answer


@dataclass(frozen=True)
class Layout:
    name: str
    suffix: str
    build: Callable[[Items, Notation, Tongue, random.Random], str]
    spellings: tuple[str, ...] = ("latex",)


def _delimited(text: str, n: Notation, inline: tuple[str, str], display: tuple[str, str]) -> str:
    def write(match: re.Match[str]) -> str:
        if match[1] is not None:
            return f"{display[0]}{n.written(match[1])}{display[1]}"
        return f"{inline[0]}{n.written(match[2])}{inline[1]}"

    return _FORMULA.sub(write, text)


def _parts(items: Items) -> list[tuple[str, list[tuple[str, list[str]]]]]:
    """Questions grouped by their letter, in order."""
    groups: dict[str, list[tuple[str, list[str]]]] = {}
    for question, lines in items:
        groups.setdefault(question[0], []).append((question, lines))
    return list(groups.items())


def _asked(question: str, t: Tongue) -> str:
    return t.asks.get(question, "")


# ------------------------------------------------------------------------------- Markdown and scans


def plain_markdown(items, n, t, rng):
    """(a) on its own line, then i., ii. as list items."""
    out = [f"# 1. {t.title}", ""]
    for letter, group in _parts(items):
        out += [f"({letter})", ""]
        for i, (_, lines) in enumerate(group):
            out += [f"{ROMAN[i]}. {lines[0]}", ""]
            for line in lines[1:]:
                out += [line, ""]
    return _delimited("\n".join(out), n, ("$", "$"), ("$$", "$$"))


def dashed_labels(items, n, t, rng):
    """(a) - ii) on a line of its own, as one hand-written scan had it."""
    out = [f"# < {t.title} >", ""]
    for letter, group in _parts(items):
        for i, (_, lines) in enumerate(group):
            shown = letter.upper() if rng.random() < 0.3 else letter
            out += [f"({shown}) - {ROMAN[i]})", ""]
            for line in lines:
                out += [line, ""]
        out += [rng.choice("①②③④"), ""]
    return _delimited("\n".join(out), n, (" $", "$ "), ("$$", "$$"))


def headed_sections(items, n, t, rng):
    """### b) Title, answers below, numbers only where a part has two."""
    out = [f"# 2 {t.title}", ""]
    for letter, group in _parts(items):
        out += [f"### {letter}) {_titles(letter)}", ""]
        for i, (_, lines) in enumerate(group):
            if len(group) > 1:
                out += [f"{i + 1}.", ""]
            for line in lines:
                out += [line, ""]
    return _delimited("\n".join(out), n, ("$", "$"), ("$$", "$$"))


def _titles(letter: str) -> str:
    return {
        "a": "Copying",
        "b": "Averaging",
        "c": "One head and its drawbacks",
        "d": "Several heads and their benefits",
    }[letter]


def bold_questions(items, n, t, rng):
    """A README: **Q1(b)(ii)** and the answer behind it."""
    out = [f"## {t.title}", ""]
    for letter, group in _parts(items):
        for i, (_, lines) in enumerate(group):
            out += [f"**Q1({letter})({ROMAN[i]})** {lines[0]}", *lines[1:], ""]
    return _delimited("\n".join(out), n, (r"\(", r"\)"), (r"\[", r"\]"))


def template_with_markers(items, n, t, rng):
    """A handout filled in: the question, then "Answer:" and the answer."""
    out = [f"# {t.title}", ""]
    for letter, group in _parts(items):
        out += [f"## ({letter})", ""]
        for i, (question, lines) in enumerate(group):
            points = rng.choice(["", f"({rng.randint(1, 3)} points) "])
            out += [
                f"{ROMAN[i]}. {points}{_asked(question, t)}",
                "",
                f"**{t.answer}:** {lines[0]}",
                "",
            ]
            for line in lines[1:]:
                out += [line, ""]
    return _delimited("\n".join(out), n, ("$", "$"), ("$$", "$$"))


def template_without_markers(items, n, t, rng):
    """The question left in, the answer in the next paragraph."""
    out = [f"# {t.title}", ""]
    for letter, group in _parts(items):
        for i, (question, lines) in enumerate(group):
            out += [f"({letter}) {ROMAN[i]}. {_asked(question, t)}", ""]
            for line in lines:
                out += [line, ""]
    return _delimited("\n".join(out), n, ("$", "$"), ("$$", "$$"))


def quoted_questions(items, n, t, rng):
    out = [f"# {t.title}"]
    for letter, group in _parts(items):
        for i, (question, lines) in enumerate(group):
            out += ["", f"#### {letter}.{ROMAN[i]}", f"> {_asked(question, t)}", "", *lines]
    return _delimited("\n".join(out), n, ("$", "$"), ("\n```math\n", "\n```\n"))


def scanned(items, n, t, rng):
    """A scan: labels inside the displays, one formula per paragraph, page numbers, a slip here and
    there."""
    out = [f"# 1. {t.title}", ""]
    for letter, group in _parts(items):
        out += [f"({letter})", ""]
        for i, (_, lines) in enumerate(group):
            first = lines[0]
            if first.startswith("$$"):
                out += [first.replace("$$", rf"$${ROMAN[i]} \quad ", 1), ""]
            else:
                out += [f"{ROMAN[i]}. {first}", ""]
            for line in lines[1:]:
                out += [line, ""]
        if rng.random() < 0.5:
            out += [f"({rng.randint(1, 4)})", ""]
    return _delimited("\n".join(out), n, ("$ ", " $"), ("$$", "$$"))


def chinese_numbering(items, n, t, rng):
    out = [t.title, ""]
    for number, (_, group) in zip("一二三四", _parts(items), strict=False):
        out += [f"{number}、", ""]
        for i, (_, lines) in enumerate(group):
            out += [f"（{i + 1}）{lines[0]}", *lines[1:], ""]
    return _delimited("\n".join(out), n, ("$", "$"), ("$$", "$$"))


def numbered_sections(items, n, t, rng):
    """1.1 (a), (b) ... 1.2 (a) ...: another year's numbering, with titles."""
    titles = {
        "a": "1.1 Copying in attention",
        "b": "1.2 Average in attention",
        "c": "2.1 Drawbacks of single-headed attention",
        "d": "2.2 Benefits of multi-headed attention",
    }
    out = ["1 Attention exploration", ""]
    for letter, group in _parts(items):
        out += [titles[letter], ""]
        for i, (_, lines) in enumerate(group):
            out += [f"({'abcde'[i]})", "", *[x for line in lines for x in (line, "")]]
    return _delimited("\n".join(out), n, ("$", "$"), ("$$", "$$"))


# ---------------------------------------------------------------------------------- without dollars


def bare_text(items, n, t, rng):
    """Plain text without any delimiter."""
    out = [t.title, ""]
    for letter, group in _parts(items):
        for i, (_, lines) in enumerate(group):
            out += [f"{letter}) {ROMAN[i]}. {lines[0]}", *lines[1:], ""]
    return _delimited("\n".join(out), n, ("", ""), ("", ""))


def backticks(items, n, t, rng):
    out = [f"# {t.title}", ""]
    for letter, group in _parts(items):
        for i, (_, lines) in enumerate(group):
            out += [f"### 1{letter}.{ROMAN[i]}", *lines, ""]
    return _delimited("\n".join(out), n, ("`", "`"), ("`", "`"))


# ------------------------------------------------------------------------------------ other formats


def notebook(items, n, t, rng):
    cells = [{"cell_type": "markdown", "source": [f"# {t.title}\n"]}]
    for letter, group in _parts(items):
        for i, (_, lines) in enumerate(group):
            text = _delimited(
                f"## ({letter}) {ROMAN[i]}\n\n" + "\n\n".join(lines), n, ("$", "$"), ("$$", "$$")
            )
            cells.append({"cell_type": "markdown", "source": text.splitlines(keepends=True)})
        cells.append({"cell_type": "code", "source": "q = beta * (k[0] + k[1])", "outputs": []})
    return json.dumps({"cells": cells, "nbformat": 4}, ensure_ascii=False)


def latex_lists(items, n, t, rng):
    """Nested enumerate, macros for keys and means, the question kept, answers in a colour."""
    out = [
        r"\documentclass{article}", r"\usepackage{amsmath}", r"\newcommand{\R}{\mathbb{R}}",
        rf"\newcommand{{\scale}}{{{n.scale}}}", r"\newcommand{\ans}[1]{{\color{blue}#1}}",
        r"\begin{document}", rf"\section{{{t.title}}}", r"\begin{enumerate}[label=(\alph*)]",
    ]  # fmt: skip
    for _, group in _parts(items):
        out += [r"\item", r"\begin{enumerate}[label=\roman*.]"]
        for question, lines in group:
            out += [
                rf"\item {_asked(question, t)} % $q = k_a$ is not it",
                rf"\ans{{{_lines(lines)}}}",
            ]
        out += [r"\end{enumerate}"]
    out += [r"\end{enumerate}", r"\end{document}"]
    text = _delimited("\n".join(out), n, ("$", "$"), ("\\[ ", " \\]"))
    head, mark, body = text.partition(r"\begin{document}")
    return (
        head + mark + body.replace(f"{n.scale}(", r"\scale(") if n.scale.startswith("\\") else text
    )


def latex_solutions(items, n, t, rng):
    r"""\section and \subsection, a solution environment, align."""
    out = [r"\documentclass{article}", r"\begin{document}"]
    for letter, group in _parts(items):
        out += [rf"\section*{{Problem 1 ({letter})}}"]
        for i, (question, lines) in enumerate(group):
            out += [
                rf"\subsection*{{({ROMAN[i]})}}",
                _asked(question, t),
                r"\begin{solution}",
                _lines(lines),
                r"\end{solution}",
            ]
    out += [r"\end{document}"]
    return _delimited("\n".join(out), n, (r"\(", r"\)"), ("\\begin{align*}\n", "\n\\end{align*}"))


def _lines(lines: list[str]) -> str:
    return "\n\n".join(line.replace("\n", " ") for line in lines)


def typst_document(items, n, t, rng):
    out = [f"= {t.title}", ""]
    for letter, group in _parts(items):
        for i, (_, lines) in enumerate(group):
            out += [f"== ({letter}) {ROMAN[i]}", "", *lines, ""]
    return _delimited("\n".join(out), n, ("$", "$"), ("$ ", " $"))


LAYOUTS = (
    Layout("plain Markdown", ".md", plain_markdown),
    Layout("dashed labels", ".txt", dashed_labels),
    Layout("headed sections", ".md", headed_sections),
    Layout("bold questions", ".md", bold_questions),
    Layout("template with markers", ".md", template_with_markers),
    Layout("template without markers", ".md", template_without_markers),
    Layout("quoted questions", ".md", quoted_questions),
    Layout("scan", ".txt", scanned),
    Layout("Chinese numbering", ".md", chinese_numbering),
    Layout("numbered sections", ".txt", numbered_sections),
    Layout("bare text", ".txt", bare_text, ("unicode", "ascii", "squeezed")),
    Layout("backticks", ".md", backticks, ("ascii", "unicode")),
    Layout("notebook", ".ipynb", notebook),
    Layout("LaTeX lists", ".tex", latex_lists),
    Layout("LaTeX solutions", ".tex", latex_solutions),
    Layout("Typst", ".typ", typst_document, ("typst",)),
)
