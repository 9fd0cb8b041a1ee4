"""Permuted rows (p.perm): every equation about the permuted input is computed on random matrices.

Rows of X are tokens and P multiplies from the left. A letter with a mark (`X_perm`, `Q'`, `\\tilde
Z`) stands for its value on P X; a letter that the answer defines itself stands for what it was
defined as.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from headwright.exercise.instances import SEED
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, tree, walk
from headwright.homework.meaning.statements import Statement
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, Value, agree, softmax
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.verdict import Outcome

SIZE = 6
TOLERANCE = 1e-8
PERMUTATIONS = {"P", "Pi", "pi"}
MARKED = ("perm", "~", "^", "'", "p", "new", "P", "pi", "Pi", "-", "permuted")


@functools.cache
def layer_weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(SEED)
    out = {name: rng.standard_normal((SIZE, SIZE)) for name in ("Q", "K", "V", "1", "2", "O")}
    out |= {f"b{k}": np.tile(rng.standard_normal(SIZE), (SIZE, 1)) for k in ("1", "2")}
    out["X"] = rng.standard_normal((SIZE, SIZE))
    out["P"] = np.eye(SIZE)[[2, 0, 4, 1, 5, 3]]
    return out


def layer(X: np.ndarray, *, feed_forward: bool) -> dict[str, np.ndarray]:
    """Q, K, V, the scores S, the weights A, the output H and (after the feed-forward layer) Z."""
    W = layer_weights()
    Q, K, V = X @ W["Q"], X @ W["K"], X @ W["V"]
    S = Q @ K.T / np.sqrt(SIZE)
    A = np.asarray(softmax(S))
    H = A @ V
    Z = np.maximum(H @ W["1"] + W["b1"], 0) @ W["2"] + W["b2"] if feed_forward else H
    return {
        "X": X,
        "Q": Q,
        "K": K,
        "V": V,
        "S": S,
        "A": A,
        "H": H,
        "Z": Z,
        "Y": Z,
        "O": H,
        "Attention": H,
    }


@dataclass
class Ledger:
    """What letters stand for so far; the answer's own definitions are added as they are met."""

    plain: Mapping[str, np.ndarray]
    permuted: Mapping[str, np.ndarray]
    feed_forward: bool
    own: dict[Symbol, Value] = field(default_factory=dict)

    def value(self, symbol: Symbol, bound: Mapping[str, int]) -> Value:
        if symbol in self.own:
            return self.own[symbol]
        if symbol.name in PERMUTATIONS and not symbol.index:
            return layer_weights()["P"]
        if symbol.name == "W" and symbol.index in ("Q", "K", "V", "q", "k", "v", "1", "2", "O"):
            return layer_weights()[symbol.index.upper()]
        if symbol.name == "b" and symbol.index in ("1", "2"):
            return layer_weights()[f"b{symbol.index}"]
        if symbol.name == "I":
            return np.eye(SIZE)
        if symbol.name == "d":
            return float(SIZE)
        base = self.marked(symbol)
        if base:
            return self.permuted[base]
        if symbol.name in self.plain and not symbol.index:
            return self.plain[symbol.name]
        raise Unknown(f"what {symbol.name} stands for")

    def marked(self, symbol: Symbol) -> str:
        """`X_perm`, `X'`, `\\tilde X` -> X."""
        for mark in MARKED:
            if (
                symbol.name.endswith(mark)
                and symbol.name[: -len(mark)] in self.plain
                and not symbol.index
            ):
                return symbol.name[: -len(mark)]
            if symbol.index == mark and symbol.name in self.plain:
                return symbol.name
        return ""

    def function(self, symbol: Node) -> Callable[..., Value] | None:
        if not isinstance(symbol, Symbol) or symbol.index:
            return None
        if symbol.name in ("R", "ReLU", "relu"):
            return lambda x: np.maximum(x, 0)
        name = {"f": "Z", "F": "Z", "T": "Z", "g": "Z"}.get(symbol.name, symbol.name)
        if (
            name in ("Q", "K", "V", "S", "A", "H", "Z", "O", "Y", "Attention")
            and name in self.plain
        ):
            return lambda *x: self._applied(name, x)
        return None

    def _applied(self, name: str, x: tuple[Value, ...]) -> Value:
        if len(x) == 3 and name == "Attention" and all(isinstance(m, np.ndarray) for m in x):
            Q, K, V = x
            return np.asarray(softmax(Q @ K.T / np.sqrt(SIZE))) @ V  # type: ignore[union-attr]
        if len(x) != 1 or np.shape(x[0]) != (SIZE, SIZE):
            raise Unknown(f"{name} of that")
        return layer(np.asarray(x[0]), feed_forward=self.feed_forward)[name]

    def run(self, over: tree.Index, body: Node) -> list[int]:
        raise Unknown("a sum")

    def family(self, symbol: Symbol) -> np.ndarray | None:
        return None

    def word(self, text: str) -> Value:
        raise Unknown(text)


def judge_equivariance(answer: Answer) -> Judged:
    """The last equation that is about the permuted output decides; false equations before it are
    counterexamples."""
    checked = checked_equations(answer)
    if not checked:
        return unread("no equation about the permuted input could be evaluated")
    false = [(s, o) for s, o, _ in checked if o.status == "wrong"]
    final = [(s, o) for s, o, about in checked if about]
    if final and final[-1][1].status == "wrong":
        return Judged(final[-1][1], (final[-1][0],))
    if false:
        return Judged(
            Outcome("unread", f"an equation on the way is false as read: {false[0][1].reason}"),
            (false[0][0],),
        )
    if final:
        reason = f"the {len(checked)} equations that could be evaluated hold for random X, W and P (rows permuted)"
        return Judged(Outcome("correct", reason), (final[-1][0],))
    return unread("the equations found hold, but none says what happens to the output")


