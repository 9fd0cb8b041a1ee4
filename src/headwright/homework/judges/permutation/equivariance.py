"""Permuted rows (p.perm): a proof is judged equation by equation, on random matrices.

The letters are read in the way that makes most equations true. An equation is false only where no
way of reading makes it true and every letter of it has one meaning; otherwise it says nothing.
"""

from __future__ import annotations

import numpy as np

from headwright.homework.judges.permutation.equations import Equation, read_proof
from headwright.homework.judges.permutation.random_layer import SIZE, layer_weights
from headwright.homework.judges.steps.check import Step
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning.formula import symbols
from headwright.homework.meaning.statements import Statement
from headwright.homework.verdict import Outcome

REPAIR = "permute rows, from the left: Attention(P X) = P Attention(X)"


def judge_equivariance(answer: Answer) -> Judged:
    """Right: what becomes of the output is said, and how the softmax lets P pass. Wrong: what is
    said of the output is false."""
    proof = read_proof(answer)
    if not proof:
        return unread("no equation about the permuted input could be evaluated")

    false = [equation for equation in proof if equation.is_false]
    concluding = [equation for equation in proof if equation.concludes]
    claims = [one for one in false if one.about_output and not one.claim_holds]
    if claims and not concluding:
        return Judged(_outcome(claims[-1]), (claims[-1].statement,))
    if false:
        reason = f"an equation on the way is false as read: {_outcome(false[0]).reason}"
        return Judged(Outcome("unread", reason), (false[0].statement,))
    if not concluding:
        return unread("no equation that holds as read says what happens to the output")
    if not any(equation.passes_softmax for equation in proof):
        return unread("what happens to the output is said, but not how P passes the softmax")

    true = [equation for equation in proof if equation.is_true]
    reason = f"equations that hold for random X, W and P (rows permuted): {len(true)}"
    return Judged(Outcome("correct", reason), (concluding[-1].statement,))


def check_equations(answer: Answer, judged: Judged) -> list[Step]:
    """The equations on the way: those about Q, K, V and S, reported under that letter."""
    return [
        (_step_name(equation.statement), equation.statement, _outcome(equation))
        for equation in read_proof(answer)
        if not equation.about_output and equation.statement not in judged.chosen
    ]


def _step_name(statement: Statement) -> str:
    found = symbols(statement.chain.terms[0])
    name = found[0].name[:1] if found else "equation"
    return "scores" if name == "S" else name


def _outcome(equation: Equation) -> Outcome:
    if equation.is_true:
        return Outcome("correct", "both sides agree to rounding")
    if not equation.is_false or equation.differing is None:
        return Outcome("unread", "what its letters stand for is not certain")
    left, right = equation.differing
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
        REPAIR,
    )
