"""One small alphabet for every spelling: what each command, word and character stands for.

Tables and not a ladder of cases: of two entries for one spelling the later in a table counts, so
that the order of a table is the order of precedence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from headwright.homework.meaning.formula import vocabulary


@dataclass(frozen=True)
class Token:
    """`kind`: number, name, function, layer, relation, consequence, separator, text, op, command,
    dots, infinity, begin, end, newline."""

    kind: str
    text: str


class FormulaError(ValueError):
    """This text cannot be read as a formula; `str(error)` says why in a few words."""


CONSEQUENCE = Token("consequence", "=>")
DOTS = Token("dots", "...")
INFINITY = Token("infinity", "inf")
TIMES = Token("op", "*")
OUTER = Token("op", "⊗")
SQRT = Token("command", "sqrt")
SUM = Token("command", "sum")
NORM_BAR = Token("op", "‖")

# What commands and characters share.
_SIGNS: dict[str, Token] = {
    **dict.fromkeys(vocabulary.INFINITY, INFINITY),
    **dict.fromkeys(vocabulary.DOTS, DOTS),
    **dict.fromkeys(vocabulary.TIMES, TIMES),
    **dict.fromkeys(vocabulary.OUTER, OUTER),
    **{sign: Token("relation", name) for sign, name in vocabulary.RELATION_COMMANDS.items()},
    **{sign: Token("separator", sign) for sign in vocabulary.SEPARATORS},
    **dict.fromkeys(vocabulary.CONSEQUENCES, CONSEQUENCE),
}

_LAYOUT_COMMANDS = ("sqrt", "sum", "langle", "rangle", "not", "prime", *vocabulary.ACCENTS)
# None: the command only dresses what follows, or is a space.
_COMMANDS: dict[str, Token | None] = {
    **dict.fromkeys(("dagger", "dag"), Token("name", "dagger")),
    "lbrack": Token("op", "["),
    "rbrack": Token("op", "]"),
    "lbrace": Token("op", "\\{"),
    "rbrace": Token("op", "\\}"),
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), Token("command", "frac")),
    **{name: Token("function", function) for name, function in vocabulary.FUNCTIONS.items()},
    **{name: Token("command", name) for name in _LAYOUT_COMMANDS},
    **dict.fromkeys(("pm", "mp"), Token("op", "±")),
    **_SIGNS,
    **dict.fromkeys(vocabulary.DRESSING | vocabulary.SPACES),
}

_CHARACTERS: dict[str, Token] = {
    **{c: Token("separator", c) for c in '.:?"#$@%\\'},
    "（": Token("op", "("),
    "）": Token("op", ")"),
    "√": SQRT,
    **dict.fromkeys("⊤⊺", Token("name", "top")),
    **dict.fromkeys("⟩〉", Token("command", "rangle")),
    **dict.fromkeys("⟨〈", Token("command", "langle")),
    "‖": NORM_BAR,
    **dict.fromkeys("′’`", Token("op", "'")),
    **dict.fromkeys("−–—", Token("op", "-")),
    **{c: Token("op", c) for c in "()[]{}+-/^_|,;&'!"},
    "~": Token("relation", "~"),
    **_SIGNS,
    **{c: Token("name", name) for c, name in vocabulary.GREEK_LETTERS.items()},
    "∑": SUM,
}

# Characters that TeX escapes: `\{`, `\|`; the others separate statements.
_ESCAPED = {"{": "\\{", "}": "\\}", "|": "‖", "_": "_", "*": "*"}

_GREEK_WORDS = {word: word for word in vocabulary.GREEK} | {
    "varepsilon": "epsilon",
    "eps": "epsilon",
}
# Longest first, so that `epsilonk` does not begin with `eps`.
_KNOWN_WORDS = sorted(
    {*_GREEK_WORDS, *vocabulary.FUNCTIONS, "sum", "infty", "infinity"}, key=len, reverse=True
)


def relation(name: str) -> Token:
    return CONSEQUENCE if name == "=>" else Token("relation", name)


def escaped(character: str) -> Token:
    if character in _ESCAPED:
        return Token("op", _ESCAPED[character])
    return Token("separator", character)


# Commands that stand for a name of their own.
_NAMED = {*vocabulary.GREEK, *vocabulary.VARIANTS, "top", "intercal", "perp", "dagger", "star"}


def stands_for_something(name: str) -> bool:
    """Is `\\name` a command that everybody has?"""
    known = name in _COMMANDS or name in _NAMED
    return known or name.lower() in vocabulary.LAYERS or not name.isalpha()


def command(name: str) -> Token | None:
    """What `\\name` stands for; None where it only dresses what follows. Unknown commands are
    names: a macro that nobody expanded is still a symbol."""
    name = vocabulary.VARIANTS.get(name, name)
    if name in _COMMANDS:
        return _COMMANDS[name]
    layer = vocabulary.LAYERS.get(name.lower())
    return Token("name", name) if layer is None else Token("layer", layer)


def character(c: str) -> Token | None:
    """What a single sign stands for; None for a letter of another script."""
    known = _CHARACTERS.get(c)
    if known is None and not c.isalpha():
        return Token("separator", c)
    return known


def word(piece: str) -> Token | None:
    """What a run of letters stands for, where it is a known word."""
    lower = piece.lower()
    if piece == "sqrt":
        return SQRT
    if piece in vocabulary.FUNCTIONS or lower in ("softmax", "exp"):
        return Token("function", vocabulary.FUNCTIONS.get(piece, lower))
    if lower == "relu":
        return Token("name", "relu")
    if lower in vocabulary.LAYERS and len(piece) > 2:
        return Token("layer", vocabulary.LAYERS[lower])
    if piece in _GREEK_WORDS:
        return Token("name", _GREEK_WORDS[piece])
    if piece in vocabulary.INFINITY:
        return INFINITY
    if piece == "sum" or lower in ("frac", "norm"):
        return Token("command", lower)
    return None


def letter(part: str) -> Token:
    """What a part of a run of letters stands for: `beta` and `k` in `betak`."""
    if part in vocabulary.FUNCTIONS:
        return Token("function", vocabulary.FUNCTIONS[part])
    if part == "sum":
        return SUM
    return INFINITY if part in vocabulary.INFINITY else Token("name", part)


def split(piece: str) -> list[str]:
    """`betak` -> beta, k. Only when a known word opens the run and a letter or two remain."""
    for known in _KNOWN_WORDS:
        if len(known) > 2 and piece.startswith(known) and len(piece) - len(known) <= 2:
            return [known, *piece[len(known) :]]
    return []


def text(content: str) -> Token | None:
    """What `\\text{content}` stands for: `\\mathrm{softmax}` is a function, most are words."""
    content = content.strip()
    squeezed = re.sub(r"[\s\-*]+", "", content)
    lower = squeezed.lower()
    if lower in vocabulary.LAYERS:
        return Token("layer", vocabulary.LAYERS[lower])
    if lower == "relu":
        return Token("name", "relu")
    if squeezed in vocabulary.FUNCTIONS:
        return Token("function", vocabulary.FUNCTIONS[squeezed])
    if lower in ("softmax", "exp", "ln", "log"):
        return Token("function", vocabulary.FUNCTIONS[lower])
    if len(squeezed) == 1 and squeezed.isascii() and squeezed.isalpha():
        return Token("name", squeezed)
    return Token("text", content) if content else None
