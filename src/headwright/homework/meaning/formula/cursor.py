"""A place in a row of tokens, with a bounded depth: nothing that is written may overflow the
stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from headwright.homework.meaning.formula import vocabulary
from headwright.homework.meaning.formula.tokens import FormulaError, Token
from headwright.homework.meaning.formula.tree import Node

DEEPEST = 90
END = Token("op", "end")

_VALUE_KINDS = ("number", "name", "function", "layer", "infinity", "dots")
_CLOSING = {"{": "}", "(": ")"}
# What an author puts where a long formula is broken.
_LAYOUT = ("&", "quad", "qquad")


class Cursor:
    """`at` moves forward over `tokens`. `bars` are the norms that are open; `quantity` tells words
    that are numbers; `in_matrix`: a line break ends a row and not only a line."""

    def __init__(
        self, tokens: list[Token], quantity: Callable[[str], bool], depth: int = 0
    ) -> None:
        self.tokens = tokens
        self.quantity = quantity
        self.depth = depth
        self.at = 0
        self.bars: list[str] = []
        self.in_matrix = False

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    def token(self, ahead: int = 0) -> Token:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else END

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
        if token.kind in _VALUE_KINDS:
            return True
        if token.kind == "text":
            return self.quantity(token.text)
        if token.kind == "command":
            return token.text not in ("rangle", "not", "prime")
        if token.kind == "begin":
            return self.opens_matrix()
        if token.kind != "op":
            return False
        if token.text in ("|", "‖"):  # the bar of an open norm closes it
            return token.text not in self.bars
        return token.text in ("(", "[", "{", "\\{")

    def take_across_lines(self, *operators: str) -> Token | None:
        """Step over the operator that goes on with a formula, here or at the start of the next
        line (`a \\\\ & + b`); None where there is none."""
        ahead = self._layout_ahead()
        token = self.token(ahead)
        if token.kind != "op" or token.text not in operators:
            return None
        self.at += ahead + 1
        return token

    def starts_across_lines(self) -> bool:
        """Can a factor begin here or on the next line, behind the operator just read?"""
        here = self.at
        self.at += self._layout_ahead()
        if self.starts():
            return True
        self.at = here
        return False

    def _layout_ahead(self) -> int:
        """How many line breaks and marks of alignment follow; none of them inside a matrix, where
        they separate entries."""
        ahead = 0
        while not self.in_matrix and _is_layout(self.token(ahead)):
            ahead += 1
        return ahead

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
        if first.kind != "op" or first.text not in _CLOSING:
            return [first]

        inside = self._until(first.text, _CLOSING[first.text])
        # `q^(1)` keeps its parentheses, as `q^{(1)}` does; `sum_(i=1)` loses them.
        lone = len(inside) == 1 and inside[0].kind in ("number", "name")
        if first.text == "(" and lone:
            return [first, *inside, Token("op", ")")]
        return inside

    def _until(self, opening: str, closing: str) -> list[Token]:
        """The tokens up to the bracket that closes the one just read, which is stepped over."""
        inside: list[Token] = []
        depth = 1
        while not self.done:
            token = self.next()
            depth += (token.text == opening) - (token.text == closing)
            if depth == 0:
                break
            inside.append(token)
        return inside


def _is_layout(token: Token) -> bool:
    return token.kind == "newline" or token.text in _LAYOUT


def spell(tokens: list[Token]) -> str:
    """A short text for an index or an unreadable piece."""
    shown = [t.text for t in tokens if t.kind != "op" or t.text not in ("{", "}")]
    return "".join(shown)[:40]


@runtime_checkable
class ExpressionReader(Protocol):
    """What a group asks of the reader around it (`expressions` has it)."""

    cursor: Cursor

    def expression(self) -> Node: ...

    def term(self) -> Node: ...

    def argument(self) -> Node: ...

    def postfix(self, base: Node) -> Node: ...

    def inside(self, tokens: list[Token]) -> Node: ...
