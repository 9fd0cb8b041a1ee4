"""Characters to tokens: LaTeX, Unicode, Typst and plain ASCII all end in one small alphabet.

One pass and no backtracking, so that hostile text costs linear time.
"""

from __future__ import annotations

import re

from headwright.homework.meaning.formula import tokens, undefined, vocabulary
from headwright.homework.meaning.formula.characters import simplify
from headwright.homework.meaning.formula.tokens import FormulaError, Token

# A formula longer than this is no answer; reading it would only cost time.
MOST_TOKENS = 4000

_SCAN = re.compile(
    r"(?P<number>[1-9]\d{0,2}(?:(?:,|\{,\})\d{3})+(?!\d)"
    r"|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<env>\\(?:begin|end)\s*\{(?P<envname>[A-Za-z]+\*?)\}(?:\s*\{[lcr|\s@{}]*\})?)"
    r"|(?P<command>\\(?:[A-Za-z]+|\\|[^A-Za-z]))"
    r"|(?P<ascii><==>|<=>|==>|-->|>>>|<<<|:=|==|=>|->|!=|/=|~=|~~|>>|<<|>=|<=|=<|\.\.\.)"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<space>\s+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_ASCII = dict(vocabulary.ASCII_RELATIONS)
# Commands that are dropped with their first argument; the second one is kept.
_DROPPED = vocabulary.DISCARD | {"textcolor", "stackrel", "overset", "underset"}
# Letters of matrices; two to four of them in bold are a product.
_MATRICES = re.compile("[ABHIKMPQSVWXYZ]{2,4}")
_DRESSES = ("operatorname", "mathrm", "mathcal", "mathbf", "mathsf", "mathit")
_NEXT = re.compile(r"\s*(\S)")
_ENDS_VALUE = (")", "]", "}")
# Words that separate statements when typed without \text.
_PROSE = frozenset({
    "for", "all", "where", "and", "or", "if", "then", "with", "so", "any", "let", "when", "is",
    "are", "as", "such", "that", "not", "we", "have", "since", "because", "hence", "thus",
    "otherwise", "large", "very", "const", "constant", "some", "every", "each", "other", "others",
    "else", "the", "of", "but",
})  # fmt: skip


def tokenize(text: str) -> list[Token]:
    """The tokens of one formula. Raises FormulaError when there are too many of them."""
    out: list[Token] = []
    text = simplify(text)
    position = 0
    while position < len(text):
        match = _SCAN.match(text, position)
        assert match is not None  # the last alternative takes any character
        position = _emit(match, text, out)
        if len(out) > MOST_TOKENS:
            raise FormulaError(f"longer than {MOST_TOKENS} symbols")
    return out


def _emit(match: re.Match[str], text: str, out: list[Token]) -> int:
    """Append the tokens of one match; where to go on."""
    kind = match.lastgroup
    piece = match[0]
    if kind == "command":
        return _command(piece[1:], text, match.end(), out)

    if match["env"]:
        out.append(Token("begin" if piece.startswith("\\begin") else "end", match["envname"]))
    elif kind == "number":
        out.append(Token("number", re.sub(r"[,{}]", "", piece)))  # 10,000
    elif piece == "...":
        out.append(tokens.DOTS)
    elif kind == "ascii":
        out.append(tokens.relation(_ASCII[piece]))
    elif kind == "word":
        out.extend(_word(piece))
    elif kind == "other":
        _character(piece, out)
    return match.end()


def _command(name: str, text: str, position: int, out: list[Token]) -> int:
    if name in vocabulary.TEXTS:
        content, position = group(text, position)
        _append(tokens.text(content), out)
    elif name in _DROPPED:
        _, position = group(text, position)
    elif name == "\\":
        out.append(Token("newline", "\n"))
    elif name in ("{", "}", "|", "_", "*", "#", "%", "&", "$"):
        out.append(tokens.escaped(name))
    elif name in ("lVert", "rVert", "Vert", "parallel"):
        out.append(tokens.NORM_BAR)
    elif name in ("lvert", "rvert", "vert"):
        out.append(Token("op", "|"))
    elif name in _DRESSES:
        return _dressed(text, position, out)
    elif name in ("max", "min") and out and out[-1] == Token("name", "arg"):
        out[-1] = Token("function", f"arg{name}")
    elif undefined.is_known(name):
        _append(tokens.command(name), out)
    else:
        return _undefined(name, text, position, out)
    return position


def _undefined(name: str, text: str, position: int, out: list[Token]) -> int:
    """A macro that nobody defined: by its name and by whether it takes an argument."""
    following = _NEXT.match(text, position)
    sign = following[1] if following else ""
    if sign == "{" and len(name) > 1:
        # Whatever is unknown and takes an argument dresses it
        _append(undefined.WITH_ARGUMENT.get(name), out)
    elif name not in undefined.TRANSPOSES:
        out.extend(undefined.guessed(name, sign))
    elif out and (out[-1].kind == "name" or out[-1].text in _ENDS_VALUE):
        out.extend([Token("op", "^"), Token("name", "T")])
    else:
        out.append(Token("name", "T"))
    return position


def _append(token: Token | None, out: list[Token]) -> None:
    if token is not None:
        out.append(token)


def _dressed(text: str, position: int, out: list[Token]) -> int:
    """`\\mathrm{softmax}` is one word; `\\mathbf{k}` only a letter in bold; `\\mathcal{N}` the
    normal law."""
    content, after = group(text, position)
    if re.fullmatch(r"[A-Za-z\-\s*]{2,}", content.strip()) is None:
        return position
    known = tokens.text(content)
    if known is not None and known.kind == "text" and _MATRICES.fullmatch(content):
        # `\mathbf{QK}^\top` is a product, and only its last factor is transposed
        out.extend(tokens.letter(name) for name in content)
    else:
        _append(known, out)
    return after


def _word(piece: str) -> list[Token]:
    """A run of letters: a known word, or single letters side by side (`qk` is q times k)."""
    known = tokens.word(piece)
    if known is not None:
        return [known]

    parts = tokens.split(piece)
    is_prose = piece.lower() in _PROSE and len(piece) > 1
    if is_prose or (len(piece) > 3 and not parts):
        return [Token("text", piece)]
    return [tokens.letter(part) for part in parts or piece]


def _character(c: str, out: list[Token]) -> None:
    known = tokens.character(c)
    if known is not None:
        out.append(known)
        return

    # Letters of other scripts are words between formulas; neighbours join into one text token.
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

    depth = 0
    start = position + 1
    for here in range(position, len(text)):
        if text[here] == "{" and text[here - 1 : here] != "\\":
            depth += 1
        elif text[here] == "}" and text[here - 1 : here] != "\\":
            depth -= 1
            if depth == 0:
                return text[start:here], here + 1
    return text[start:], len(text)
