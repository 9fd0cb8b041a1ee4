"""Documents for the locator: every layout writes every course's questions, in its own numbering.

A layout gets exercises, parts and questions with their answers, and gives the text of a document.
Course years differ in which questions exist, so the same label means different questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

ROMAN = ("i", "ii", "iii", "iv", "v")
LETTERS = "abcdefgh"
CHINESE = "一二三四五六"

Part = Sequence[tuple[str, str]]  # question and answer
Exercise = Sequence[Part]
Exercises = Sequence[Exercise]

COURSES: dict[str, list[list[list[str]]]] = {
    "one on copying": [
        [["a.cond"], ["b.q"], ["c.q", "c.var"], ["d.q", "d.var"], ["e.c2", "e.KQV"]],
    ],
    "four on copying": [
        [
            ["a.prob", "a.cond", "a.out", "a.intu"],
            ["b.M", "b.q"],
            ["c.q", "c.var"],
            ["d.q", "d.var"],
        ],
    ],
    "with positions": [
        [["a.cond", "a.out"], ["b.q"], ["c.q", "c.var"], ["d.q", "d.var"], ["e.sum"]],
        [["p.perm", "p.why"], ["p.help", "p.same"]],
    ],
}
# Formulas where the exercise asks for formulas, and words that name no question where it does not
ANSWERS = {
    "a.prob": r"$\alpha_i \ge 0$ for every $i$ and $\sum_i \alpha_i = 1$.",
    "a.cond": r"$k_j^\top q \gg k_i^\top q$ whenever $i \neq j$.",
    "a.out": r"$c \approx v_j$.",
    "a.intu": r"One value wins and is handed on as it is.",
    "b.M": r"$M = A A^\top$.",
    "b.q": r"$q = t (k_a + k_b)$ with $t \gg 0$.",
    "c.q": r"$q = t (\mu_a + \mu_b)$ with $t \gg 0$.",
    "c.var": r"It is near $v_a$ on one day and near $v_b$ on the next.",
    "d.q": r"$q_1 = t \mu_a$ and $q_2 = t \mu_b$.",
    "d.var": r"Nearly nothing moves: $\frac{1}{2}(v_a + v_b)$ as before.",
    "e.sum": r"Each of them has one task and does it well.",
    "e.c2": r"$c_2 \approx u_a$, and no.",
    "e.KQV": r"$V = (u_b u_b^\top - u_c u_c^\top)/\beta^2$, $K = I$, "
    r"$Q = (u_d u_a^\top + u_c u_d^\top)/\beta^2$.",
    "p.perm": r"$X' = P X$ gives $Q' = P Q$, $K' = P K$, $V' = P V$, so $Z' = P Z$.",
    "p.why": r"Who bites whom could not be told from the sentence.",
    "p.help": r"Yes, $P X + \Phi \neq P (X + \Phi)$.",
    "p.same": r"No, a whole turn is never a whole number of steps.",
}
TITLES = {
    "a": "Copying in attention",
    "b": "An average of two",
    "c": "Drawbacks of single-headed attention",
    "d": "Benefits of multi-headed attention",
    "e": "Summary",
    "p.perm": "Permuting the input",
    "p.help": "Position embeddings",
}


def _numbered(exercise: Exercise) -> list[tuple[str, int, bool, str]]:
    """Letter, number, whether the part asks only this, and the answer."""
    rows: list[tuple[str, int, bool, str]] = []
    for letter, part in zip(LETTERS, exercise, strict=False):
        for number, (_, answer) in enumerate(part, start=1):
            rows.append((letter, number, len(part) == 1, answer))
    return rows


def _lines(exercises: Exercises, label: Callable[[int, str, int, bool], str]) -> str:
    out: list[str] = []
    for k, exercise in enumerate(exercises, start=1):
        for letter, number, alone, answer in _numbered(exercise):
            out.append(f"{label(k, letter, number, alone)} {answer}")
    return "\n\n".join(out)


def chained(exercises: Exercises) -> str:
    return _lines(exercises, lambda k, a, i, one: f"({a})" if one else f"({a}) {ROMAN[i - 1]}.")


def glued(exercises: Exercises) -> str:
    return _lines(
        exercises, lambda k, a, i, one: f"{k}{a})" if one else f"{k}({a})({ROMAN[i - 1]})"
    )


def pointed(exercises: Exercises) -> str:
    """1.a.ii alone on its line."""
    return _lines(
        exercises, lambda k, a, i, one: f"{k}.{a}\n\n" if one else f"{k}.{a}.{ROMAN[i - 1]}\n\n"
    )


def worded(exercises: Exercises) -> str:
    return _lines(
        exercises,
        lambda k, a, i, one: f"Question {k} ({a})" + ("" if one else f" ({ROMAN[i - 1]})") + ":",
    )


def letter_and_digit(exercises: Exercises) -> str:
    return _lines(exercises, lambda k, a, i, one: f"{a})" if one else f"({a}.{i})")


def bold_heads(exercises: Exercises) -> str:
    return _nested(exercises, "# {k}. Exercise", "**({a})**", "**{r}.** ")


def headings(exercises: Exercises) -> str:
    return _nested(exercises, "# {k}", "## ({a})", "### {r}.\n\n")


def titled_headings(exercises: Exercises) -> str:
    return _nested(exercises, "# Exercise {k}", "## ({a}) {title}", "({r}) ")


def titles_only(exercises: Exercises) -> str:
    """No letters at all: titles name the parts, numbers what stands inside."""
    return _nested(exercises, "", "## {title}", "{i}. ")


def digits_in_letters(exercises: Exercises) -> str:
    return _nested(exercises, "# {k}. Exercise", "({a})", "({i}) ")


def bulleted(exercises: Exercises) -> str:
    return _nested(exercises, "# {k}. Exercise", "- $({a})$ {title}", "  - $({i})$ ")


def counted_parts(exercises: Exercises) -> str:
    return _nested(exercises, "# Q{k}. Exercise", "## Q{k}-{n}. {title}", "{r}. ")


def chinese(exercises: Exercises) -> str:
    return _nested(exercises, "", "{c}、", "（{i}）")


def letters_inside_digits(exercises: Exercises) -> str:
    return _nested(exercises, "", "### {n}. {title}", "{inner}) ")


def _nested(exercises: Exercises, sheet: str, head: str, item: str) -> str:
    """A line for each exercise, a line for each part, a label for each of its questions."""
    out: list[str] = []
    for k, exercise in enumerate(exercises, start=1):
        out.append(sheet.format(k=k))
        for n, part in enumerate(exercise):
            out.append(_filled(head, k, n, part, 1))
            for i, (_, answer) in enumerate(part, start=1):
                label = _filled(item, k, n, part, i) if len(part) > 1 else ""
                out.append(label + answer)
    return "\n\n".join(filter(None, out))


def _filled(pattern: str, k: int, n: int, part: Part, i: int) -> str:
    first = part[0][0]
    title = TITLES.get(first) or TITLES.get(first[0], "")
    return pattern.format(
        k=k, n=n + 1, a=LETTERS[n], c=CHINESE[n], i=i, r=ROMAN[i - 1], inner=LETTERS[i - 1],
        title=title,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- LaTeX


def _tex(body: list[str], preamble: str = "") -> str:
    return "\n".join(
        [r"\documentclass{article}", preamble, r"\begin{document}", *body, r"\end{document}"]
    )


def nested_enumerate(exercises: Exercises) -> str:
    body: list[str] = []
    for exercise in exercises:
        body += [r"\section{Exercise}", r"\begin{enumerate}[label=(\alph*)]"]
        for part in exercise:
            body.append(r"\item")
            body += _inner_list(part, r"\begin{enumerate}[label=\roman*.]", r"\end{enumerate}")
        body.append(r"\end{enumerate}")
    return _tex(body)


def plain_enumerate(exercises: Exercises) -> str:
    r"""\item in \item as LaTeX numbers them by itself: 1., (a)."""
    body = [r"\begin{enumerate}"]
    for exercise in exercises:
        body += [r"\item Exercise", r"\begin{enumerate}"]
        for part in exercise:
            body.append(r"\item")
            body += _inner_list(part, r"\begin{enumerate}", r"\end{enumerate}")
        body.append(r"\end{enumerate}")
    return _tex([*body, r"\end{enumerate}"])


def _inner_list(part: Part, begin: str, end: str) -> list[str]:
    if len(part) == 1:
        return [part[0][1]]
    return [begin, *(rf"\item {answer}" for _, answer in part), end]


def exam_class(exercises: Exercises) -> str:
    body = [r"\begin{questions}"]
    for exercise in exercises:
        body += [r"\titledquestion{Exercise}[20]", r"\begin{parts}"]
        for part in exercise:
            body.append(rf"\part[{len(part)}]")
            if len(part) == 1:
                body.append(part[0][1])
                continue
            body += [r"\begin{subparts}"]
            body += [rf"\subpart[1] {answer}" for _, answer in part]
            body += [r"\end{subparts}"]
        body.append(r"\end{parts}")
    return _tex([*body, r"\end{questions}"])


def starred_sections(exercises: Exercises) -> str:
    body: list[str] = []
    for k, exercise in enumerate(exercises, start=1):
        for letter, number, alone, answer in _numbered(exercise):
            if number == 1:
                body.append(rf"\section*{{{k}({letter})}}")
            if not alone:
                body.append(rf"\subsection*{{({ROMAN[number - 1]})}}")
            body.append(answer + "\n")
    return _tex(body)


def counted_sections(exercises: Exercises) -> str:
    r"""Nothing in the headings: \renewcommand writes the labels."""
    body: list[str] = []
    for exercise in exercises:
        body.append(r"\section{Exercise}")
        for _, number, alone, answer in _numbered(exercise):
            if number == 1:
                body.append(r"\subsection{}")
            if not alone:
                body.append(r"\subsubsection{}")
            body.append(answer + "\n")
    preamble = (
        r"\renewcommand\thesubsection{(\alph{subsection})}"
        "\n"
        r"\renewcommand{\thesubsubsection}{\roman{subsubsection}.}"
    )
    return _tex(body, preamble)


def empty_sections(exercises: Exercises) -> str:
    """The same with LaTeX's own numbers: 1.2.1."""
    body: list[str] = []
    for exercise in exercises:
        body.append(r"\section{Exercise}")
        for _, number, alone, answer in _numbered(exercise):
            if number == 1:
                body.append(r"\subsection{}")
            if not alone:
                body.append(r"\subsubsection{}")
            body.append(answer + "\n")
    return _tex(body)


LAYOUTS: dict[str, tuple[Callable[[Exercises], str], str]] = {
    "chained": (chained, ".md"),
    "glued": (glued, ".md"),
    "pointed": (pointed, ".txt"),
    "worded": (worded, ".md"),
    "letter and digit": (letter_and_digit, ".md"),
    "bold heads": (bold_heads, ".md"),
    "headings": (headings, ".md"),
    "titled headings": (titled_headings, ".md"),
    "titles only": (titles_only, ".md"),
    "digits in letters": (digits_in_letters, ".txt"),
    "bulleted": (bulleted, ".md"),
    "counted parts": (counted_parts, ".md"),
    "Chinese": (chinese, ".md"),
    "letters inside digits": (letters_inside_digits, ".md"),
    "nested enumerate": (nested_enumerate, ".tex"),
    "plain enumerate": (plain_enumerate, ".tex"),
    "exam class": (exam_class, ".tex"),
    "starred sections": (starred_sections, ".tex"),
    "counted sections": (counted_sections, ".tex"),
    "empty sections": (empty_sections, ".tex"),
}