def checked_equations(answer: Answer) -> list[tuple[Statement, Outcome, bool]]:
    """Each equation with its outcome, and whether it is about the output of the layer."""
    feed = any(
        s.name in ("b", "ReLU", "relu") or s == Symbol("W", "1")
        for p in answer.statements
        for t in p.chain.terms
        for s in tree.symbols(t)
    )
    W = layer_weights()
    ledger = Ledger(
        layer(W["X"], feed_forward=feed), layer(W["P"] @ W["X"], feed_forward=feed), feed
    )
    out = []
    for statement in answer.statements:
        chain = _relabelled(statement.chain)
        if not chain.relations or not _mentions_permutation(chain, ledger):
            continue
        outcome = _equation(chain, ledger)
        if outcome is not None:
            out.append((statement, outcome, _about_output(chain, ledger)))
    return out


def _relabelled(chain: Chain) -> Chain:
    """`W^Q` is a name, not a power; `X'` as well."""
    return Chain(tuple(_names(t) for t in chain.terms), chain.relations)


def _names(node: Node) -> Node:
    if (
        isinstance(node, tree.Power)
        and isinstance(node.base, Symbol)
        and isinstance(node.exponent, Symbol)
    ):
        return Symbol(node.base.name, node.exponent.name)
    if isinstance(node, tree.Prime) and isinstance(node.of, Symbol):
        return Symbol(node.of.name + "'", node.of.index)
    if isinstance(node, tree.Multiply):
        return tree.Multiply(tuple(_names(f) for f in node.factors), node.dotted)
    if isinstance(node, (tree.Transpose, tree.Negate)):
        return type(node)(_names(node.of))
    if isinstance(node, tree.Divide):
        return tree.Divide(_names(node.above), _names(node.below))
    if isinstance(node, tree.Call):
        return tree.Call(node.function, tuple(_names(a) for a in node.arguments))
    if isinstance(node, tree.Apply):
        return tree.Apply(_names(node.head), tuple(_names(a) for a in node.arguments))
    if isinstance(node, tree.Add):
        return tree.Add(tuple(_names(t) for t in node.terms))
    return node


def _mentions_permutation(chain: Chain, ledger: Ledger) -> bool:
    found = [s for t in chain.terms for s in tree.symbols(t)]
    return any(s.name in PERMUTATIONS or ledger.marked(s) or s in ledger.own for s in found)


def _equation(chain: Chain, ledger: Ledger) -> Outcome | None:
    """None where nothing can be said; definitions are entered into the ledger."""
    first = chain.terms[0]
    if (
        chain.relations[0] == "->"
        and isinstance(first, Symbol)
        and first.name in ledger.permuted
        and len(chain.terms) == 2
    ):
        return _compare([(first, ledger.permuted[first.name]), *_values(chain.terms[1:], ledger)])
    if not set(chain.relations) <= {"=", "~="}:
        return None
    try:
        found = _values(chain.terms, ledger)
    except Mismatch as error:
        return Outcome(
            "wrong",
            f"the equation has no value: {error}",
            repair="multiply P from the left: rows are tokens",
        )
    if isinstance(first, Symbol) and found and found[0][0] is not first:
        ledger.own[first] = found[0][1]  # a definition
    return _compare(found)


def _values(terms: tuple[Node, ...], ledger: Ledger) -> list[tuple[Node, Value]]:
    out = []
    for term in terms:
        try:
            if not isinstance(term, Missing):
                out.append((term, evaluate(term, ledger)))
        except Unknown:
            continue
    return out


def _compare(found: list[tuple[Node, Value]]) -> Outcome | None:
    if len(found) < 2:
        return None
    for (_, left), (_, right) in itertools.pairwise(found):
        if not agree(left, right, TOLERANCE):
            off = (
                float(np.abs(np.subtract(left, right)).max())
                if np.shape(left) == np.shape(right)
                else np.inf
            )
            W = layer_weights()
            return Outcome(
                "wrong",
                f"the two sides differ by up to {off:.2g} for a random X of {SIZE} tokens",
                {
                    "P": W["P"].astype(int),
                    "X": W["X"].round(2),
                    "left": np.round(left, 2),
                    "right": np.round(right, 2),
                },
                "permute rows, from the left: Attention(P X) = P Attention(X)",
            )
    return Outcome("correct", "both sides agree to rounding")


def _about_output(chain: Chain, ledger: Ledger) -> bool:
    """Does one member stand for the layer's output on the permuted input?"""
    for term in chain.terms:
        if isinstance(term, Symbol) and ledger.marked(term) in ("H", "Z", "Y", "O"):
            return True
        if (
            isinstance(term, tree.Apply)
            and isinstance(term.head, Symbol)
            and term.head.name in ("Attention", "f", "F", "Z", "H", "T")
        ):
            return True
        if (
            isinstance(term, Symbol)
            and term.name in ("Z", "H", "Y", "O")
            and not term.index
            and chain.relations[0] == "->"
        ):
            return True
    return any(
        isinstance(n, tree.Call) and n.function == "softmax" for t in chain.terms for n in walk(t)
    ) and any(agree(v, ledger.permuted["H"], TOLERANCE) for _, v in _safe(chain.terms, ledger))


def _safe(terms: tuple[Node, ...], ledger: Ledger) -> list[tuple[Node, Value]]:
    try:
        return _values(terms, ledger)
    except Mismatch:
        return []
