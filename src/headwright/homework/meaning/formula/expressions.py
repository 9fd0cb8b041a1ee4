"""Tokens to one expression: sums of products of factors, with scripts.

Written by hand instead of as a grammar file: handwriting scanned to LaTeX is broken in ways no
grammar lists, and the reader must say what it could read, in time linear in the text and with a
bounded depth.
"""

from __future__ import annotations

from headwright.homework.meaning.formula import grids, groups, tokens, tree, vocabulary
from headwright.homework.meaning.formula.cursor import Cursor, spell
from headwright.homework.meaning.formula.tokens import FormulaError, Token
from headwright.homework.meaning.formula.tree import Node, Symbol


class Reader:
    """Reads expressions at a cursor."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor

    def expression(self) -> Node:
        """`term + term - term`"""
        cursor = self.cursor
        with cursor.deeper():
            terms = [self._signed()]
            while sign := cursor.take_across_lines("+", "-", "±"):
                if not cursor.starts_across_lines() and not cursor.peek("op", "+", "-"):
                    break
                term = self._signed()
                terms.append(tree.Negate(term) if sign.text == "-" else term)
        return terms[0] if len(terms) == 1 else tree.Add(tuple(terms))

    def _signed(self) -> Node:
        negative = False
        while self.cursor.peek("op", "+", "-", "±"):
            negative ^= self.cursor.next().text == "-"
        term = self.term()
        return tree.Negate(term) if negative else term

    def term(self) -> Node:
        """Factors side by side, with dots, or over each other: `a b`, `a * b`, `a / b`."""
        cursor = self.cursor
        with cursor.deeper():
            factors: list[Node] = [self._factor()]
            dotted: list[bool] = []
            while True:
                if cursor.take("op", "⊗"):
                    factors[-1] = tree.Call("outer", (factors[-1], self._factor()))
                divided = cursor.take("op", "/")
                dot = cursor.take_across_lines("*") is not None
                joined = cursor.starts_across_lines() if dot else cursor.starts()
                if not joined and not self._opens_behind_mark():
                    return _product(factors, dotted)  # also at "//", which closes an answer
                if divided:
                    above = _product(factors, dotted)
                    factors = [tree.Divide(above, self._factor())]
                    dotted = []
                else:
                    factors.append(self._factor())
                    dotted.append(dot)

    def _opens_behind_mark(self) -> bool:
        """`\\beta & (k_a + k_b)`: a mark of alignment before a bracket, which is stepped over."""
        cursor = self.cursor
        following = cursor.token(1)
        opens = following.kind == "op" and following.text in ("(", "[")
        return opens and not cursor.in_matrix and cursor.take("op", "&")

    def _factor(self) -> Node:
        token = self.cursor.token()
        if token == Token("name", "e") and self.cursor.token(1) == Token("op", "^"):
            self.cursor.at += 2
            return tree.Call("exp", (self.argument(),))
        if token.kind == "function":
            return groups.function(self)
        return self.postfix(self._primary())

    def postfix(self, base: Node) -> Node:
        """Sub- and superscripts in any order, primes, and a parenthesis right after a letter."""
        cursor = self.cursor
        while not cursor.done:
            if cursor.take("op", "_"):
                base = _indexed(base, cursor.script())
            elif cursor.take("op", "^"):
                base = self._superscript(base, cursor.script())
            elif cursor.take("op", "'") or cursor.take("command", "prime"):
                base = tree.Prime(base)
            elif cursor.peek("op", "(") and _applicable(base):
                base = tree.Apply(base, groups.listed(self, ")"))
            else:
                break
        return base

    def _primary(self) -> Node:
        cursor = self.cursor
        if cursor.peek("op", "(", "[", "\\{", "{", "|", "‖"):
            return groups.bracketed(self)
        token = cursor.next()
        if token == Token("name", "Sigma") and groups.is_sum(self):
            return groups.total(self)
        simple = _SIMPLE.get(token.kind)
        if simple is not None:
            return simple(token.text)
        if token.kind == "begin":
            return grids.matrix(self)
        if token.kind == "command":
            return self._command(token.text)
        raise FormulaError(f"a value is missing before '{token.text}'")

    def _command(self, name: str) -> Node:
        if name in _COMMANDS:
            return _COMMANDS[name](self)
        if name in vocabulary.ACCENTS:
            return groups.accent(self, name)
        raise FormulaError(f"'{name}' is not understood here")

    def argument(self) -> Node:
        """One TeX argument: a braced group or a single factor."""
        cursor = self.cursor
        with cursor.deeper():
            if cursor.peek("op", "{"):
                items = groups.listed(self, "}")
                return items[0] if len(items) == 1 else tree.Bracket("{", items)
            if cursor.take("op", "-"):
                return tree.Negate(self.argument())
            if cursor.token().kind == "function":
                return groups.function(self)
            return self._primary()

    def inside(self, tokens: list[Token]) -> Node:
        """The expression that a script consists of."""
        with self.cursor.deeper():
            reader = Reader(Cursor(tokens, self.cursor.quantity, self.cursor.depth))
            node = reader.expression()
        if not reader.cursor.done:
            raise FormulaError("a script that is no expression")
        return node

    def _superscript(self, base: Node, raw: list[Token]) -> Node:
        shown = [t.text for t in raw if t.kind != "op" or t.text not in "{}"]
        words = "".join(shown)
        if words in vocabulary.TRANSPOSES:
            return tree.Transpose(base)
        if words in ("+", "dagger", "†"):
            return tree.PseudoInverse(base)
        if words in ("*", "star"):  # A^* is a transpose, q^* the best q
            is_basis = isinstance(base, Symbol) and base.name in ("A", "B")
            return tree.Transpose(base) if is_basis else base
        if words in ("'", "prime"):
            return tree.Prime(base)
        if words[:1] == "(" and words[-1:] == ")" and isinstance(base, Symbol):
            return Symbol(base.name, base.index + words.strip("()"))
        if len(raw) > 1 and raw[0].text in ("T", "top") and raw[1].kind == "name":  # k^{Tq}
            factors = (tree.Transpose(base), self.inside(raw[1:]))
            return tree.Multiply(factors, (False,))
        return tree.Power(base, self.inside(raw))


_SIMPLE = {
    "number": lambda text: tree.Number(float(text)),
    "name": Symbol,
    "layer": Symbol,
    "infinity": lambda text: tree.Infinity(),
    "dots": lambda text: tree.Dots(),
    "text": tree.Word,
}
_COMMANDS = {
    "frac": groups.fraction,
    "sqrt": groups.root,
    "sum": groups.total,
    "langle": groups.inner_product,
    "norm": lambda reader: tree.Norm(reader.argument()),
    "inner": groups.inner_product_of_arguments,
    "transposed": lambda reader: tree.Transpose(reader.argument()),
}


def _product(factors: list[Node], dotted: list[bool]) -> Node:
    return factors[0] if len(factors) == 1 else tree.Multiply(tuple(factors), tuple(dotted))


def _applicable(base: Node) -> bool:
    while isinstance(base, (tree.Prime, tree.Transpose)):
        base = base.of
    return isinstance(base, Symbol)


def _indexed(base: Node, raw: list[Token]) -> Node:
    if len(raw) == 3 and raw[1] == tokens.TIMES:  # A_{d x m} says how large A is
        return base
    if isinstance(base, Symbol):
        return Symbol(base.name, base.index + spell(raw))
    if isinstance(base, (tree.Transpose, tree.Prime, tree.PseudoInverse)):
        return type(base)(_indexed(base.of, raw))
    return base
