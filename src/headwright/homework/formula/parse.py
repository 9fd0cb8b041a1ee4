"""Tokens to statements: a recursive-descent reader with a bounded depth.

Written by hand instead of as a grammar file: handwriting scanned to LaTeX is broken in ways no grammar lists
(relations without a right side, half a brace, words between factors). The reader keeps every statement it can
read, turns the rest into `Unread`, and costs time linear in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headwright.homework.formula import symbols as S
from headwright.homework.formula.tokens import FormulaError, Token, tokenize
from headwright.homework.formula.tree import (
    Add,
    Apply,
    Bracket,
    Call,
    Chain,
    Divide,
    Dots,
    Extreme,
    Index,
    Infinity,
    Matrix,
    Multiply,
    Negate,
    Node,
    Norm,
    Number,
    Power,
    Prime,
    PseudoInverse,
    Sum,
    Symbol,
    Transpose,
    Word,
)

DEEPEST = 90
LONGEST = 20_000


@dataclass(frozen=True)
class Missing(Node):
    """The side of a relation that was not written (or stands in the next block)."""


@dataclass(frozen=True)
class Text:
    """Words between statements."""

    text: str


@dataclass(frozen=True)
class Mark:
    """What separates statements: "=>", "," or "newline"."""

    sign: str


@dataclass(frozen=True)
class Unread:
    """A piece that is no formula, with the reason."""

    text: str
    why: str


Item = Chain | Text | Mark | Unread


def parse(text: str, *, quantity: Callable[[str], bool] = lambda words: False) -> list[Item]:
    """Every statement of a formula, in order. `quantity(words)` says whether words stand for a number ("a large constant")."""
    if len(text) > LONGEST:
        return [Unread(text[:80], f"longer than {LONGEST} characters")]
    try:
        tokens = tokenize(text)
    except FormulaError as error:
        return [Unread(text[:80], str(error))]
    return _Reader(_opened(tokens), quantity, 0).statements()


def expression(text: str) -> Node:
    """The one expression in `text`; raises FormulaError when there is none or more than one."""
    items = [i for i in parse(text) if not isinstance(i, Mark)]
    if len(items) != 1 or not isinstance(items[0], Chain) or items[0].relations:
        raise FormulaError(f"not one expression: {text[:60]}")
    return items[0].terms[0]


class _Reader:
    def __init__(self, tokens: list[Token], quantity: Callable[[str], bool], depth: int) -> None:
        if depth > DEEPEST:
            raise FormulaError(f"nested deeper than {DEEPEST}")
        self.tokens, self.quantity, self.at, self.depth = tokens, quantity, 0, depth
        self.bars: list[str] = []

    # ---- statements ---------------------------------------------------------------------------------------

    def statements(self) -> list[Item]:
        items: list[Item] = []
        while self.at < len(self.tokens):
            start = self.at
            mark = self._mark()
            if mark is not None:
                items.append(mark)
                continue
            try:
                self._extend(items, self._chain())
            except FormulaError as error:
                self.bars.clear()
                self.depth = min(self.depth, 1)
                self._skip(start)
                items.append(Unread(_spell(self.tokens[start : self.at]), str(error)))
        return items

    def _mark(self) -> Item | None:
        """A separator at the cursor, consumed; None where a statement begins."""
        token = self.tokens[self.at]
        if token.kind == "text" and not self._is_quantity(token):
            self.at += 1
            return Text(token.text)
        if token.kind == "newline":
            self.at += 1
            return Mark("newline")
        if token.kind == "consequence":
            self.at += 1
            return Mark("=>")
        if token.kind in ("separator", "begin", "end") and not self._opens_matrix():
            self.at += 1
            return Mark("forall" if token.text in ("forall", "∀") else ",")
        if token.kind == "op" and token.text in (",", ";", "&", ")", "]", "\\}", "}", "*", "/", "'", "!", "^", "_"):
            self.at += 1
            return Mark(",")
        return None

    def _extend(self, items: list[Item], chain: Chain) -> None:
        """Append, or join to the statement before it when one of the two lacks a side."""
        before = next((k for k in range(len(items) - 1, -1, -1) if not isinstance(items[k], Mark)), None)
        last = items[before] if before is not None else None
        joinable = isinstance(last, Chain) and all(i.sign == "newline" for i in items[before + 1 :])  # type: ignore[operator]
        joined = join(last, chain) if joinable else None  # type: ignore[arg-type]
        if joined is not None:
            del items[before:]  # type: ignore[misc]
            chain = joined
        items.append(chain)

    def _skip(self, start: int) -> None:
        self.at = max(self.at, start + 1)
        while self.at < len(self.tokens) and self._mark_kind() is None:
            self.at += 1

    def _mark_kind(self) -> str | None:
        token = self.tokens[self.at]
        stops = token.kind in ("text", "newline", "consequence", "separator") or token.text in (",", ";")
        return token.kind if stops else None

    def _chain(self) -> Chain:
        terms: list[Node] = []
        relations: list[str] = []
        if self._peek("relation"):
            terms.append(Missing())
        else:
            terms.append(self._expression())
        while self._relation_follows():
            relations.append(self._relation())
            terms.append(self._expression() if self._starts() else Missing())
        return Chain(tuple(terms), tuple(relations))

    def _relation_follows(self) -> bool:
        """A relation here, or after line breaks and alignment marks (`a &= b \\\\ &= c`)."""
        look = self.at
        while look < len(self.tokens) and (self.tokens[look].kind == "newline" or self.tokens[look].text == "&"):
            look += 1
        if look < len(self.tokens) and (self.tokens[look].kind == "relation" or self._negated(look)):
            self.at = look
            return True
        return False

    def _negated(self, look: int) -> bool:
        return self.tokens[look] == Token("command", "not") and look + 1 < len(self.tokens)

    def _relation(self) -> str:
        token = self._next()
        if token == Token("command", "not"):
            inner = self._next().text
            return {"=": "!=", "in": "notin"}.get(inner, inner)
        while self._peek("op", "&"):
            self.at += 1
        following = self._token()
        # ">" ">" with a space between, and "= -" stay apart; "> >" is one sign.
        if following.kind == "relation" and following.text == token.text and token.text in "<>":
            self.at += 1
            return token.text * 2
        return token.text

    # ---- expressions --------------------------------------------------------------------------------------

    def _expression(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormulaError(f"nested deeper than {DEEPEST}")
        terms = [self._signed()]
        while self._peek("op", "+", "-", "±"):
            sign = self._next().text
            if not self._starts() and not self._peek("op", "+", "-"):
                break
            term = self._signed()
            terms.append(Negate(term) if sign == "-" else term)
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Add(tuple(terms))

    def _signed(self) -> Node:
        negative = False
        while self._peek("op", "+", "-", "±"):
            negative ^= self._next().text == "-"
        term = self._term()
        return Negate(term) if negative else term

    def _term(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormulaError(f"nested deeper than {DEEPEST}")
        term = self._factors()
        self.depth -= 1
        return term

    def _factors(self) -> Node:
        factors, dotted = [self._factor()], []
        while True:
            if self._peek("op", "*"):
                self._next()
                if not self._starts():
                    break
                factors.append(self._factor())
                dotted.append(True)
            elif self._peek("op", "/"):
                self._next()
                if not self._starts():  # "//" closes a handwritten answer
                    break
                left = _product(factors, dotted)
                factors, dotted = [Divide(left, self._factor())], []
            elif self._starts():
                factors.append(self._factor())
                dotted.append(False)
            else:
                return _product(factors, dotted)
        return _product(factors, dotted)

    def _starts(self) -> bool:
        """Can a factor begin here?"""
        if self.at >= len(self.tokens):
            return False
        token = self.tokens[self.at]
        if token.kind in ("number", "name", "function", "layer", "infinity", "dots"):
            return True
        if token.kind == "text":
            return self._is_quantity(token)
        if token.kind == "command":
            return token.text not in ("rangle", "not", "prime")
        if token.kind == "begin":
            return self._opens_matrix()
        if token.kind == "op" and token.text in ("|", "‖"):
            return token.text not in self.bars
        return token.kind == "op" and token.text in ("(", "[", "{", "\\{")

    def _is_quantity(self, token: Token) -> bool:
        return self.quantity(token.text)

    def _opens_matrix(self) -> bool:
        token = self.tokens[self.at]
        return token.kind == "begin" and token.text in S.MATRICES

    def _factor(self) -> Node:
        token = self._token()
        if token.kind == "name" and token.text == "e" and self._token(1) == Token("op", "^"):
            self.at += 2
            return Call("exp", (self._argument(),))
        if token.kind == "function":
            return self._function()
        return self._postfix(self._primary())

    def _postfix(self, base: Node) -> Node:
        """Sub- and superscripts in any order, primes, and a parenthesis right after a letter."""
        while self.at < len(self.tokens):
            if self._peek("op", "_"):
                self._next()
                base = _indexed(base, self._raw())
            elif self._peek("op", "^"):
                self._next()
                base = self._superscript(base, self._raw())
            elif self._peek("op", "'") or self._peek("command", "prime"):
                self._next()
                base = Prime(base)
            elif self._peek("op", "(") and _applicable(base):
                base = Apply(base, self._list(")"))
            else:
                return base
        return base

    def _primary(self) -> Node:
        token = self._next()
        if token.kind == "number":
            return Number(float(token.text))
        if token == Token("name", "Sigma") and self._sums():
            return self._sum()
        if token.kind == "name":
            return Symbol(token.text)
        if token.kind == "layer":
            return Symbol(token.text)
        if token.kind == "infinity":
            return Infinity()
        if token.kind == "dots":
            return Dots()
        if token.kind == "text":
            return Word(token.text)
        if token.kind == "begin":
            return self._matrix(token.text)
        if token.kind == "command":
            return self._commanded(token.text)
        if token.kind == "op" and token.text in ("(", "[", "\\{", "{", "|", "‖"):
            return self._grouped(token.text)
        raise FormulaError(f"a value is missing before '{token.text}'")

    def _grouped(self, opening: str) -> Node:
        self.at -= 1
        if opening in ("|", "‖"):
            return self._norm(opening)
        closing = {"(": ")", "[": "]", "\\{": "\\}", "{": "}"}[opening]
        items = self._list(closing)
        if len(items) == 1 and opening != "\\{":
            return items[0]
        return Bracket("{" if opening == "\\{" else opening, items)

    def _norm(self, bar: str) -> Node:
        self.at += 1
        if bar == "|" and self._peek("op", "|"):  # ||x|| typed as two bars
            self.at += 1
        self.bars.append(bar)
        inner = self._expression()
        self.bars.pop()
        if not self._peek("op", bar):
            raise FormulaError("a norm is not closed")
        self.at += 1
        if bar == "|" and self._peek("op", "|"):
            self.at += 1
        if self._peek("op", "_"):
            self._next()
            self._raw()
        return Norm(inner)

    def _list(self, closing: str) -> tuple[Node, ...]:
        """`( x, y )` from the opening bracket on. A wrong closing bracket counts: `[0, 1)`, `\\left( ... \\right]`."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormulaError(f"nested deeper than {DEEPEST}")
        bars, self.bars = self.bars, []
        self.at += 1
        items: list[Node] = []
        while not self._closed(closing):
            if self._peek("op", ",", ";", "&") or self._token().kind in ("separator", "newline"):
                self.at += 1
            elif self._starts() or self._peek("op", "+", "-", "±"):
                items.append(self._expression())
            else:
                raise FormulaError(f"'{self._token().text}' inside brackets")
        self.bars, self.depth = bars, self.depth - 1
        if not items:
            raise FormulaError("empty brackets")
        return tuple(items)

    def _closed(self, closing: str) -> bool:
        if self.at >= len(self.tokens):
            return True  # an unbalanced bracket at the end is forgiven
        token = self.tokens[self.at]
        pairs = {")": (")", "]"), "]": ("]", ")"), "\\}": ("\\}", "}"), "}": ("}",)}
        if token.kind == "op" and token.text in pairs[closing]:
            self.at += 1
            return True
        return False

    def _commanded(self, name: str) -> Node:
        if name == "frac":
            return self._fraction()
        if name == "sqrt":
            return self._root()
        if name in ("sum", "lim"):
            return self._sum() if name == "sum" else self._limit()
        if name == "langle":
            return self._inner_product()
        if name == "norm":
            return Norm(self._argument())
        if name in S.ACCENTS:
            inner = self._argument()
            return Symbol(inner.name + S.ACCENTS[name], inner.index) if isinstance(inner, Symbol) else inner
        raise FormulaError(f"'{name}' is not understood here")

    def _fraction(self) -> Node:
        token = self._token()
        if token.kind == "number" and len(token.text) > 1 and token.text.isdigit():  # \frac12
            self.at += 1
            return Divide(Number(float(token.text[0])), Number(float(token.text[1:])))
        if self._peek("op", "("):  # frac(1, 2) as Typst writes it
            items = self._list(")")
            return Divide(items[0], items[-1])
        above = self._argument()
        return Divide(above, self._argument())

    def _root(self) -> Node:
        if self._peek("op", "["):
            degree = self._list("]")[0]
            return Power(self._argument(), Divide(Number(1.0), degree))
        return Call("sqrt", (self._argument(),))

    def _inner_product(self) -> Node:
        left = self._expression()
        if self._peek("op", ",", "|"):
            self.at += 1
        right = self._expression()
        if not self._peek("command", "rangle"):
            raise FormulaError("an inner product is not closed")
        self.at += 1
        return Call("dot", (left, right))

    def _sum(self) -> Node:
        low, high = self._limits()
        return Sum(_index(low, high, self), self._term())

    def _sums(self) -> bool:
        """Is this Sigma a sum? It is where weights or exponentials follow: `Sigma alpha_i = 1`."""
        look, ranged = self.at, False
        while look + 1 < len(self.tokens) and self.tokens[look].text in ("_", "^"):
            script = look + 1
            look = self._after_script(script)
            ranged |= any(t.kind == "relation" for t in self.tokens[script:look])
        following, script = self._at(look), look > self.at
        weights = following in (Token("name", "alpha"), Token("function", "exp"), Token("name", "e"))
        return ranged or weights or (not script and following.kind == "name" and self._at(look + 1).text == "_")

    def _after_script(self, look: int) -> int:
        if self.tokens[look].text != "{":
            return look + 1
        while look < len(self.tokens) and self.tokens[look].text != "}":
            look += 1
        return look + 1

    def _limit(self) -> Node:
        self._limits()
        return self._term()

    def _limits(self) -> tuple[list[Token], list[Token]]:
        low: list[Token] = []
        high: list[Token] = []
        while self._peek("op", "_", "^"):
            if self._next().text == "_":
                low = self._raw()
            else:
                high = self._raw()
        return low, high

    def _function(self) -> Node:
        name = self._next().text
        if name == "lim":
            return self._limit()
        if name in ("max", "min") and self._peek("op", "_"):
            low, high = self._limits()
            return Extreme(name, _index(low, high, self), self._term())
        if self._peek("op", "_"):  # \log_2, softmax_i
            self._next()
            self._raw()
        if self._peek("op", "^"):  # exp^{x}
            self._next()
            return Call(name, (self._sub(self._raw()),))
        if self._peek("op", "(", "[", "{"):
            closing = {"(": ")", "[": "]", "{": "}"}[self._token().text]
            call = Call(name, self._list(closing))
            return self._postfix(call)
        return Call(name, (self._term(),))

    def _argument(self) -> Node:
        """One TeX argument: a braced group or a single factor."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormulaError(f"nested deeper than {DEEPEST}")
        argument = self._one_argument()
        self.depth -= 1
        return argument

    def _one_argument(self) -> Node:
        if self._peek("op", "{"):
            items = self._list("}")
            return items[0] if len(items) == 1 else Bracket("{", items)
        token = self._token()
        if token.kind == "op" and token.text == "-":
            self.at += 1
            return Negate(self._argument())
        if token.kind == "function":
            return self._function()
        return self._primary()

    def _matrix(self, name: str) -> Node:
        rows: list[tuple[Node, ...]] = []
        row: list[Node] = []
        while self.at < len(self.tokens):
            token = self._token()
            if token.kind == "end":
                self.at += 1
                break
            if token.kind == "newline":
                rows, row = [*rows, tuple(row)], []
                self.at += 1
            elif self._decoration():
                self.at += 1
            elif self._starts() or self._peek("op", "-", "+"):
                row.append(self._expression())
            else:  # "&", and the bars and dots that decorate a column
                self.at += 1
        rows = [r for r in [*rows, tuple(row)] if r]
        if not rows:
            raise FormulaError("an empty matrix")
        return Matrix(tuple(rows))

    def _decoration(self) -> bool:
        """The bars that draw a column in `[ | & | ]`."""
        following = self._token(1)
        return self._peek("op", "|") and (following.kind in ("newline", "end") or following.text in ("&", "|"))

    def _superscript(self, base: Node, raw: list[Token]) -> Node:
        words = "".join(t.text for t in raw if t.kind != "op" or t.text not in "{}")
        if words in S.TRANSPOSES:
            return Transpose(base)
        if words in ("+", "dagger", "†"):
            return PseudoInverse(base)
        if words in ("*", "star"):
            return base
        if words in ("'", "prime"):
            return Prime(base)
        if words[:1] == "(" and words[-1:] == ")" and isinstance(base, Symbol):
            return Symbol(base.name, (base.index + words).strip())
        if raw and raw[0].text in ("T", "top") and len(raw) > 1 and raw[1].kind == "name":
            return Multiply((Transpose(base), self._sub(raw[1:])), (False,))
        return Power(base, self._sub(raw))

    def _sub(self, raw: list[Token]) -> Node:
        reader = _Reader(raw, self.quantity, self.depth + 1)
        node = reader._expression()
        if reader.at < len(raw):
            raise FormulaError("an exponent that is no expression")
        return node

    def _raw(self) -> list[Token]:
        """The tokens of a script: a braced (or, after a sum, parenthesised) group, or one token."""
        if self.at >= len(self.tokens):
            raise FormulaError("a script is missing")
        first = self._next()
        if first.kind == "op" and first.text == "-" and self._token().kind in ("number", "name"):  # x^-1
            return [first, self._next()]
        pairs = {"{": "}", "(": ")"}
        if first.kind != "op" or first.text not in pairs:
            return [first]
        depth, out = 1, []
        while self.at < len(self.tokens):
            token = self._next()
            depth += (token.text == first.text) - (token.text == pairs[first.text])
            if depth == 0:
                break
            out.append(token)
        return out if first.text == "{" else _unless_label(out, first)

    # ---- cursor -------------------------------------------------------------------------------------------

    def _token(self, ahead: int = 0) -> Token:
        return self._at(self.at + ahead)

    def _at(self, where: int) -> Token:
        return self.tokens[where] if where < len(self.tokens) else Token("op", "end")

    def _next(self) -> Token:
        token = self._token()
        self.at += 1
        return token

    def _peek(self, kind: str, *texts: str) -> bool:
        token = self._token()
        return token.kind == kind and (not texts or token.text in texts)


def _opened(tokens: list[Token]) -> list[Token]:
    """Brackets around whole statements, `(beta >> 0)` or `\\boxed{q = ...}`, become separators."""
    stack: list[tuple[int, bool]] = []
    loose: set[int] = set()
    for k, token in enumerate(tokens):
        if token.kind == "op" and token.text in ("(", "{"):
            stack.append((k, False))
        elif token.kind == "op" and token.text in (")", "}") and stack:
            start, stated = stack.pop()
            script = start > 0 and tokens[start - 1].kind == "op" and tokens[start - 1].text in "_^"
            if stated and not script:
                loose |= {start, k}
        elif stack and (token.kind in ("relation", "consequence", "text") or token.text in ("because", "∵", "forall")):
            stack[-1] = (stack[-1][0], True)
    return [Token("separator", t.text) if k in loose else t for k, t in enumerate(tokens)]


def join(first: Chain, second: Chain) -> Chain | None:
    """One statement out of two pieces, when the first lacks its end or the second its beginning."""
    open_end, open_start = isinstance(first.terms[-1], Missing), isinstance(second.terms[0], Missing)
    if open_end and open_start:  # "... =" in one block and "= ..." in the next
        return Chain(first.terms[:-1] + second.terms[1:], first.relations[:-1] + second.relations)
    if open_end:
        return Chain(first.terms[:-1] + second.terms, first.relations + second.relations)
    if open_start:
        return Chain(first.terms + second.terms[1:], first.relations + second.relations)
    return None


def _product(factors: list[Node], dotted: list[bool]) -> Node:
    return factors[0] if len(factors) == 1 else Multiply(tuple(factors), tuple(dotted))


def _applicable(base: Node) -> bool:
    while isinstance(base, (Prime, Transpose)):
        base = base.of
    return isinstance(base, Symbol)


def _unless_label(out: list[Token], opening: Token) -> list[Token]:
    """`q^(1)` keeps its parentheses, as `q^{(1)}` does; `sum_(i=1)` loses them."""
    if len(out) == 1 and out[0].kind in ("number", "name"):
        return [opening, *out, Token("op", ")")]
    return out


def _indexed(base: Node, raw: list[Token]) -> Node:
    text = _spell(raw)
    if isinstance(base, Symbol):
        return Symbol(base.name, base.index + text)
    if isinstance(base, (Transpose, Prime, PseudoInverse)):
        return type(base)(_indexed(base.of, raw))
    return base


def _spell(tokens: list[Token]) -> str:
    return "".join(t.text for t in tokens if not (t.kind == "op" and t.text in ("{", "}")))[:40]


def _index(low: list[Token], high: list[Token], reader: _Reader) -> Index:
    """`i=1`, `i \\neq a, b`, `i \\notin \\{a, b\\}`, `i`, or nothing."""
    names = [t.text for t in low if t.kind in ("name", "number")]
    variable = names[0] if names else ""
    relation = next((t.text for t in low if t.kind == "relation"), "")
    where = next((k for k, t in enumerate(low) if t.kind == "relation"), 0)
    rest = [t.text for t in low[where + 1 :] if t.kind in ("name", "number") and t.text != variable]
    if any(t.kind == "relation" and t.text in ("!=", "notin") for t in low):
        return Index(variable, excluded=tuple(n for n in rest if not n.isdigit() or relation != "="))
    if relation == "in" and any(t.text == "\\{" for t in low) and all(len(r) == 1 for r in rest):
        dotted = any(t.kind == "dots" for t in low)
        return Index(variable) if dotted else Index(variable, included=tuple(rest))
    if relation == "=" and high:
        return Index(variable, reader._sub(low[where + 1 :]), reader._sub(high))
    return Index(variable)
