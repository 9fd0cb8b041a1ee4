"""Characters to tokens: LaTeX, Unicode, Typst and plain ASCII all end in one small alphabet.

One pass and no backtracking, so that hostile text costs linear time. Unknown commands become names:
a macro that nobody expanded is still a symbol.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from headwright.homework.meaning.formula import vocabulary
from headwright.homework.meaning.formula.characters import simplify

# A formula longer than this is no answer; reading it would only cost time.
MOST_TOKENS = 4000


@dataclass(frozen=True)
class Token:
    """`kind`: number, name, function, layer, relation, separator, text, op, command, begin, end,
    newline."""

    kind: str
    text: str


class FormulaError(ValueError):
    """This text cannot be read as a formula; `str(error)` says why in a few words."""


_SCAN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?|\.\d+)"
    r"|(?P<env>\\(?:begin|end)\s*\{(?P<envname>[A-Za-z]+\*?)\}(?:\s*\{[lcr|\s@{}]*\})?)"
    r"|(?P<command>\\(?:[A-Za-z]+|\\|[^A-Za-z]))"
    r"|(?P<ascii><==>|<=>|==>|-->|>>>|<<<|:=|==|=>|->|!=|/=|~=|~~|>>|<<|>=|<=|=<|\.\.\.)"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<space>\s+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_ASCII = dict(vocabulary.ASCII_RELATIONS)
_WORDS = {w: w for w in vocabulary.GREEK} | {"varepsilon": "epsilon", "eps": "epsilon"}
_KNOWN = sorted({*_WORDS, *vocabulary.FUNCTIONS, "sum", "infty", "infinity"}, key=len, reverse=True)
# Words that separate statements when typed without \text.
_PROSE = frozenset({
    "for", "all", "where", "and", "or", "if", "then", "with", "so", "any", "let", "when", "is", "are", "as",
    "such", "that", "not", "we", "have", "since", "because", "hence", "thus", "otherwise", "large", "very",
    "const", "constant", "some", "every", "each", "other", "others", "else", "the", "of", "but",
})  # fmt: skip


def tokenize(text: str) -> list[Token]:
    """The tokens of one formula. Raises FormulaError when there are too many of them."""
    out: list[Token] = []
    text = simplify(text)
    position = 0
    while position < len(text):
        match = _SCAN.match(text, position)
        assert match is not None  # the last alternative takes any character
        position = match.end()
        position = _emit(match, text, position, out)
        if len(out) > MOST_TOKENS:
            raise FormulaError(f"longer than {MOST_TOKENS} symbols")
    return out


def _emit(match: re.Match[str], text: str, position: int, out: list[Token]) -> int:
    kind, piece = match.lastgroup, match[0]
    if kind == "envname" or match["env"]:
        out.append(Token("begin" if piece.startswith("\\begin") else "end", match["envname"]))
    elif kind == "number":
        out.append(Token("number", piece))
    elif kind == "command":
        return _command(piece[1:], text, position, out)
    elif kind == "ascii":
        name = _ASCII.get(piece, piece)
        out.append(Token("dots", "...") if piece == "..." else _relation(name))
    elif kind == "word":
        _word(piece, text, position, out)
    elif kind == "other":
        _character(piece, out)
    return position


def _relation(name: str) -> Token:
    return Token("consequence", "=>") if name == "=>" else Token("relation", name)


def _command(name: str, text: str, position: int, out: list[Token]) -> int:
    if name in vocabulary.TEXTS:
        content, position = group(text, position)
        _text(content, out)
    elif name in vocabulary.DISCARD or name in ("textcolor", "stackrel", "overset", "underset"):
        _, position = group(text, position)
    elif name == "\\":
        out.append(Token("newline", "\n"))
    elif name in ("{", "}", "|", "_", "*", "#", "%", "&", "$"):
        out.append(_escaped(name))
    elif name in ("lVert", "rVert", "Vert", "parallel"):
        out.append(Token("op", "‖"))
    elif name in ("lvert", "rvert", "vert"):
        out.append(Token("op", "|"))
    elif name in ("operatorname", "mathrm", "mathcal", "mathbf", "mathsf", "mathit"):
        return _dressed(name, text, position, out)
    else:
        _named(name, out)
    return position


def _escaped(name: str) -> Token:
    known = {"{": "\\{", "}": "\\}", "|": "‖", "_": "_", "*": "*"}
    return Token("op", known[name]) if name in known else Token("separator", name)


def _dressed(name: str, text: str, position: int, out: list[Token]) -> int:
    """`\\mathrm{softmax}` is one word; `\\mathbf{k}` only a letter in bold; `\\mathcal{N}` the
    normal law."""
    content, after = group(text, position)
    if re.fullmatch(r"[A-Za-z\-\s*]{2,}", content.strip()):
        _text(content, out)
        return after
    return position


def _named(name: str, out: list[Token]) -> None:
    name = vocabulary.VARIANTS.get(name, name)
    if name in vocabulary.SPACES or name in vocabulary.DRESSING:
        return
    if name in vocabulary.CONSEQUENCES:
        out.append(Token("consequence", "=>"))
    elif name in vocabulary.SEPARATORS:
        out.append(Token("separator", name))
    elif name in vocabulary.RELATION_COMMANDS:
        out.append(_relation(vocabulary.RELATION_COMMANDS[name]))
    elif name in vocabulary.TIMES:
        out.append(Token("op", "*"))
    elif name in vocabulary.DOTS:
        out.append(Token("dots", "..."))
    elif name in vocabulary.INFINITY:
        out.append(Token("infinity", "inf"))
    elif name in ("pm", "mp"):
        out.append(Token("op", "±"))
    elif name in ("max", "min") and out and out[-1] == Token("name", "arg"):
        out[-1] = Token("function", f"arg{name}")
    elif name in vocabulary.FUNCTIONS and name != "sqrt":
        out.append(Token("function", vocabulary.FUNCTIONS[name]))
    elif (
        name
        in (
            "frac",
            "dfrac",
            "tfrac",
            "cfrac",
            "sqrt",
            "sum",
            "lim",
            "langle",
            "rangle",
            "not",
            "prime",
        )
        or name in vocabulary.ACCENTS
    ):
        out.append(Token("command", "frac" if name.endswith("frac") else name))
    elif name in ("lbrace", "rbrace"):
        out.append(Token("op", "\\{" if name == "lbrace" else "\\}"))
    elif name in ("lbrack", "rbrack"):
        out.append(Token("op", "[" if name == "lbrack" else "]"))
    elif name in ("dagger", "dag"):
        out.append(Token("name", "dagger"))
    elif name.lower() in vocabulary.LAYERS:
        out.append(Token("layer", vocabulary.LAYERS[name.lower()]))
    else:
        out.append(Token("name", name))


def _word(piece: str, text: str, position: int, out: list[Token]) -> None:
    """A run of letters: a known word, or single letters side by side (`qk` is q times k)."""
    lower = piece.lower()
    if piece in vocabulary.FUNCTIONS or lower in ("softmax", "exp"):
        out.append(
            Token("function", vocabulary.FUNCTIONS.get(piece, lower))
            if lower != "sqrt"
            else Token("command", "sqrt")
        )
    elif lower == "relu":
        out.append(Token("name", "relu"))
    elif lower in vocabulary.LAYERS and len(piece) > 2:
        out.append(Token("layer", vocabulary.LAYERS[lower]))
    elif piece in _WORDS:
        out.append(Token("name", _WORDS[piece]))
    elif piece in vocabulary.INFINITY:
        out.append(Token("infinity", "inf"))
    elif piece == "sum" or lower in ("frac", "norm"):
        out.append(Token("command", lower))
    elif (lower in _PROSE and len(piece) > 1) or (len(piece) > 3 and not _split(piece)):
        out.append(Token("text", piece))
    else:
        for part in _split(piece) or list(piece):
            _letter(part, out)


def _split(piece: str) -> list[str]:
    """`betak` -> beta, k. Only when a known word opens the run and a letter or two remain."""
    for word in _KNOWN:
        if (
            piece.startswith(word)
            and len(word) > 1
            and len(piece) - len(word) <= 2
            and len(word) > 2
        ):
            return [word, *piece[len(word) :]]
    return []


def _letter(part: str, out: list[Token]) -> None:
    if part in vocabulary.FUNCTIONS:
        out.append(Token("function", vocabulary.FUNCTIONS[part]))
    elif part == "sum":
        out.append(Token("command", "sum"))
    elif part in vocabulary.INFINITY:
        out.append(Token("infinity", "inf"))
    else:
        out.append(Token("name", part))


def _text(content: str, out: list[Token]) -> None:
    content = content.strip()
    squeezed = re.sub(r"[\s\-*]+", "", content)
    if squeezed.lower() in vocabulary.LAYERS:
        out.append(Token("layer", vocabulary.LAYERS[squeezed.lower()]))
    elif squeezed.lower() == "relu":
        out.append(Token("name", "relu"))
    elif squeezed.lower() in ("softmax", "exp", "ln", "log") or squeezed in vocabulary.FUNCTIONS:
        out.append(
            Token(
                "function",
                vocabulary.FUNCTIONS.get(
                    squeezed, vocabulary.FUNCTIONS.get(squeezed.lower(), "exp")
                ),
            )
        )
    elif len(squeezed) == 1 and squeezed.isascii() and squeezed.isalpha():
        out.append(Token("name", squeezed))
    elif content:
        out.append(Token("text", content))


def _character(c: str, out: list[Token]) -> None:
    if c in vocabulary.GREEK_LETTERS:
        name = vocabulary.GREEK_LETTERS[c]
        out.append(Token("command", "sum") if name == "sum" else Token("name", name))
    elif c in vocabulary.SEPARATORS:
        out.append(
            Token("consequence", "=>") if c in vocabulary.CONSEQUENCES else Token("separator", c)
        )
    elif c in vocabulary.RELATION_COMMANDS:
        out.append(_relation(vocabulary.RELATION_COMMANDS[c]))
    elif c == "~":
        out.append(Token("relation", "~"))
    elif c in vocabulary.TIMES:
        out.append(Token("op", "*"))
    elif c in vocabulary.DOTS:
        out.append(Token("dots", "..."))
    elif c in vocabulary.INFINITY:
        out.append(Token("infinity", "inf"))
    elif c in "()[]{}+-/^_|,;&'!":
        out.append(Token("op", c))
    elif c in "−–—":
        out.append(Token("op", "-"))
    elif c in "′’`":
        out.append(Token("op", "'"))
    elif c == "‖":
        out.append(Token("op", "‖"))
    elif c in "⟨〈":
        out.append(Token("command", "langle"))
    elif c in "⟩〉":
        out.append(Token("command", "rangle"))
    elif c in "⊤⊺":
        out.append(Token("name", "top"))
    elif c == "√":
        out.append(Token("command", "sqrt"))
    elif c in "（）":
        out.append(Token("op", "()"["（）".index(c)]))
    elif c in '.:?"#$@%\\':
        out.append(Token("separator", c))
    elif c.isalpha():
        _foreign(c, out)
    else:
        out.append(Token("separator", c))


def _foreign(c: str, out: list[Token]) -> None:
    """Letters of other scripts are words between formulas; neighbours join into one text token."""
    if out and out[-1].kind == "text" and not out[-1].text.isascii():
        out[-1] = Token("text", out[-1].text + c)
    else:
        out.append(Token("text", c))


def group(text: str, position: int) -> tuple[str, int]:
    """What the braces at `position` (after spaces) hold, and where they end. Without braces: one
    character."""
    while position < len(text) and text[position].isspace():
        position += 1
    if position >= len(text) or text[position] != "{":
        return text[position : position + 1], min(position + 1, len(text))
    depth, start = 0, position + 1
    for here in range(position, len(text)):
        if text[here] == "{" and text[here - 1 : here] != "\\":
            depth += 1
        elif text[here] == "}" and text[here - 1 : here] != "\\":
            depth -= 1
            if depth == 0:
                return text[start:here], here + 1
    return text[start:], len(text)
