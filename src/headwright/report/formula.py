"""LaTeX formulas as inline SVG (ziamath): typeset on any machine, no fonts or scripts to load.

Rejected: MathJax or KaTeX (megabytes, or requests that leave the page) and MathML alone (fonts
differ).
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from headwright.errors import InputError

# Each further level doubles the time that drawing takes: 0.1 s at 6, a minute at 16
MOST_NESTED = 6
_LEVELS = re.compile(r"\\[\\{}]|\\(left|right|begin|end)(?![A-Za-z])|[{}]")
# An environment is a table of groups
_STEP = {"{": 1, "}": -1, "left": 1, "right": -1, "begin": 2, "end": -2}


def nesting(latex: str) -> int:
    """How deep the groups of a formula nest: braces, \\left ... \\right, environments."""
    deepest = 0
    depth = 0
    for sign in _LEVELS.finditer(latex):
        depth += _STEP.get(sign[1] or sign[0], 0)
        deepest = max(deepest, depth)
    return deepest


@lru_cache(maxsize=1024)
def formula(latex: str, *, size: float = 17.0) -> str:
    """One formula as an inline SVG that follows the text's colour and baseline; `latex` is its
    label."""
    if nesting(latex) > MOST_NESTED:
        raise InputError(
            wanted=f"a formula whose groups nest at most {MOST_NESTED} deep",
            got=f"{nesting(latex)} levels",
            attempt="show it as text",
        )
    import ziamath

    # Glyphs as plain paths: symbols would carry ids, and ids repeat when a page holds several
    # formulas.
    ziamath.config.svg2 = False
    typeset = ziamath.Latex(latex, size=size, color="currentColor")
    drawing = _lean(typeset.svg())

    label = escape(latex, quote=True)
    attributes = f'class="formula" role="img" aria-label="{label}"'
    style = f"vertical-align:{-_drop(drawing):.2f}px"
    return drawing.replace("<svg ", f'<svg {attributes} style="{style}" ', 1)


def _drop(drawing: str) -> float:
    """How far a formula hangs below the baseline, which is y = 0: so far must it hang below the
    line of text."""
    view = re.search(r'viewBox="\S+ (\S+) \S+ (\S+)"', drawing)
    if view is None:
        return 0.0
    top = float(view[1])
    height = float(view[2])
    return top + height


def _lean(drawing: str) -> str:
    """The same picture in half the bytes: a hundredth of a pixel is more than can be seen, a line
    to where the pen stands draws nothing, and path letters and signs separate numbers as well as
    spaces do."""
    rounded = re.sub(r"(\d\.\d\d)\d+", r"\1", drawing)
    straight = re.sub(r"M (\S+ \S+) L \1 ", r"M \1 ", rounded)
    tight = re.sub(r'(?<= d=")[^"]+', _tight, straight)
    return tight.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")


def _tight(path: re.Match[str]) -> str:
    return re.sub(r" ?([A-Z]) ?| (?=-)", r"\1", path[0])


def typeset(text: str) -> str:
    """Plain text with `$...$` formulas -> HTML with the formulas typeset and everything else
    escaped."""
    parts = re.split(r"\$([^$]+)\$", text)
    return "".join(formula(part) if i % 2 else escape(part) for i, part in enumerate(parts))


# How a terminal spells LaTeX, innermost braces first. Order matters: exponents before fractions,
# words last.
_SPELLING = [
    (
        r"\\(?:text|mathrm|mathbf|mathcal|mathsf|boldsymbol|vec|boxed|operatorname)\*?\s*"
        r"(?:\{([^{}]*)\}|(?<=[a-z]) (\w))",
        r"\1\2",
    ),
    (r"\\[,;:! ]|\\\\", " "),
    (r"\\\|", "‖"),
    (r"\^\{(\w)\}", r"^\1"),
    (r"\^\{([^{}]*)\}", r"^(\1)"),
    (r"_\{([^{}\s]*)\}", r"_\1"),
    (r"_\{([^{}]*)\}", r"_(\1) "),
    (r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)"),
    (r"\\frac12 ?", "½ "),
    (r"\\frac34 ?", "¾ "),
    (r"\\frac14 ?", "¼ "),
    (r"\\sqrt\{([^{}]*)\}", r"√(\1)"),
    (r"\\sqrt", "√"),
    (r"\^\(ᵀ\)|\^ᵀ", "ᵀ"),
    (r"\\%", "%"),
    (r"/\((\w+)\)", r"/\1"),
    (r"\((\w+)\)/", r"\1/"),
    (r"½ (?=[).,$(])", "½"),
    (r"(?<!\\)[{}$]", ""),
    (r"\\([{}])", r"\1"),
]
_WORDS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "omega": "ω", "theta": "θ", "sigma": "σ", "rho": "ρ", "kappa": "κ", "phi": "φ",
    "big": "", "Big": "", "bigg": "", "Bigg": "", "mid": "|",
    "max": "max", "min": "min", "lim": "lim",
    "lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π", "tau": "τ", "Delta": "Δ", "Sigma": "Σ",
    "Phi": "Φ", "sum": "Σ", "in": "∈", "forall": "∀", "infty": "∞", "cdot": "·", "times": "×",
    "gg": "≫", "ll": "≪", "ge": "≥", "geq": "≥", "le": "≤", "leq": "≤", "ne": "≠", "neq": "≠",
    "approx": "≈", "sim": "~", "to": "→", "rightarrow": "→", "Rightarrow": "⇒", "therefore": "∴",
    "dots": "…", "quad": " ", "left": "", "right": "", "top": "ᵀ",
    "ln": "ln ", "exp": "exp", "sin": "sin", "cos": "cos",
}  # fmt: skip


def spelled(text: str) -> str:
    """Text with formulas for a terminal: Greek letters, roots and fractions in one line of Unicode.
    Commands that it does not know stay as they are, and so do groups nested too deep to read."""
    text = re.sub(r"\\([a-zA-Z]+)", lambda word: _WORDS.get(word[1], word[0]), text)
    for pattern, plain in _SPELLING:
        for _ in range(MOST_NESTED):
            text = re.sub(pattern, plain, text)
    return " ".join(text.split())
