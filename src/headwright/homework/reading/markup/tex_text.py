r"""LaTeX's text between formulas, brought to plain lines: lists, headings, text commands.

Only what lies outside of formulas comes here, stretch by stretch, because the same characters mean
something else inside them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from headwright.homework.reading.markup.switches import ANSWER_OFF, ANSWER_ON, wraps_answer
from headwright.homework.reading.markup.tex_lists import OpenLists
from headwright.homework.reading.traced_text import TracedText

_HEADINGS = {
    "title": "#",
    "chapter": "#",
    "section": "#",
    "subsection": "##",
    "subsubsection": "###",
    "paragraph": "####",
    "subparagraph": "####",
}
_BREAKS = {
    *("par", "newline", "linebreak"),
    *("newpage", "clearpage", "pagebreak", "maketitle"),
    *("bigskip", "medskip", "smallskip"),
}
# Commands that mean a formula whose dollars were forgotten: kept, and their braces with them
_FORMULA_COMMANDS = {
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "lambda", "mu", "nu", "rho",
    "sigma", "Sigma", "tau", "phi", "psi", "omega", "eta", "theta", "kappa", "zeta", "xi", "pi",
    "gg", "ll", "ge", "geq", "le", "leq", "neq", "ne", "approx", "sim", "simeq", "propto", "to",
    "rightarrow", "Rightarrow", "infty", "cdot", "times", "top", "intercal", "mathsf", "mathbf",
    "boldsymbol", "bm", "vec", "hat", "bar", "mathbb", "mathcal", "mathrm", "frac", "dfrac",
    "tfrac", "sqrt", "sum", "prod", "exp", "ln", "log", "lim", "max", "min", "in", "notin",
    "forall", "exists", "langle", "rangle", "lVert", "rVert", "Vert", "boxed", "left", "right",
    "quad", "qquad", "dots", "ldots", "cdots", "implies", "iff",
}  # fmt: skip
_MOST_BRACES = 1000
_IMAGE = "\n\n[image]\n\n"  # an answer by hand may be a photograph: then it is there, and unread

_ITEM = r"\\(?:item|question|part|subpart|subsubpart)(?![A-Za-z])"
# Commands that go with their options and their argument
_INVISIBLE = (
    "vspace|hspace|label|ref|eqref|cite|citep|citet|pagestyle|thispagestyle"
    "|setlength|usepackage|documentclass|input|include|author|date|color|textcolor|colorbox"
    "|fontsize|url|addtocounter|renewcommand|vskip|hskip|graphicspath|bibliographystyle"
    "|bibliography|setstretch|linespread|geometry|hypersetup"
)
_MARKUP = re.compile(
    r"\\begin\s*\{(?P<begin>[A-Za-z]+\*?)\}"
    r"(?P<options>\s*\[(?:[^\[\]]|\[[^\]]*\])*\])?(?:\{\d\})?"
    r"|\\end\s*\{(?P<end>[A-Za-z]+\*?)\}"
    rf"|\\(?P<heading>{'|'.join(_HEADINGS)})\*?\s*(?:\[[^\]]*\])?\{{"
    rf"|(?P<item>{_ITEM})(?P<item_label>\s*\[[^\]\n]{{0,30}}\])?"
    r"|\\setcounter\{enum(?P<counter>i{1,3}v?)\}\{(?P<count>\d{1,3})\}"
    r"|\\(?P<image>includegraphics|includepdf)\*?(?:\s*\[[^\]]*\])?(?:\{[^{}]*\})?"
    rf"|\\(?:{_INVISIBLE})\*?(?:\s*\[[^\]]*\])?(?:\{{[^{{}}]*\}})?"
    r"|\\href\{[^{}]*\}"
    r"|\\(?P<command>[A-Za-z@]+)\*?|\\(?P<symbol>.)|(?P<brace>[{}])|(?P<tie>~)",
    re.DOTALL,
)
_LINE_END = re.compile(r"[ \t]*\n")
# A brace behind one of these belongs to a formula: k_{a}, \frac{1}{2}
_BEFORE_BRACE = re.compile(r"(?:[_^]|\\([A-Za-z]+)|(\}))\s*$")


@dataclass
class TexText:
    """Rewrites the text between formulas; keeps the open lists from one stretch to the next."""

    lists: OpenLists = field(default_factory=OpenLists)
    # For each open brace what its partner becomes: a brace in a formula outside of $..$, the end
    # of the line behind a title, otherwise nothing
    braces: list[str] = field(default_factory=list)

    def plain(self, stretch: TracedText) -> TracedText:
        return stretch.replace(_MARKUP, self._written)

    def _written(self, match: re.Match[str]) -> str:
        if match["begin"]:
            return self._begin(match["begin"], match["options"] or "")
        if match["end"]:
            return self._end(match["end"])
        if match["heading"]:
            self.braces.append("\n")
            return f"\n\n{_HEADINGS[match['heading']]} "
        if match["counter"]:
            return self._set_counter(match["counter"], int(match["count"]))
        if match["item"]:
            in_brackets = (match["item_label"] or "").strip()
            return self.lists.item(in_brackets[1:-1])
        if match["image"]:
            return _IMAGE
        if match["command"]:
            return _command(match)
        if match["brace"]:
            return self._brace(match)
        if match["symbol"]:
            return "\n" if match["symbol"] == "\\" else match["symbol"]
        return " " if match["tie"] else ""

    def _begin(self, environment: str, options: str) -> str:
        self.lists.begin(environment, options)
        return f"\n{ANSWER_ON}" if wraps_answer(environment) else "\n"

    def _end(self, environment: str) -> str:
        self.lists.end(environment)
        return f"{ANSWER_OFF}\n\n" if wraps_answer(environment) else "\n\n"

    def _set_counter(self, name: str, count: int) -> str:
        depth = name.count("i")
        self.lists.set_counter(depth, count)
        return ""

    def _brace(self, match: re.Match[str]) -> str:
        r"""Braces that group text go; those of a forgotten-dollar formula stay; a title ends its
        line, although \paragraph prints what follows beside it."""
        if match.group() == "}":
            partner = self.braces.pop() if self.braces else ""
            ended = _LINE_END.match(match.string, match.end()) is not None
            return "" if partner == "\n" and ended else partner

        start = match.start()
        just_before = match.string[max(0, start - 30) : start]
        before = _BEFORE_BRACE.search(just_before)
        in_formula = bool(before) and (before[1] is None or before[1] in _FORMULA_COMMANDS)
        is_kept = in_formula and len(self.braces) < _MOST_BRACES
        self.braces.append("}" if is_kept else "")
        return "{" if is_kept else ""


def _command(match: re.Match[str]) -> str:
    name = match["command"]
    if name in _FORMULA_COMMANDS:
        return match.group()
    return "\n\n" if name in _BREAKS else ""
