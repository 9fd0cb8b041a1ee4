"""What the output is when key j takes all the weight (a.out): the chain `c = ... ~ v_j` is evaluated."""

from __future__ import annotations

import numpy as np

from headwright.exercise.instances import instances
from headwright.homework.answer import Answer, Judged, unread
from headwright.homework.arithmetic import Mismatch, agree
from headwright.homework.formula import Chain, symbols, tree, walk
from headwright.homework.judges.claims import NEAR, VALUE_NAMES, members
from headwright.homework.shapes import KEYS, OUTPUTS, head, tags
from headwright.homework.statements import Statement
from headwright.homework.target import LETTERS, target_letter
from headwright.homework.verdict import Outcome
from headwright.homework.worlds import Roles, Scene


def judge_output(answer: Answer) -> Judged:
    """Every readable member of `c = ... ~ v_j` must be the output when key j leads by far."""
    found = [s for s in answer.statements if _says_output(s.chain)]
    if not found:
        return unread("no statement about c was found")
    letter = target_letter(
        answer.everything,
        [p for p in answer.everything if isinstance(p, Statement) and "scores compared" in tags(p.chain)],
    )
    return Judged(_copied(found[-1].chain, letter), (found[-1],))


def _says_output(chain: Chain) -> bool:
    first = head(chain)
    if first is None or first.name not in OUTPUTS or first.index or len(chain.terms) < 2:
        return False
    values = [t for t in chain.terms[1:] if {s.name for s in symbols(t)} & {*VALUE_NAMES, *KEYS}]
    return any(not any(isinstance(n, tree.Sum) for n in walk(t)) for t in values)


def _copied(chain: Chain, letter: str | None) -> Outcome:
    """In the world where key j has weight one, c is v_j."""
    instance = instances()[1]
    j = instance.place("j")
    assert j is not None
    used = {s.index for t in chain.terms for s in symbols(t) if s.name in VALUE_NAMES} & LETTERS
    own = next(iter(used)) if len(used) == 1 and letter is None else letter or "j"
    alpha = np.zeros(instance.n)
    alpha[j] = 1.0
    names = {**VALUE_NAMES, **dict.fromkeys(KEYS, "keys")}
    scene = Scene(instance, Roles(names, {own: "j"} | ({"j": "i"} if own != "j" else {})), indexed={"alpha": alpha})
    truth = instance.V[j][:, None]
    try:
        found = members(chain.terms[1:], scene)
    except Mismatch as error:
        return Outcome("wrong", f"the statement has no value: {error}", repair=f"c ~ v_{own}")
    if not found:
        return Outcome("unread", "the statement about c could not be evaluated")
    if all(agree(m, truth, NEAR) for m in found):
        return Outcome("correct", f"with all weight on key {own} the output is v_{own}")
    off = (
        float(np.linalg.norm(np.subtract(found[-1], truth)) / np.linalg.norm(truth))
        if np.shape(found[-1]) == truth.shape
        else 1.0
    )
    return Outcome(
        "wrong",
        f"with all weight on key {own} the output is v_{own}; the stated vector is off by {100 * off:.0f} % of its length",
        {"weights": alpha, "j": j},
        f"c ~ v_{own}",
    )
