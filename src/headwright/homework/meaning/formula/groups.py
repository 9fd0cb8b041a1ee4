"""What stands between two signs: brackets and lists, norms, fractions, roots, sums, functions.

Each function reads one of them at the reader's cursor, and asks the reader for what is inside.
"""

from __future__ import annotations

from headwright.homework.meaning.formula import grids, tree, vocabulary
from headwright.homework.meaning.formula.cursor import ExpressionReader
from headwright.homework.meaning.formula.tokens import FormulaError, Token
from headwright.homework.meaning.formula.tree import Node, Symbol

_CLOSING = {"(": ")", "[": "]", "\\{": "\\}", "{": "}"}
# A wrong closing bracket counts, too: `[0, 1)`, `\left( ... \right]`.
_CLOSES = {")": (")", "]"), "]": ("]", ")"), "\\}": ("\\}", "}"), "}": ("}",)}


def bracketed(reader: ExpressionReader) -> Node:
    """`( x )` is x; `[x, y]`, `\\{x, y\\}` are lists."""
    opening = reader.cursor.token().text
    if opening in ("|", "‖"):
        return norm(reader)
    columns = grids.columns(reader) if opening == "[" else ()
    items = columns or listed(reader, _CLOSING[opening])
    if len(items) == 1 and opening in ("(", "["):
        items = _side_by_side(items[0])
    if len(items) == 1 and opening != "\\{":
        return items[0]
    return tree.Bracket("{" if opening == "\\{" else opening, items)


def _side_by_side(item: Node) -> tuple[Node, ...]:
    """`[a_1 a_2 ... a_m]` without commas: an ellipsis is no factor."""
    if isinstance(item, tree.Multiply) and any(isinstance(f, tree.Dots) for f in item.factors):
        return item.factors
    return (item,)


def listed(reader: ExpressionReader, closing: str) -> tuple[Node, ...]:
    """The items from the opening bracket on."""
    cursor = reader.cursor
    items: list[Node] = []
    with cursor.deeper():
        bars = cursor.bars
        cursor.bars = []
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


def _closed(reader: ExpressionReader, closing: str) -> bool:
    cursor = reader.cursor
    # An unbalanced bracket at the end is forgiven
    return cursor.done or cursor.take("op", *_CLOSES[closing])


def norm(reader: ExpressionReader) -> Node:
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


def fraction(reader: ExpressionReader) -> Node:
    token = reader.cursor.token()
    if token.kind == "number" and len(token.text) > 1 and token.text.isdigit():  # \frac12
        reader.cursor.at += 1
        above = tree.Number(float(token.text[0]))
        below = tree.Number(float(token.text[1:]))
        return tree.Divide(above, below)
    if reader.cursor.peek("op", "("):  # frac(1, 2) as Typst writes it
        items = listed(reader, ")")
        return tree.Divide(items[0], items[-1])
    above = reader.argument()
    return tree.Divide(above, reader.argument())


def root(reader: ExpressionReader) -> Node:
    if reader.cursor.peek("op", "["):
        degree = listed(reader, "]")[0]
        exponent = tree.Divide(tree.Number(1.0), degree)
        return tree.Power(reader.argument(), exponent)
    return tree.Call("sqrt", (reader.argument(),))


def inner_product(reader: ExpressionReader) -> Node:
    left = reader.expression()
    reader.cursor.take("op", ",", "|")
    right = reader.expression()
    if not reader.cursor.take("command", "rangle"):
        raise FormulaError("an inner product is not closed")
    return tree.Call("dot", (left, right))


def inner_product_of_arguments(reader: ExpressionReader) -> Node:
    left = reader.argument()
    return tree.Call("dot", (left, reader.argument()))


def accent(reader: ExpressionReader, name: str) -> Node:
    inner = reader.argument()
    if not isinstance(inner, Symbol):
        return inner
    return Symbol(inner.name + vocabulary.ACCENTS[name], inner.index)


