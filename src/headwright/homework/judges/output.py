"""What the output is when key j takes all the weight (a.out): the chain `c = ... ~ v_j` is
evaluated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headwright.exercise.instances import instances
from headwright.homework.judges.claims import NEAR, VALUE_NAMES, members
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, tree, walk
from headwright.homework.meaning.shapes import tags
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.target import LETTERS, target_letter
from headwright.homework.meaning.terms import KEYS, OUTPUTS, bare, head
from headwright.homework.scenes.arithmetic import Mismatch, agree
from headwright.homework.scenes.scene import Roles, Scene
from headwright.homework.verdict import Outcome


def judge_output(answer: Answer) -> Judged:
    """Every readable member of `c = ... ~ v_j` must be the output when key j leads by far."""
    found = [s for s in answer.statements if _says_output(s.chain)] or _worded(answer)
    if not found:
        return unread("no statement about c was found")
    conditions = [
        p
        for p in answer.everything
        if isinstance(p, Statement) and "scores compared" in tags(p.chain)
    ]
    letter = target_letter(answer.everything, conditions)
    return Judged(_copied(found[-1].chain, letter), (found[-1],))


def _says_output(chain: Chain) -> bool:
    """A statement `c = ...` that says more than the definition `c = sum_i alpha_i v_i`."""
    first = head(chain)
    if (
        first is None
        or first.name not in OUTPUTS
        or first.index
        or not set(chain.relations) <= {"=", "~=", "->", "~"}
    ):
        return False
    return any(not isinstance(t, Missing) and not _definition(t) for t in chain.terms[1:])


def _definition(node: Node) -> bool:
    weighted = [
        n for n in walk(node) if isinstance(n, tree.Sum) and "alpha" in {s.name for s in symbols(n)}
    ]
    return bool(weighted) or (
        isinstance(node, tree.Add) and any(isinstance(t, tree.Dots) for t in node.terms)
    )


def _worded(answer: Answer) -> list[Statement]:
    """ "The output is approximately" `v_j`: a lone value behind words of likeness."""
    lone = [
        s
        for s in answer.statements
        if (v := bare(s.chain.terms[0])) is not None
        and v.name in VALUE_NAMES
        and not s.chain.relations
    ]
    near = [
        s
        for s in lone
        if words.says("close_to", s.before[-45:])
        and not words.says("negation", s.before + s.after[:25])
    ]
    distinct = {s.chain.terms[0] for s in near}
    if len(distinct) != 1:
        return []
    return [replace(s, chain=Chain((Symbol("c"), s.chain.terms[0]), ("~=",))) for s in near]


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
    given = {Symbol("q"): 40.0 * instance.K[j][:, None]}
    scene = Scene(
        instance,
        Roles(names, {own: "j"} | ({"j": "i"} if own != "j" else {})),
        given=given,
        indexed={"alpha": alpha},
    )
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
    missed = f"the stated vector is off by {100 * off:.0f} % of its length"
    return Outcome(
        "wrong",
        f"with all weight on key {own} the output is v_{own}; {missed}",
        {"weights": alpha, "j": j},
        f"c ~ v_{own}",
    )
