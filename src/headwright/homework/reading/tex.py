r"""LaTeX as a student writes it, brought to plain lines: comments, conditionals, lists, headings,
text commands.

Mathematics is not touched here. Lists get the labels their PDF shows, so that the locator sees
"(a)" whether the student typed it or \item did.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from headwright.homework.reading.macros import (
    ANSWER_NAMES,
    ANSWER_OFF,
    ANSWER_ON,
    STRUCK_OFF,
    STRUCK_ON,
    closing,
)
from headwright.homework.reading.traced import Traced

_COMMENT_LINE = re.compile(r"^[ \t]*%[^\n]*\n", re.MULTILINE)
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*%[^\n]*")
_CONDITIONAL = re.compile(r"\\(if(?!f(?![a-z])|thenelse)[A-Za-z@]*|else|fi)(?![A-Za-z])")
_HIDDEN = re.compile(r"\\begin\{comment\}.*?\\end\{comment\}", re.DOTALL)
_STRUCK = re.compile(r"\\(?:sout|st|xout|uwave|cancel|xcancel|bcancel|hcancel|soutb)\s*(?=\{)")
_ANSWER = re.compile(rf"\\(?:{'|'.join(sorted(ANSWER_NAMES))})\s*(?=\{{)")


def is_tex(text: str) -> bool:
    return r"\documentclass" in text or r"\begin{document}" in text or r"\item" in text


def body(source: Traced) -> Traced:
    r"""What is printed: no comments, no hidden branches, nothing outside
    \begin{document}..\end{document}."""
    source = source.replace(_COMMENT_LINE, lambda match: "")
    source = source.replace(_COMMENT, lambda match: match.group().split("%")[0])
    source = source.replace(_HIDDEN, lambda match: "")
    return _conditionals(source)


def printed(source: Traced) -> Traced:
    begin = source.text.find(r"\begin{document}")
    end = source.text.find(r"\end{document}", max(begin, 0))
    begin = begin + len(r"\begin{document}") if begin >= 0 else 0
    return source.cut(begin, end if end > begin else len(source))


def _conditionals(source: Traced) -> Traced:
    r"""\ifans..\fi becomes an answer, \iffalse..\fi nothing; other conditions keep both their
    branches."""
    pieces, open_, at = [], [], 0
    for match in _CONDITIONAL.finditer(source.text):
        word = match[1]
        hidden = any(name == "hidden" for name in open_)
        if not hidden:
            pieces.append(source.cut(at, match.start()))
        at, mark = match.end(), ""
        if word == "fi":
            mark = ANSWER_OFF if open_ and open_.pop() == "answer" else ""
        elif word == "else":
            was = open_.pop() if open_ else "shown"
            mark = ANSWER_OFF if was == "answer" else ""
            open_.append("shown" if was == "hidden" else "shown" if was == "answer" else was)
        elif word == "iffalse":
            open_.append("hidden")
        elif word.startswith("if") and word[2:].lower() in ANSWER_NAMES:
            open_.append("answer")
            mark = ANSWER_ON
        else:
            open_.append("shown")
        if mark and not hidden:
            pieces.append(source.standing(mark, match.start(), match.end()))
    if "hidden" not in open_:
        pieces.append(source.cut(at, len(source)))
    return Traced.join(pieces)


def wrapped(source: Traced) -> Traced:
    r"""\sout{..} and \answer{..} as pairs of marks; what \cancel hides in a formula is cut out
    later."""
    marks: list[tuple[int, int, str]] = []
    for pattern, on, off in ((_STRUCK, STRUCK_ON, STRUCK_OFF), (_ANSWER, ANSWER_ON, ANSWER_OFF)):
        for match in pattern.finditer(source.text):
            end = closing(source.text, match.end())
            if end > 0:
                marks += [(match.start(), match.end() + 1, on), (end, end + 1, off)]
    pieces, at = [], 0
    for start, end, mark in sorted(marks):
        pieces += [source.cut(at, start), source.standing(mark, start, end)]
        at = end
    return Traced.join([*pieces, source.cut(at, len(source))]) if pieces else source


# ---------------------------------------------------------------------------------------------- text mode

_LISTS = {
    "enumerate",
    "questions",
    "parts",
    "subparts",
    "subsubparts",
    "enumerate*",
    "inparaenum",
    "compactenum",
}
_BULLETS = {"itemize", "description", "compactitem", "itemize*"}
_ITEMS = {"item", "question", "part", "subpart", "subsubpart"}
_HEADINGS = {
    "title": "#",
    "chapter": "#",
    "section": "#",
    "subsection": "##",
    "subsubsection": "###",
    "paragraph": "####",
}
_BREAKS = {
    "par",
    "newline",
    "newpage",
    "clearpage",
    "pagebreak",
    "linebreak",
    "bigskip",
    "medskip",
    "smallskip",
    "maketitle",
}
_DEFAULT_STYLES = ("arabic.", "(alph)", "roman.", "Alph.")
_EXAM_STYLES = {
    "questions": "arabic.",
    "parts": "(alph)",
    "subparts": "roman.",
    "subsubparts": "Alph.",
}
_SHORT_STYLES = {"a": "alph", "A": "Alph", "i": "roman", "I": "Roman", "1": "arabic"}
_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_MOST_BRACES = 1000
_FORMULA_WORDS = {
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "lambda", "mu", "nu", "rho", "sigma",
    "Sigma", "tau", "phi", "psi", "omega", "eta", "theta", "kappa", "zeta", "xi", "pi", "gg", "ll", "ge",
    "geq", "le", "leq", "neq", "ne", "approx", "sim", "simeq", "propto", "to", "rightarrow", "Rightarrow",
    "infty", "cdot", "times", "top", "intercal", "mathsf", "mathbf", "boldsymbol", "bm", "vec", "hat",
    "bar", "mathbb", "mathcal", "mathrm", "frac", "dfrac", "tfrac", "sqrt", "sum", "prod", "exp", "ln",
    "log", "lim", "max", "min", "in", "notin", "forall", "exists", "langle", "rangle", "lVert", "rVert",
    "Vert", "boxed", "left", "right", "quad", "qquad", "dots", "ldots", "cdots", "implies", "iff",
}  # fmt: skip

_TEXT = re.compile(
    r"\\begin\s*\{(?P<begin>[A-Za-z]+\*?)\}(?P<options>\s*\[(?:[^\[\]]|\[[^\]]*\])*\])?(?:\{\d\})?"
    r"|\\end\s*\{(?P<end>[A-Za-z]+\*?)\}"
    r"|\\(?P<heading>title|chapter|section|subsection|subsubsection|paragraph)\*?\s*(?:\[[^\]]*\])?\{"
    r"|\\(?:item|question|part|subpart|subsubpart)(?![A-Za-z])(?P<item>\s*\[[^\]\n]{0,30}\])?"
    r"|\\setcounter\{enum(?P<counter>i{1,3}v?)\}\{(?P<count>\d{1,3})\}"
    r"|\\(?:vspace|hspace|label|ref|eqref|cite|citep|citet|pagestyle|thispagestyle|includegraphics|setlength|usepackage|"
    r"documentclass|input|include|author|date|color|textcolor|colorbox|fontsize|url|addtocounter|renewcommand|vskip|hskip|"
    r"graphicspath|bibliographystyle|bibliography|setstretch|linespread|geometry|hypersetup)\*?(?:\s*\[[^\]]*\])?(?:\{[^{}]*\})?"
    r"|\\href\{[^{}]*\}|\\(?P<command>[A-Za-z@]+)\*?|\\(?P<symbol>.)|(?P<brace>[{}])|(?P<tie>~)",
    re.DOTALL,
)


@dataclass
class TextMode:
    """Rewrites the text between formulas; keeps the open lists from one stretch to the next."""

    # Environment, style, items so far
    lists: list[tuple[str, str, int]] = field(default_factory=list)
    # Of the open braces: part of a formula outside of $..$ ?
    braces: list[bool] = field(default_factory=list)

    def plain(self, gap: Traced) -> Traced:
        return gap.replace(_TEXT, self._write)

    def _write(self, match: re.Match[str]) -> str:
        if match["begin"]:
            return self._begin(match["begin"], match["options"] or "")
        if match["end"]:
            return self._end(match["end"])
        if match["heading"]:
            return f"\n\n{_HEADINGS[match['heading']]} "
        if match["counter"]:
            return self._count(len(match["counter"].replace("v", "")), int(match["count"]))
        word = match.group()
        if re.match(r"\\(?:item|question|part|subpart|subsubpart)(?![A-Za-z])", word):
            return self._item((match["item"] or "").strip()[1:-1])
        if match["command"]:
            kept = match["command"] in _FORMULA_WORDS
            return word if kept else "\n\n" if match["command"] in _BREAKS else ""
        if match["brace"]:
            return self._brace(match)
        if match["symbol"]:
            return {"\\": "\n", " ": " ", "\n": "\n"}.get(match["symbol"], match["symbol"])
        return " " if match["tie"] else ""

    def _brace(self, match: re.Match[str]) -> str:
        """Braces that group text go; those of a forgotten-dollar formula (k_{a}, \\frac{1}{2})
        stay."""
        if match.group() == "}":
            return "}" if self.braces and self.braces.pop() else ""
        before = re.search(r"(?:[_^]|\\([A-Za-z]+)|(\}))\s*$", match.string[: match.start()][-30:])
        in_formula = bool(before) and (before[1] is None or before[1] in _FORMULA_WORDS)
        self.braces.append(in_formula and len(self.braces) < _MOST_BRACES)
        return "{" if self.braces[-1] else ""

    def _begin(self, name: str, options: str) -> str:
        if name in _LISTS:
            depth = sum(1 for open_, _, _ in self.lists if open_ in _LISTS)
            style = _EXAM_STYLES.get(name) or _style(options) or _DEFAULT_STYLES[min(depth, 3)]
            start = re.search(r"start\s*=\s*(\d{1,3})", options)
            self.lists.append((name, style, int(start[1]) - 1 if start else 0))
        elif name in _BULLETS:
            self.lists.append((name, "", 0))
        return f"\n{ANSWER_ON}" if name.rstrip("*").lower() in ANSWER_NAMES else "\n"

    def _end(self, name: str) -> str:
        if name in _LISTS | _BULLETS and self.lists:
            self.lists.pop()
        return f"{ANSWER_OFF}\n\n" if name.rstrip("*").lower() in ANSWER_NAMES else "\n\n"

    def _count(self, depth: int, count: int) -> str:
        if 0 < depth <= len(self.lists):
            name, style, _ = self.lists[depth - 1]
            self.lists[depth - 1] = (name, style, count)
        return ""

    def _item(self, given: str) -> str:
        if given and not given.isdigit():
            return f"\n\n{given} "
        if not self.lists:
            return "\n\n- "
        name, style, count = self.lists[-1]
        self.lists[-1] = (name, style, count + 1)
        return f"\n\n{_numbered(style, count + 1)} " if style else "\n\n- "


def _style(options: str) -> str:
    """The label pattern of an enumerate's options, as in "(alph)"; empty where there is none."""
    written = re.search(r"([(\[]?)\\(alph|Alph|roman|Roman|arabic)\*?\}?\s*([).\]:]?)", options)
    if written:
        return "".join(written.groups())
    short = re.search(r"^\s*\[\s*\{?([(\[]?)(a|A|i|I|1)([).\]:]?)\}?\s*(?:\]|,)", options)
    return f"{short[1]}{_SHORT_STYLES[short[2]]}{short[3]}" if short else ""


def _numbered(style: str, count: int) -> str:
    match = re.search(r"alph|Alph|roman|Roman|arabic", style)
    if match is None:
        return f"{count}."
    kind = match.group().lower()
    token = str(count)
    if kind == "alph" and count <= 26:
        token = "abcdefghijklmnopqrstuvwxyz"[count - 1]
    if kind == "roman" and count <= len(_ROMANS):
        token = _ROMANS[count - 1]
    if match.group()[0].isupper():
        token = token.upper()
    label = style.replace(match.group(), token)
    return label if re.search(r"[).:\]]", label) else f"{label}."
