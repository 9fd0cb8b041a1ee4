"""How one student writes: letters, transposes, and formulas in LaTeX, Unicode, ASCII, Typst or
squeezed by a PDF.

Answers are written once, in LaTeX with the letters of a `Notation`; the other spellings are made
from that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SUBSCRIPTS = dict(zip("aehijklmnoprstuvx0123456789", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₀₁₂₃₄₅₆₇₈₉", strict=True))
GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "tau": "τ",
    "Sigma": "Σ",
    "varepsilon": "ε",
    "kappa": "κ",
}
_UNICODE = {
    r"\gg": "≫",
    r"\ll": "≪",
    r"\approx": "≈",
    r"\sim": "∼",
    r"\to": "→",
    r"\ne": "≠",
    r"\ge": "≥",
    r"\le": "≤",
    r"\infty": "∞",
    r"\forall": "∀",
    r"\cdot": "·",
    r"\in": "∈",
    r"\sum": "Σ",
    r"\exp": "exp",
    r"\Rightarrow": "⇒",
    r"\quad": "  ",
    r"\langle": "⟨",
    r"\rangle": "⟩",
    r"\max": "max",
    r"\ln": "ln",
    r"\lim": "lim",
    r"\dots": "...",
    r"\notin": "∉",
}
_ASCII = {
    r"\gg": ">>",
    r"\ll": "<<",
    r"\approx": "~=",
    r"\sim": "~",
    r"\to": "->",
    r"\ne": "!=",
    r"\ge": ">=",
    r"\le": "<=",
    r"\infty": "infinity",
    r"\forall": "for all",
    r"\cdot": "*",
    r"\in": "in",
    r"\sum": "sum",
    r"\exp": "exp",
    r"\Rightarrow": "=>",
    r"\quad": "  ",
    r"\langle": "<",
    r"\rangle": ">",
    r"\max": "max",
    r"\ln": "ln",
    r"\lim": "lim",
    r"\dots": "...",
    r"\notin": "not in",
}


@dataclass(frozen=True)
class Notation:
    scale: str = r"\beta"
    key: str = "k"
    mean: str = r"\mu"
    value: str = "v"
    output: str = "c"
    transpose: str = "^T"
    order: str = "key first"  # or "query first", "dot", "bracket"
    bold: str = ""  # a command around vectors
    spelling: str = "latex"  # "unicode", "ascii", "squeezed", "typst"

    def _vector(self, letter: str, index: str) -> str:
        return f"{self.bold}{{{letter}}}_{index}" if self.bold else f"{letter}_{index}"

    def k(self, index: str) -> str:
        return self._vector(self.key, index)

    def m(self, index: str) -> str:
        return self._vector(self.mean, index)

    def v(self, index: str) -> str:
        return self._vector(self.value, index)

    @property
    def q(self) -> str:
        return f"{self.bold}{{q}}" if self.bold else "q"

    @property
    def c(self) -> str:
        return self.output

    def t(self, thing: str) -> str:
        return f"{thing}{self.transpose}"

    def score(self, index: str, query: str = "") -> str:
        """The inner product of a key and the query, in this student's way."""
        query = query or self.q
        k = self.k(index)
        return {
            "key first": f"{k}{self.transpose} {query}",
            "query first": f"{query}{self.transpose} {k}",
            "dot": rf"{k} \cdot {query}",
            "bracket": rf"\langle {k}, {query} \rangle",
        }[self.order]

    def written(self, latex: str) -> str:
        """The formula as this student types it, without delimiters."""
        return _SPELLINGS[self.spelling](latex)


def _fractions(latex: str, half: str) -> str:
    before = None
    latex = latex.replace(r"\frac{1}{2}", half)
    while before != latex:
        before = latex
        latex = re.sub(
            r"\\frac\{([^{}]*)\}\{([^{}]*)\}", lambda m: f"{_grouped(m[1])}/{_grouped(m[2])}", latex
        )
    return latex


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def _plain(latex: str, table: dict[str, str], half: str) -> str:
    latex = re.sub(r"\\(?:mathbf|boldsymbol|vec|bm)\{(\\?\w+)\}", r"\1", latex)
    latex = re.sub(r"\\text\{([^{}]*)\}", r"\1", latex)
    latex = (
        latex.replace(r"\mathcal{N}", "N")
        .replace(r"\left", "")
        .replace(r"\right", "")
        .replace("&", "")
    )
    latex = _fractions(latex, half)
    for word, sign in sorted(table.items(), key=lambda pair: -len(pair[0])):
        glue = r"\s?" if sign in GREEK.values() or sign == "Σ" else ""
        latex = re.sub(re.escape(word) + r"(?![A-Za-z])" + glue, sign, latex)
    return latex.replace("{", "").replace("}", "") if half != "1/2" else latex


