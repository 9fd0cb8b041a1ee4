"""What stands between two signs: brackets and lists, norms, fractions, roots, sums, functions,
matrices.

Each function reads one of them at the reader's cursor; the reader (`expressions`) reads what is
inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwright.homework.meaning.formula import tree, vocabulary
from headwright.homework.meaning.formula.tokens import FormulaError, Token
from headwright.homework.meaning.formula.tree import Node, Symbol

if TYPE_CHECKING:
    from headwright.homework.meaning.formula.expressions import Reader

_CLOSING = {"(": ")", "[": "]", "\\{": "\\}", "{": "}"}
# A wrong closing bracket counts, too: `[0, 1)`, `\left( ... \right]`.
_CLOSES = {")": (")", "]"), "]": ("]", ")"), "\\}": ("\\}", "}"), "}": ("}",)}


def bracketed(reader: Reader) -> Node:
    """`( x )` is x; `[x, y]`, `\\{x, y\\}` are lists."""
    opening = reader.cursor.token().text
    if opening in ("|", "‖"):
        return norm(reader)
    items = listed(reader, _CLOSING[opening])
    if len(items) == 1 and opening != "\\{":
        return items[0]
    return tree.Bracket("{" if opening == "\\{" else opening, items)


def listed(reader: Reader, closing: str) -> tuple[Node, ...]:
    """The items from the opening bracket on."""
    cursor = reader.cursor
    items: list[Node] = []
    with cursor.deeper():
        bars, cursor.bars = cursor.bars, []
        cursor.at += 1
        while not _closed(reader, closing):
            if cursor.peek("op", ",", ";", "&") or cursor.token().kind in ("separator", "newline"):
                cursor.at += 1
            elif cursor.starts() or cursor.peek("op", "+", "-", "±"):
                items.append(reader.expression())
            else:
                raise FormulaError(f"'{cursor.token().text}' inside brackets")
        cursor.bars = bars
    if not items:
        raise FormulaError("empty brackets")
    return tuple(items)


def _closed(reader: Reader, closing: str) -> bool:
    cursor = reader.cursor
    # An unbalanced bracket at the end is forgiven
    return cursor.done or cursor.take("op", *_CLOSES[closing])


def norm(reader: Reader) -> Node:
    cursor = reader.cursor
    bar = cursor.next().text
    if bar == "|":
        cursor.take("op", "|")  # ||x|| typed as two bars
    cursor.bars.append(bar)
    inner = reader.expression()
    cursor.bars.pop()
    if not cursor.take("op", bar):
        raise FormulaError("a norm is not closed")
    if bar == "|":
        cursor.take("op", "|")
    if cursor.take("op", "_"):
        cursor.script()
    return tree.Norm(inner)


def fraction(reader: Reader) -> Node:
    token = reader.cursor.token()
    if token.kind == "number" and len(token.text) > 1 and token.text.isdigit():  # \frac12
        reader.cursor.at += 1
        return tree.Divide(tree.Number(float(token.text[0])), tree.Number(float(token.text[1:])))
    if reader.cursor.peek("op", "("):  # frac(1, 2) as Typst writes it
        items = listed(reader, ")")
        return tree.Divide(items[0], items[-1])
    above = reader.argument()
    return tree.Divide(above, reader.argument())


def root(reader: Reader) -> Node:
    if reader.cursor.peek("op", "["):
        degree = listed(reader, "]")[0]
        return tree.Power(reader.argument(), tree.Divide(tree.Number(1.0), degree))
    return tree.Call("sqrt", (reader.argument(),))


def inner_product(reader: Reader) -> Node:
    left = reader.expression()
    reader.cursor.take("op", ",", "|")
    right = reader.expression()
    if not reader.cursor.take("command", "rangle"):
        raise FormulaError("an inner product is not closed")
    return tree.Call("dot", (left, right))


def accent(reader: Reader, name: str) -> Node:
    inner = reader.argument()
    return (
        Symbol(inner.name + vocabulary.ACCENTS[name], inner.index)
        if isinstance(inner, Symbol)
        else inner
    )


def function(reader: Reader) -> Node:
    """`exp(x)`, `exp^{x}`, `ln 2`, `max_{i != j} x_i`."""
    cursor = reader.cursor
    name = cursor.next().text
    if name == "lim":
        return limit(reader)
    if name in ("max", "min") and cursor.peek("op", "_"):
        return tree.Extreme(name, _index(reader, *_limits(reader)), reader.term())
    if cursor.take("op", "_"):  # \log_2, softmax_i
        cursor.script()
    if cursor.take("op", "^"):
        return tree.Call(name, (reader.inside(cursor.script()),))
    if cursor.peek("op", "(", "[", "{"):
        return reader.postfix(tree.Call(name, listed(reader, _CLOSING[cursor.token().text])))
    return tree.Call(name, (reader.term(),))


def total(reader: Reader) -> Node:
    low, high = _limits(reader)
    return tree.Sum(_index(reader, low, high), reader.term())


def limit(reader: Reader) -> Node:
    _limits(reader)
    return reader.term()


def _limits(reader: Reader) -> tuple[list[Token], list[Token]]:
    low: list[Token] = []
    high: list[Token] = []
    while reader.cursor.peek("op", "_", "^"):
        if reader.cursor.next().text == "_":
            low = reader.cursor.script()
        else:
            high = reader.cursor.script()
    return low, high


def _index(reader: Reader, low: list[Token], high: list[Token]) -> tree.Index:
    """`i=1`, `i \\neq a, b`, `i \\notin \\{a, b\\}`, `i`, or nothing."""
    names = [t.text for t in low if t.kind in ("name", "number")]
    variable = names[0] if names else ""
    relation = next((t.text for t in low if t.kind == "relation"), "")
    where = next((k for k, t in enumerate(low) if t.kind == "relation"), 0)
    rest = [t.text for t in low[where + 1 :] if t.kind in ("name", "number") and t.text != variable]
    if any(t.kind == "relation" and t.text in ("!=", "notin") for t in low):
        return tree.Index(
            variable, excluded=tuple(n for n in rest if not n.isdigit() or relation != "=")
        )
    if relation == "in" and any(t.text == "\\{" for t in low) and all(len(r) == 1 for r in rest):
        dotted = any(t.kind == "dots" for t in low)
        return tree.Index(variable) if dotted else tree.Index(variable, included=tuple(rest))
    if relation == "=" and high:
        return tree.Index(variable, reader.inside(low[where + 1 :]), reader.inside(high))
    return tree.Index(variable)


def sums(reader: Reader) -> bool:
    """Is the Sigma just read a sum? It is with a range, or before weights or exponentials: `Sigma
    alpha_i = 1`."""
    cursor = reader.cursor
    look, ranged = 0, False
    while cursor.token(look).text in ("_", "^") and cursor.token(look + 1).text != "end":
        start = look + 1
        look = _after_script(reader, start)
        ranged |= any(cursor.token(k).kind == "relation" for k in range(start, look))
    following = cursor.token(look)
    weights = following in (Token("name", "alpha"), Token("function", "exp"), Token("name", "e"))
    indexed = look == 0 and following.kind == "name" and cursor.token(1).text == "_"
    return ranged or weights or indexed


def _after_script(reader: Reader, look: int) -> int:
    if reader.cursor.token(look).text != "{":
        return look + 1
    while reader.cursor.token(look).text not in ("}", "end"):
        look += 1
    return look + 1


def matrix(reader: Reader) -> Node:
    cursor = reader.cursor
    rows: list[tuple[Node, ...]] = []
    row: list[Node] = []
    while not cursor.done and not cursor.take("end"):
        if cursor.take("newline"):
            rows, row = [*rows, tuple(row)], []
        elif not _decoration(reader) and (cursor.starts() or cursor.peek("op", "-", "+")):
            row.append(reader.expression())
        else:  # "&", and the bars and dots that decorate a column
            cursor.at += 1
    rows = [r for r in [*rows, tuple(row)] if r]
    if not rows:
        raise FormulaError("an empty matrix")
    return tree.Matrix(tuple(rows))


def _decoration(reader: Reader) -> bool:
    """The bars that draw a column in `[ | & | ]`."""
    following = reader.cursor.token(1)
    return reader.cursor.peek("op", "|") and (
        following.kind in ("newline", "end") or following.text in ("&", "|")
    )
