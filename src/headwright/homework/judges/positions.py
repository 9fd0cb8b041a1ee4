"""Do positions help (p.help)? A formula that separates P X + Phi from P (X + Phi) is computed; a
bare yes is thin."""

from __future__ import annotations

import numpy as np

from headwright.exercise.instances import SEED
from headwright.homework.judges.equivariance import SIZE, Ledger, layer, layer_weights
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Symbol
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, agree
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.verdict import Outcome

REPAIR = "say that P X + Phi differs from P (X + Phi)"


def judge_positions(answer: Answer) -> Judged:
    found = [(s, o) for s in answer.statements if (o := _separates(s.chain)) is not None]
    if found:
        return Judged(found[-1][1], (found[-1][0],))
    short = len(answer.prose.split()) <= 4 and not answer.statements
    if short and words.says("yes", answer.prose):
        return Judged(
            Outcome("incomplete", "a bare yes: it is not said why", repair=REPAIR),
        )
    return unread("an answer in words: quoted, not judged")


def _separates(chain: Chain) -> Outcome | None:
    """`P X + Phi != P (X + Phi)`, or an equation that claims they are equal."""
    W = layer_weights()
    plain = layer(W["X"], feed_forward=False)
    phi = np.random.default_rng(SEED + 1).standard_normal((SIZE, SIZE))
    own = {Symbol("Phi"): phi, Symbol("phi"): phi, Symbol("E"): phi, Symbol("PE"): phi}
    ledger = Ledger(plain, layer(W["P"] @ W["X"], feed_forward=False), False, own)  # type: ignore[arg-type]
    if chain.relations not in (("!=",), ("=",)):
        return None
    try:
        left, right = (evaluate(t, ledger) for t in chain.terms)
    except (Unknown, Mismatch):
        return None
    equal = agree(left, right, 1e-8)
    if equal == (chain.relations == ("=",)):
        return Outcome("correct", "computed: positions break the symmetry") if not equal else None
    found = "equal" if equal else "different"
    return Outcome(
        "wrong", f"computed on random X, P and Phi, the two sides are {found}", repair=REPAIR
    )