def _unicode(latex: str) -> str:
    latex = re.sub(r"\^(?:\{?\\top\}?|\{?\\mathsf\{T\}\}?|T(?!\w))", "ᵀ", latex)
    text = _plain(latex, {**_UNICODE, **{f"\\{n}": s for n, s in GREEK.items()}}, "½")
    return re.sub(
        r"_([A-Za-z0-9])(?![A-Za-z0-9=])", lambda m: SUBSCRIPTS.get(m[1], f"_{m[1]}"), text
    )


def _ascii(latex: str) -> str:
    latex = re.sub(r"\^(?:\{?\\top\}?|\{?\\mathsf\{T\}\}?)", "^T", latex)
    text = _plain(latex, {**_ASCII, **{f"\\{n}": n for n in GREEK}}, "1/2")
    text = re.sub(
        r"(?<![A-Za-z\\])(alpha|beta|gamma|delta|lambda|tau|kappa)\s(?=[A-Za-z(])", r"\1*", text
    )
    return re.sub(r"_\{(\w)\}", r"_\1", text).replace("  _", "_").replace(" _", "_")


def _squeezed(latex: str) -> str:
    """What copying from a PDF leaves: scripts fall onto the line."""
    latex = re.sub(r"\^(?:\{?\\top\}?|\{?\\mathsf\{T\}\}?)", "^T", latex)
    text = _plain(latex, {**_UNICODE, **{f"\\{n}": s for n, s in GREEK.items()}}, "1/2 ")
    text = re.sub(r"_([A-Za-z0-9])", r"\1", text.replace("{", "").replace("}", ""))
    return re.sub(r"\^T", "T", text)


def _typst(latex: str) -> str:
    latex = re.sub(r"\\(?:mathbf|boldsymbol|vec|bm)\{(\\?\w+)\}", r"bold(\1)", latex)
    latex = re.sub(r"\^(?:\{?\\top\}?|\{?\\mathsf\{T\}\}?)", "^top", latex)
    before = None
    while before != latex:
        before = latex
        latex = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"frac(\1, \2)", latex)
    latex = re.sub(r"\\text\{([^{}]*)\}", r'"\1"', latex).replace(r"\mathcal{N}", "cal(N)")
    words = {
        r"\gg": ">>",
        r"\ll": "<<",
        r"\to": "->",
        r"\ne": "!=",
        r"\ge": ">=",
        r"\le": "<=",
        r"\Rightarrow": "=>",
        r"\cdot": "dot",
        r"\infty": "infinity",
        r"\langle": "angle.l",
        r"\rangle": "angle.r",
        r"\notin": "in.not",
    }
    for word, sign in words.items():
        latex = re.sub(re.escape(word) + r"(?![A-Za-z])", sign, latex)
    latex = re.sub(r"([_^])\{([^{}]*)\}", r"\1(\2)", latex)
    return re.sub(r"(?<=[A-Za-z0-9])\\", " ", latex).replace("\\", "").replace("&", "")


_SPELLINGS = {
    "latex": lambda latex: latex,
    "unicode": _unicode,
    "ascii": _ascii,
    "squeezed": _squeezed,
    "typst": _typst,
}

LETTERS = (
    Notation(),
    Notation(scale="C", transpose=r"^\top"),
    Notation(scale="t", mean="u", transpose=r"^{\top}"),
    Notation(scale=r"\lambda", transpose=r"^{\mathsf{T}}", output="C"),
    Notation(scale="c", key="K", mean=r"\mu", output="C"),
    Notation(scale=r"\gamma", order="query first"),
    Notation(scale="s", order="dot", mean="m"),
    Notation(scale=r"\tau", order="bracket"),
    Notation(scale=r"\beta", bold=r"\mathbf", transpose=r"^\top"),
    Notation(scale="B", bold=r"\vec"),
    Notation(scale="a", transpose="'"),
    Notation(scale="M", mean=r"\mu", transpose="^{T}"),
    Notation(scale=r"\kappa", mean=r"\nu"),
    Notation(scale="N", bold=r"\boldsymbol"),
    Notation(scale="L", value="V", key="K"),
)
