"""Formulas of Typst as LaTeX.

Typst formulas are words and calls (`frac(1, 2)`, `mu_a`, `k_j^top q >> 0`); one table and one scan
over the brackets turn them into the commands that the formula reader knows, character by traced
character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from headwright.homework.reading.traced_text import TracedText

# A function of the left becomes a command with braces, or what stands around its argument.
_FUNCTIONS = {
    "frac": r"\frac", "sqrt": r"\sqrt", "binom": r"\binom", "op": r"\operatorname",
    "bold": r"\mathbf", "upright": r"\mathrm", "cal": r"\mathcal", "bb": r"\mathbb",
    "hat": r"\hat", "tilde": r"\tilde", "arrow": r"\vec",
    "overline": r"\overline", "underline": r"\underline", "cancel": r"\cancel",
    "text": r"\text",
}  # fmt: skip
_FENCES = {
    "norm": (r"\Vert ", r" \Vert"),
    "abs": ("|", "|"),
    "lr": ("", ""),
    "display": ("", ""),
    "italic": ("", ""),
}
_SEVERAL_ARGUMENTS = ("frac", "binom")

_WORDS = {
    "infinity": r"\infty", "oo": r"\infty", "eps": r"\epsilon", "T": "T",
    "RR": r"\mathbb{R}", "NN": r"\mathbb{N}",
    "dot": r"\cdot", "dot.c": r"\cdot", "times": r"\times", "tack.t": r"\top",
    "in": r"\in", "in.not": r"\notin", "forall": r"\forall", "therefore": r"\therefore",
    "angle.l": r"\langle", "angle.r": r"\rangle",
    "dots": r"\dots", "dots.c": r"\dots", "dots.h": r"\dots",
    "tilde.op": r"\sim", "approx": r"\approx", "eq.not": r"\ne",
    "gt.double": r"\gg", "lt.double": r"\ll", "arrow.r": r"\to",
}  # fmt: skip
_SAME_IN_LATEX = {
    "alpha", "beta", "gamma", "delta", "epsilon", "lambda", "mu", "nu", "rho", "sigma", "Sigma",
    "tau", "phi", "psi", "omega", "eta", "theta", "kappa", "zeta", "xi", "pi", "Pi", "Phi",
    "Omega", "sum", "exp", "ln", "log", "lim", "max", "min", "sup", "inf", "quad", "top", "sim",
    "perp", "partial",
}  # fmt: skip
_SIGNS = {
    ">>": r"\gg ", "<<": r"\ll ", ">=": r"\ge ", "<=": r"\le ", "!=": r"\ne ", "~": r"\sim ",
    "->": r"\to ", "=>": r"\Rightarrow ", "<=>": r"\iff ", "...": r"\dots ",
}  # fmt: skip
_PARTNERS = {"(": ")", "[": "]", "{": "}"}

_TOKEN = re.compile(
    r'(?P<quoted>"[^"\n]*")|(?P<call>[A-Za-z][A-Za-z.]*)\((?=.)|(?P<script>[_^]\()'
    r"|(?P<word>[A-Za-z][A-Za-z0-9]*(?:\.[a-z]+)*)|(?P<sign><=>|>>|<<|->|!=|>=|<=|=>|\.\.\.|~)"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Bracket:
    """An open bracket: what closes it in LaTeX, and whether commas part its arguments."""

    closing: str
    parts_arguments: bool = False


def latex_from_typst(source: TracedText) -> TracedText:
    brackets: list[_Bracket] = []
    return source.replace(_TOKEN, lambda match: _token(match, brackets))


def _token(match: re.Match[str], brackets: list[_Bracket]) -> str | None:
    if match["quoted"]:
        return rf"\text{{ {match['quoted'][1:-1]} }}"
    if match["script"]:
        brackets.append(_Bracket("}"))
        return match["script"][0] + "{"
    if match["call"]:
        return _call(match["call"], brackets)
    if match["word"]:
        return _word(match["word"])
    if match["sign"]:
        return _SIGNS[match["sign"]]
    if match["open"]:
        brackets.append(_Bracket(_PARTNERS[match["open"]]))
        return None
    if match["close"]:
        return brackets.pop().closing if brackets else None
    return "}{" if brackets and brackets[-1].parts_arguments else None


def _call(name: str, brackets: list[_Bracket]) -> str:
    if name in _FENCES:
        opening, closing = _FENCES[name]
        brackets.append(_Bracket(closing))
        return opening
    if name in _FUNCTIONS:
        brackets.append(_Bracket("}", parts_arguments=name in _SEVERAL_ARGUMENTS))
        return _FUNCTIONS[name] + "{"
    brackets.append(_Bracket(")"))
    return f"{_word(name)}("


def _word(word: str) -> str:
    if word in _WORDS:
        return _WORDS[word] + " "
    if word in _SAME_IN_LATEX:
        return f"\\{word} "
    return word if len(word) <= 2 else rf"\text{{{word}}}"
