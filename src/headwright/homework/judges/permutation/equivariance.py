"""Permuted rows (p.perm): equations about the permuted input are computed on random matrices."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from headwright.homework.judges.claims import (
    EQUALITIES,
    consistent_members,
    evaluated,
    letters,
    nodes,
)
from headwright.homework.judges.permutation.notation import PERMUTATIONS, Notation, with_names
from headwright.homework.judges.permutation.random_layer import SIZE, TOLERANCE, layer_weights
from headwright.homework.judges.steps.check import Step
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning.formula import Chain, Node, Symbol, symbols, tree
from headwright.homework.meaning.statements import Statement
from headwright.homework.scenes.arithmetic import Mismatch, Value, agree
from headwright.homework.verdict import Outcome

_OUTPUTS = ("H", "Z", "Y", "O")
_APPLIED = ("Attention", "f", "F", "Z", "H", "T")  # written with an argument


class Equation(NamedTuple):
    statement: Statement
    outcome: Outcome
    about_output: bool  # of the layer, on the permuted input


def judge_equivariance(answer: Answer) -> Judged:
    """The last equation that is about the permuted output decides; false equations before it are
    counterexamples."""
    checked = _checked_equations(answer)
    if not checked:
        return unread("no equation about the permuted input could be evaluated")
    false = [equation for equation in checked if equation.outcome.status == "wrong"]
    final = [equation for equation in checked if equation.about_output]
    if final and final[-1].outcome.status == "wrong":
        return Judged(final[-1].outcome, (final[-1].statement,))
    if false:
        reason = f"an equation on the way is false as read: {false[0].outcome.reason}"
        return Judged(Outcome("unread", reason), (false[0].statement,))
    if final:
        held = f"the {len(checked)} equations that could be evaluated hold"
        reason = f"{held} for random X, W and P (rows permuted)"
        return Judged(Outcome("correct", reason), (final[-1].statement,))
    return unread("the equations found hold, but none says what happens to the output")


def check_equations(answer: Answer, judged: Judged) -> list[Step]:
    """The equations on the way: those about Q, K, V and S, reported under that letter."""
    return [
        (_step_name(equation.statement), equation.statement, equation.outcome)
        for equation in _checked_equations(answer)
        if not equation.about_output and equation.statement not in judged.chosen
    ]


def _step_name(statement: Statement) -> str:
    found = symbols(statement.chain.terms[0])
    name = found[0].name[:1] if found else "equation"
    return "scores" if name == "S" else name


def _checked_equations(answer: Answer) -> list[Equation]:
    """The equations about the permuted input that can be evaluated."""
    notation = Notation(feed_forward=_has_feed_forward(answer))
    checked = []
    for statement in answer.statements:
        chain = with_names(statement.chain)
        if not chain.relations or not _mentions_permutation(chain, notation):
            continue
        outcome = _outcome(chain, notation)
        if outcome is not None:
            checked.append(Equation(statement, outcome, _is_about_output(chain, notation)))
    return checked


def _has_feed_forward(answer: Answer) -> bool:
    used = [symbol for s in answer.statements for symbol in letters(s.chain.terms)]
    return any(s.name in ("b", "ReLU", "relu") or s == Symbol("W", "1") for s in used)


def _mentions_permutation(chain: Chain, notation: Notation) -> bool:
    for symbol in letters(chain.terms):
        if symbol.name in PERMUTATIONS or notation.marked(symbol) or symbol in notation.own:
            return True
    return False


def _outcome(chain: Chain, notation: Notation) -> Outcome | None:
    """None where nothing can be said; definitions are entered into the notation."""
    first = chain.terms[0]
    if _becomes(chain) and isinstance(first, Symbol) and first.name in notation.permuted:
        goal = notation.permuted[first.name]
        return _compared([(first, goal), *evaluated(chain.terms[1:], notation)])
    if not set(chain.relations) <= EQUALITIES:
        return None
    try:
        found = evaluated(chain.terms, notation)
    except Mismatch as error:
        repair = "multiply P from the left: rows are tokens"
        return Outcome("wrong", f"the equation has no value: {error}", repair=repair)
    if isinstance(first, Symbol) and found and found[0][0] is not first:
        notation.own[first] = found[0][1]  # a definition
    return _compared(found)


def _becomes(chain: Chain) -> bool:
    """`Z -> P Z`"""
    return chain.relations[0] == "->" and len(chain.terms) == 2


def _compared(found: list[tuple[Node, Value]]) -> Outcome | None:
    if len(found) < 2:
        return None
    for (_, left), (_, right) in itertools.pairwise(found):
        if not agree(left, right, TOLERANCE):
            return _different(left, right)
    return Outcome("correct", "both sides agree to rounding")


def _different(left: Value, right: Value) -> Outcome:
    off = np.inf
    if np.shape(left) == np.shape(right):
        off = float(np.abs(np.subtract(left, right)).max())
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


def _is_about_output(chain: Chain, notation: Notation) -> bool:
    """Does one member stand for the layer's output on the permuted input?"""
    if any(_names_output(term, chain, notation) for term in chain.terms):
        return True
    if not any(isinstance(n, tree.Call) and n.function == "softmax" for n in nodes(chain.terms)):
        return False
    found = consistent_members(chain.terms, notation)
    return any(agree(value, notation.permuted["H"], TOLERANCE) for value in found)


def _names_output(term: Node, chain: Chain, notation: Notation) -> bool:
    if isinstance(term, tree.Apply):
        return isinstance(term.head, Symbol) and term.head.name in _APPLIED
    if not isinstance(term, Symbol):
        return False
    if notation.marked(term) in _OUTPUTS:
        return True
    return term.name in _OUTPUTS and not term.index and chain.relations[0] == "->"
