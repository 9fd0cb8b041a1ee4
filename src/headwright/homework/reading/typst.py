"""Typst, as far as written answers need it: headings, strikes, `$ display $`, and formulas
rewritten as LaTeX.

Typst formulas are words and calls (`frac(1, 2)`, `mu_a`, `k_j^top q >> 0`); one table and one scan
over the brackets turn them into the commands that the formula reader knows, character by traced
character.
"""

from __future__ import annotations

import re

from headwright.homework.reading.macros import STRUCK_OFF, STRUCK_ON
from headwright.homework.reading.traced import Traced

_COMMENT = re.compile(r"(?<!:)//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEADING = re.compile(r"^(={1,6})(?=[ \t])", re.MULTILINE)
_SETTING = re.compile(r"^#(?:set|show|import|include|let)\b[^\n]*", re.MULTILINE)
_STRIKE = re.compile(r"#strike\[([^\[\]]*)\]")
_CALL = re.compile(
    r"#(?:[a-z][\w.]*)(?:\((?:[^()\n]|\([^()\n]*\))*\))?(?=\[)|#(?:pagebreak|linebreak|v|h)\([^()\n]*\)"
)
_FORMULA = re.compile(r"(?<!\\)\$((?:\\.|[^$\\]){1,20000}?)\$", re.DOTALL)

# A function of the left becomes a command with braces.
_FUNCTIONS = {
    "frac": r"\frac", "sqrt": r"\sqrt", "bold": r"\mathbf", "upright": r"\mathrm", "italic": "", "cal": r"\mathcal",
    "bb": r"\mathbb", "hat": r"\hat", "tilde": r"\tilde", "arrow": r"\vec", "overline": r"\overline",
    "underline": r"\underline", "cancel": r"\cancel", "op": r"\operatorname", "norm": r"\Vert",
    "abs": "|", "lr": "", "display": "", "text": r"\text", "binom": r"\binom",
}  # fmt: skip
_FENCED = {r"\Vert": (r"\Vert ", r" \Vert"), "|": ("|", "|"), "": ("", "")}
_WORDS = {
    "infinity": r"\infty", "oo": r"\infty", "dot": r"\cdot", "dot.c": r"\cdot", "times": r"\times", "in": r"\in",
    "in.not": r"\notin", "angle.l": r"\langle", "angle.r": r"\rangle", "dots": r"\dots", "dots.c": r"\dots",
    "dots.h": r"\dots", "tilde.op": r"\sim", "eq.not": r"\ne", "gt.double": r"\gg", "lt.double": r"\ll",
    "arrow.r": r"\to", "approx": r"\approx", "eps": r"\epsilon", "T": "T", "RR": r"\mathbb{R}", "NN": r"\mathbb{N}",
    "forall": r"\forall", "therefore": r"\therefore", "tack.t": r"\top",
}  # fmt: skip
_KNOWN = {
    "alpha", "beta", "gamma", "delta", "epsilon", "lambda", "mu", "nu", "rho", "sigma", "Sigma", "tau", "phi",
    "psi", "omega", "eta", "theta", "kappa", "zeta", "xi", "pi", "Pi", "Phi", "Omega", "sum", "exp", "ln",
    "log", "lim", "max", "min", "sup", "inf", "quad", "top", "sim", "perp", "partial",
}  # fmt: skip
_SIGNS = {
    ">>": r"\gg ", "<<": r"\ll ", "->": r"\to ", "!=": r"\ne ", ">=": r"\ge ", "<=": r"\le ", "=>": r"\Rightarrow ",
    "<=>": r"\iff ", "~": r"\sim ", "...": r"\dots ",
}  # fmt: skip
_TOKEN = re.compile(
    r'(?P<quoted>"[^"\n]*")|(?P<call>[A-Za-z][A-Za-z.]*)\((?=.)|(?P<script>[_^]\()'
    r"|(?P<word>[A-Za-z][A-Za-z0-9]*(?:\.[a-z]+)*)|(?P<sign><=>|>>|<<|->|!=|>=|<=|=>|\.\.\.|~)"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)",
    re.DOTALL,
)


def translated(source: Traced) -> Traced:
    """Typst rewritten as the Markdown and LaTeX that the common scanner reads."""
    source = source.replace(_COMMENT, lambda match: "")
    source = source.replace(_SETTING, lambda match: "")
    source = source.replace(_HEADING, lambda match: "#" * len(match[1]))
    source = source.replace(_STRIKE, lambda match: f"{STRUCK_ON}{match[1]}{STRUCK_OFF}")
    source = source.replace(_CALL, lambda match: "")
    pieces, at = [], 0
    for match in _FORMULA.finditer(source.text):
        inside = source.cut(*match.span(1))
        display = inside.text[:1].isspace() and inside.text[-1:].isspace()
        dollars = "$$" if display else "$"
        pieces += [
            source.cut(at, match.start()),
            source.standing(dollars, match.start(), match.start() + 1),
        ]
        pieces += [_formula(inside), source.standing(dollars, match.end() - 1, match.end())]
        at = match.end()
    return Traced.join([*pieces, source.cut(at, len(source))]) if pieces else source


def _formula(source: Traced) -> Traced:
    pieces, at = [], 0
    # What closes each open bracket; does a comma part its arguments?
    ends: list[tuple[str, bool]] = []
    for match in _TOKEN.finditer(source.text):
        new = _token(match, ends)
        if new is None:
            continue
        pieces += [source.cut(at, match.start()), source.standing(new, match.start(), match.end())]
        at = match.end()
    pieces.append(source.cut(at, len(source)))
    return Traced.join(pieces)


def _token(match: re.Match[str], ends: list[tuple[str, bool]]) -> str | None:
    if match["quoted"]:
        return rf"\text{{ {match['quoted'][1:-1]} }}"
    if match["script"]:
        ends.append(("}", False))
        return match["script"][0] + "{"
    if match["call"]:
        return _call(match["call"], ends)
    if match["word"]:
        return _word(match["word"])
    if match["sign"]:
        return _SIGNS[match["sign"]]
    if match["open"]:
        ends.append((")" if match["open"] == "(" else match["open"].translate(_MIRROR), False))
        return None
    if match["close"]:
        return ends.pop()[0] if ends else None
    return "}{" if ends and ends[-1][1] else None


_MIRROR = str.maketrans("[{", "]}")


def _call(name: str, ends: list[tuple[str, bool]]) -> str:
    command = _FUNCTIONS.get(name)
    if command is None:
        ends.append((")", False))
        return f"{_word(name)}("
    opening, closing = _FENCED.get(command, (command + "{", "}"))
    ends.append((closing, name in ("frac", "binom")))
    return opening


def _word(word: str) -> str:
    if word in _WORDS:
        return _WORDS[word] + " "
    if word in _KNOWN:
        return f"\\{word} "
    return word if len(word) <= 2 else rf"\text{{{word}}}"
