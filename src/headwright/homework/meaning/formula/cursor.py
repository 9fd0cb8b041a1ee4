"""A place in a row of tokens, with a bounded depth: nothing that is written may overflow the stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headwright.homework.meaning.formula import vocabulary
from headwright.homework.meaning.formula.tokens import FormulaError, Token

DEEPEST = 90
END = Token("op", "end")


class Cursor:
    """`at` moves forward over `tokens`. `bars` are the norms that are open; `quantity` tells words
    that are numbers."""

    def __init__(
        self, tokens: list[Token], quantity: Callable[[str], bool], depth: int = 0
    ) -> None:
        self.tokens, self.quantity, self.at, self.depth = tokens, quantity, 0, depth
        self.bars: list[str] = []

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    def token(self, ahead: int = 0) -> Token:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else END

    def next(self) -> Token:
        token = self.token()
        self.at += 1
        return token

    def peek(self, kind: str, *texts: str) -> bool:
        token = self.token()
        return token.kind == kind and (not texts or token.text in texts)

    def take(self, kind: str, *texts: str) -> bool:
        """Step over the token if it is the one asked for."""
        found = self.peek(kind, *texts)
        self.at += found
        return found

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level down; FormulaError below `DEEPEST`."""
        if self.depth >= DEEPEST:
            raise FormulaError(f"nested deeper than {DEEPEST}")
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def starts(self) -> bool:
        """Can a factor begin here?"""
        token = self.token()
        if token.kind in ("number", "name", "function", "layer", "infinity", "dots"):
            return True
        if token.kind == "text":
            return self.quantity(token.text)
        if token.kind == "command":
            return token.text not in ("rangle", "not", "prime")
        if token.kind == "begin":
            return self.opens_matrix()
        if token.kind == "op" and token.text in ("|", "‖"):
            return token.text not in self.bars
        return token.kind == "op" and token.text in ("(", "[", "{", "\\{")

    def opens_matrix(self) -> bool:
        token = self.token()
        return token.kind == "begin" and token.text in vocabulary.MATRICES

    def script(self) -> list[Token]:
        """The tokens of a sub- or superscript: a braced (in Typst: parenthesised) group, or one
        token."""
        if self.done:
            raise FormulaError("a script is missing")
        first = self.next()
        if first == Token("op", "-") and self.token().kind in ("number", "name"):  # x^-1
            return [first, self.next()]
        pairs = {"{": "}", "(": ")"}
        if first.kind != "op" or first.text not in pairs:
            return [first]
        depth, out = 1, []
        while not self.done:
            token = self.next()
            depth += (token.text == first.text) - (token.text == pairs[first.text])
            if depth == 0:
                break
            out.append(token)
        # `q^(1)` keeps its parentheses, as `q^{(1)}` does; `sum_(i=1)` loses them.
        label = first.text == "(" and len(out) == 1 and out[0].kind in ("number", "name")
        return [first, *out, Token("op", ")")] if label else out


def spell(tokens: list[Token]) -> str:
    """A short text for an index or an unreadable piece."""
    return "".join(t.text for t in tokens if not (t.kind == "op" and t.text in ("{", "}")))[:40]
