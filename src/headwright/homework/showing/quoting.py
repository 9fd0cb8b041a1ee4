"""The student's own words as people read them: markup gone, cut where a word ends, and told apart
from formulas, so that a page typesets the one and prints the other."""

from __future__ import annotations

import re

_ENVIRONMENTS = "align|aligned|equation|gather|multline|eqnarray|displaymath|math|split"
_MATHEMATICS = re.compile(
    rf"(\$\$[^$]+\$\$|\$[^$]+\$|\\\([^$]*?\\\)|\\\[[^$]*?\\\]"
    rf"|\\begin\{{(?:{_ENVIRONMENTS})\*?\}}[^$]*?\\end\{{(?:{_ENVIRONMENTS})\*?\}})"
)
_DELIMITERS = re.compile(
    rf"^(?:\$\$?|\\[(\[]|\\begin\{{(?:{_ENVIRONMENTS})\*?\}})"
    rf"|(?:\$\$?|\\[)\]]|\\end\{{(?:{_ENVIRONMENTS})\*?\}})$"
)
_MARKUP = re.compile(
    r"\\(?:begin|end)\{[^{}]*\}(?:\[[^\[\]]*\])?"  # environments
    r"|\\(?:label|ref|eqref|cite|includegraphics|vspace|hspace)\*?(?:\[[^\[\]]*\])?\{[^{}]*\}"
    r"|\\[A-Za-z]+\*?(?:\[[^\[\]]*\])?"  # other commands; what they hold stays
    r"|\\\\|[{}~]|\*\*|__|`+|(?:^|(?<=\s))#{1,6}(?=\s)|<[^<>]{1,80}>"
)
_ESCAPED = re.compile(r"\\([%&#_])")
_ALIGNMENT = re.compile(r"(?<!\\)&|\\(?:tag|label)\*?\{[^{}]*\}|\\(?:nonumber|notag)(?![A-Za-z])")
# Names that stand in formulas without a backslash
_NAMES = {
    "alpha", "beta", "gamma", "delta", "epsilon", "lambda", "sigma", "theta", "kappa", "softmax",
    "exp", "log", "max", "min", "sqrt", "diag", "sum", "dot", "inf", "argmax", "sin", "cos", "lim",
    "norm", "perm", "span", "frac", "top", "cdot", "approx", "infty", "mathbf", "phi", "Phi", "mu",
}  # fmt: skip
_WORD_RUN = re.compile(
    r"(?<![\w\\{}_^])[^\W\d_]{2,}(?![\w(^_{=])[,.;:!?]?"
    r"(?:\s+(?:[^\W\d_]{2,}|[aAIy\u3040-\u9fff\uac00-\ud7af])(?![\w(^_{=])[,.;:!?]?)*"
)
_LETTERS = re.compile(r"[^\W\d_]{3,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MATHEMATICAL = re.compile(r"[\\_^=<>≈≫≪≥≤∈→+α-ωₐ-ₜ₀-₉]|^\s*[A-Za-z]\s*$")
_TEXT_COMMAND = re.compile(r"\\(?:text|textrm|mathrm|mbox|operatorname)\*?\s*\{[^{}]*\}")


def without_markup(text: str) -> str:
    """Prose as its PDF or page would show it; formulas keep their source, between dollar signs."""
    parts = _MATHEMATICS.split(text)
    plain = [_formula(part) if k % 2 else _words(part) for k, part in enumerate(parts)]
    words = " ".join("".join(plain).split())
    closed = re.sub(r"\s+([,.;:!?)])", r"\1", words)
    return closed.lstrip(".,;:!?)]|-–• ").strip()


def _words(source: str) -> str:
    unescaped = _ESCAPED.sub(r"\1", source.replace("``", "“").replace("''", "”"))
    return _MARKUP.sub(" ", unescaped)


def _formula(source: str) -> str:
    inner = _DELIMITERS.sub("", aligned_as_one(source)).strip()
    return f"${inner}$" if inner else ""


def aligned_as_one(source: str) -> str:
    """A formula without the marks that place it on the page."""
    return " ".join(_ALIGNMENT.sub("", source).split())


def shortened(text: str, most: int) -> str:
    """At most so many characters; cut between words and outside formulas, with a sign that it was
    cut."""
    if len(text) <= most:
        return text
    cut = text[: most - 2]
    if cut.count("$") % 2:
        cut = cut[: cut.rindex("$")]
    elif " " in cut[most // 2 :]:
        cut = cut[: cut.rindex(" ")]
    return f"{cut.rstrip()} …"


def formulas_and_words(text: str) -> list[tuple[bool, str]]:
    """The text in pieces, each with whether it is a formula. Without dollar signs everything is a
    formula but the words in it."""
    if "$" not in text:
        return _untangled(text)
    parts = text.split("$")
    if len(parts) % 2 == 0:
        return [(False, text)]
    return [(k % 2 == 1, part) for k, part in enumerate(parts) if part]


def _untangled(text: str) -> list[tuple[bool, str]]:
    hidden = _TEXT_COMMAND.sub(lambda match: "_" * len(match[0]), text)
    pieces: list[tuple[bool, str]] = []
    at = 0
    for run in _WORD_RUN.finditer(hidden):
        if _says_something(run[0]):
            pieces.append((True, text[at : run.start()]))
            pieces.append((False, text[run.start() : run.end()]))
            at = run.end()
    pieces.append((True, text[at:]))
    if len(pieces) == 1:
        return pieces
    told = [(formula and _is_mathematics(piece), piece) for formula, piece in pieces if piece]
    return _joined(told)


def _is_mathematics(piece: str) -> bool:
    """Between words: a lone letter, or something with a sign of mathematics in it."""
    return _MATHEMATICAL.search(piece) is not None


def _joined(pieces: list[tuple[bool, str]]) -> list[tuple[bool, str]]:
    """Neighbours of one kind as one piece."""
    joined: list[tuple[bool, str]] = []
    for formula, piece in pieces:
        if joined and joined[-1][0] == formula:
            joined[-1] = (formula, joined[-1][1] + piece)
        else:
            joined.append((formula, piece))
    return joined


def _says_something(run: str) -> bool:
    return any(word not in _NAMES for word in _LETTERS.findall(run))