def function(reader: ExpressionReader) -> Node:
    """`exp(x)`, `exp^{x}`, `ln 2`, `max_{i != j} x_i`."""
    cursor = reader.cursor
    name = cursor.next().text
    if name == "lim":
        return limit(reader)
    if name in ("max", "min") and cursor.peek("op", "_"):
        over = _index(reader, *_limits(reader))
        return tree.Extreme(name, over, reader.term())
    if cursor.take("op", "_"):  # \log_2, softmax_i
        cursor.script()
    if cursor.take("op", "^"):
        return tree.Call(name, (reader.inside(cursor.script()),))
    if cursor.peek("op", "(", "[", "{"):
        closing = _CLOSING[cursor.token().text]
        return reader.postfix(tree.Call(name, listed(reader, closing)))
    return tree.Call(name, (reader.term(),))


def total(reader: ExpressionReader) -> Node:
    over = _index(reader, *_limits(reader))
    return tree.Sum(over, reader.term())


def limit(reader: ExpressionReader) -> Node:
    _limits(reader)
    return reader.term()


def _limits(reader: ExpressionReader) -> tuple[list[Token], list[Token]]:
    low: list[Token] = []
    high: list[Token] = []
    while reader.cursor.peek("op", "_", "^"):
        if reader.cursor.next().text == "_":
            low = reader.cursor.script()
        else:
            high = reader.cursor.script()
    return low, high


def _index(reader: ExpressionReader, low: list[Token], high: list[Token]) -> tree.Index:
    """`i=1`, `i \\neq a, b`, `i \\notin \\{a, b\\}`, `i`, or nothing."""
    names = _names(low)
    variable = names[0] if names else ""
    relations = [t.text for t in low if t.kind == "relation"]
    relation = relations[0] if relations else ""
    where = low.index(Token("relation", relation)) if relations else 0
    behind = low[where + 1 :]
    rest = tuple(name for name in _names(behind) if name != variable)

    if "!=" in relations or "notin" in relations:
        # The 1 of `i = 1, i != j` is where the sum begins
        excluded = [name for name in rest if relation != "=" or not name.isdigit()]
        return tree.Index(variable, excluded=tuple(excluded))
    if relation == "in" and _lists_letters(low, rest):
        return tree.Index(variable, included=rest)
    if relation == "=" and not high and rest and all(name.isalpha() for name in rest):
        return tree.Index(variable, included=rest)
    if relation == "=" and high:
        return tree.Index(variable, reader.inside(behind), reader.inside(high))
    return tree.Index(variable)


def _names(tokens: list[Token]) -> list[str]:
    return [t.text for t in tokens if t.kind in ("name", "number")]


def _lists_letters(low: list[Token], rest: tuple[str, ...]) -> bool:
    """`i in \\{a, b\\}`, but not `i in \\{1, ..., n\\}`"""
    in_braces = any(t.text == "\\{" for t in low)
    dotted = any(t.kind == "dots" for t in low)
    return in_braces and not dotted and all(len(name) == 1 for name in rest)


def is_sum(reader: ExpressionReader) -> bool:
    """Is the Sigma just read a sum? It is with a range, or before weights or exponentials: `Sigma
    alpha_i = 1`."""
    cursor = reader.cursor
    look = 0
    ranged = False
    while cursor.token(look).text in ("_", "^") and cursor.token(look + 1).text != "end":
        start = look + 1
        look = _after_script(reader, start)
        ranged |= any(cursor.token(k).kind == "relation" for k in range(start, look))
    following = cursor.token(look)
    weights = following in (Token("name", "alpha"), Token("function", "exp"), Token("name", "e"))
    indexed = look == 0 and following.kind == "name" and cursor.token(1).text == "_"
    return ranged or weights or indexed


def _after_script(reader: ExpressionReader, look: int) -> int:
    if reader.cursor.token(look).text != "{":
        return look + 1
    while reader.cursor.token(look).text not in ("}", "end"):
        look += 1
    return look + 1
