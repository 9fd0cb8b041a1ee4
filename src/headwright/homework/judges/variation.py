"""What c does when a key varies in length: with one head it swings (c.var), with two it stays
(d.var)."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np

from headwright.exercise.instances import Instance, instances
from headwright.homework.judges.claims import NEAR, VALUE_NAMES, attempted, length
from headwright.homework.judges.outcomes import FLIP
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Symbol, symbols, tree
from headwright.homework.meaning.formula.characters import simplify
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import OUTPUTS, PAIR, bare, head
from headwright.homework.scenes.arithmetic import agree
from headwright.homework.scenes.scene import Roles, Scene
from headwright.homework.verdict import Outcome

SHARP = 10.0


def swing(gamma: float, beta: float = SHARP) -> float:
    """The weight of a key of length gamma against one of length 1: 1 / (1 + exp(beta (1 - gamma)))."""
    return 1.0 / (1.0 + math.exp(beta * (1.0 - gamma)))


def judge_variation(answer: Answer) -> Judged:
    return _two_heads(answer) if answer.question.parameters.get("heads") == 2 else _one_head(answer)


def _one_head(answer: Answer) -> Judged:
    """One head and a key of varying length: c swings between v_a and v_b."""
    ends = {x: [s for s in answer.statements if _is_value(s.chain, x)] for x in PAIR}
    chosen = tuple(s for x in PAIR for s in ends[x][-1:])
    if ends["a"] and ends["b"]:
        crossed = _crossed(answer)
        if crossed:
            return Judged(
                Outcome(
                    "wrong",
                    "the cases are crossed: a longer k_a (gamma > 1) gives v_a, a shorter one v_b",
                    {"beta": SHARP, "gamma": 1.5, "alpha_a": swing(1.5)},
                    "exchange v_a and v_b",
                ),
                tuple(crossed),
            )
        return Judged(
            Outcome(
                "correct",
                "c goes to v_a when k_a is longer than its mean and to v_b when it is shorter",
            ),
            chosen,
        )
    if _alternates(answer):
        return Judged(Outcome("correct", "c is said to alternate between v_a and v_b, as it does"))
    covariance = [s for s in answer.statements if _is_covariance(s.chain)]
    if covariance:
        return Judged(
            Outcome("correct", "the limit covariance of c is (v_a - v_b)(v_a - v_b)'/4"),
            tuple(covariance),
        )
    from headwright.homework.judges.steps.kinds import formula_in_length
    from headwright.homework.judges.steps.points import setting_of

    setting = setting_of(answer)
    formulas = [
        (s, o) for s in answer.statements if (o := formula_in_length(s.chain, setting)) is not None
    ]
    if formulas and formulas[-1][1].status == "correct":
        return Judged(formulas[-1][1], (formulas[-1][0],))
    if formulas and length(answer) <= 15:  # nothing else was said that could be the answer
        repair = (
            "alpha_a = 1 / (1 + exp(beta (1 - gamma))), and c = alpha_a v_a + (1 - alpha_a) v_b"
        )
        return Judged(replace(formulas[-1][1], repair=repair), (formulas[-1][0],))
    if _only_average(answer):
        long, short = swing(1.5), swing(0.5)
        gives = f"at beta = {SHARP:g} a length of 1.5 gives alpha_a = {long:.3f}, one of 0.5 gives {short:.3f}"
        outcome = Outcome(
            "wrong",
            f"c does not stay at (v_a + v_b)/2: {gives}",
            {"beta": SHARP, "gamma": [1.5, 0.5], "alpha_a": [long, short]},
            "c is near v_a when gamma > 1 and near v_b when gamma < 1",
        )
        return Judged(outcome, tuple(answer.statements))
    return unread("what c does is said in words, which are not judged")


def _only_average(answer: Answer) -> bool:
    """The whole answer is `c ~ (v_a + v_b)/2`."""
    if length(answer) > 6 or len(answer.statements) != 1:
        return False
    chain = answer.statements[0].chain
    instance = instances()[0]
    first = head(chain)
    if first is None or first.name not in OUTPUTS or first.index or len(chain.terms) < 2:
        return False
    members = attempted(chain.terms[-1:], Scene(instance, Roles(VALUE_NAMES)))
    return bool(members) and agree(members[0], average(instance), NEAR)


def _alternates(answer: Answer) -> bool:
    """Words such as "oscillates between" right before `v_a` and `v_b`, and no other vector there."""
    text = ""
    for piece in answer.pieces:
        if isinstance(piece, Statement):
            symbol = bare(piece.chain.terms[0]) if not piece.chain.relations else None
            text += (
                f" <{symbol.index}> "
                if symbol is not None and symbol.name in VALUE_NAMES
                else " <> "
            )
        else:
            text += re.sub(r"\b[vV]_?\{?([ab])\b\}?", r"<\1>", simplify(piece.text))
    for match in re.finditer(r"<a>[^<.]{0,30}<b>|<b>[^<.]{0,30}<a>", text):
        before = text[max(0, match.start() - 70) : match.start()]
        sentence = re.split(r"[.。<]", before)[-1]
        if words.says("alternates", sentence) and not words.says("negation", sentence):
            return True
    return False


def _is_value(chain: Chain, letter: str) -> bool:
    """`c ~ v_a`, also at the end of a chain."""
    first, last = head(chain), bare(chain.terms[-1])
    if (
        first is None
        or last is None
        or first.name not in OUTPUTS
        or first.index
        or not chain.relations
    ):
        return False
    return last.name in VALUE_NAMES and last.index == letter


def _crossed(answer: Answer) -> list[Statement]:
    """Claims `c ~ v_a` whose case contradicts them: gamma > 1 belongs to v_a.

    Cases come before their claims or after them, the same way throughout; what comes first in the
    answer decides.
    """
    row = [
        (s, _side(s.chain), next((x for x in PAIR if _is_value(s.chain, x)), ""))
        for s in answer.statements
    ]
    row = [(s, side, value) for s, side, value in row if side or value]
    if not row:
        return []
    step = -1 if row[0][1] else 1
    out = []
    for k, (statement, _, value) in enumerate(row):
        if not value:
            continue
        side = row[k + step][1] if 0 <= k + step < len(row) else ""
        if side and side != value:
            out.append(statement)
    return out


def _side(chain: Chain) -> str:
    """ "a" for gamma > 1, gamma -> 1.5; "b" for gamma < 1; "" for anything else."""
    symbol = bare(chain.terms[0])
    if (
        symbol is None
        or symbol.name not in ("gamma", "epsilon", "lambda", "delta")
        or len(chain.terms) != 2
    ):
        return ""
    other = chain.terms[1]
    if not isinstance(other, tree.Number):
        return "a" if isinstance(other, tree.Infinity) else ""
    relation = chain.relations[0]
    if relation in (">", ">>", ">=") and other.value >= 1:
        return "a"
    if relation in ("<", "<<", "<=") and other.value <= 1:
        return "b"
    if relation in ("=", "->", "~="):
        return "a" if other.value > 1 else "b" if other.value < 1 else ""
    return ""


def _is_covariance(chain: Chain) -> bool:
    instance = instances()[0]
    a, b = instance.V[1][:, None], instance.V[3][:, None]
    truth = (a - b) @ (a - b).T / 4
    return any(
        np.shape(m) == truth.shape and agree(m, truth, NEAR)
        for m in attempted(chain.terms, Scene(instance, Roles(VALUE_NAMES)))
    )


def average(instance: Instance) -> np.ndarray:
    return ((instance.V[1] + instance.V[3]) / 2)[:, None]


def _two_heads(answer: Answer) -> Judged:
    """Two heads: c stays near the average."""
    instance = instances()[0]
    truth, a, b = average(instance), instance.V[1][:, None], instance.V[3][:, None]
    given = {Symbol(x, k): v for x in ("c", "C") for k, v in (("1", a), ("2", b))}
    scene = Scene(instance, Roles(VALUE_NAMES, {"n": "a"}), given=given)
    claims = []
    for s in answer.statements:
        first = head(s.chain)
        if (
            first is None
            or first.name not in OUTPUTS
            or first.index
            or len(s.chain.terms) < 2
            or _doubtful(s)
        ):
            continue
        members = [
            m
            for t in s.chain.terms[1:]
            if {x.name for x in symbols(t)} & set(VALUE_NAMES)
            for m in attempted((t,), scene)
        ]
        if members:
            claims.append((s, agree(members[-1], truth, NEAR)))
    lone = [s for s in answer.statements if not s.chain.relations]
    if not claims and len(answer.statements) == len(lone) == 1 and length(answer) <= 6:
        claims = [
            (lone[0], any(agree(m, truth, NEAR) for m in attempted(lone[0].chain.terms, scene)))
        ]
    if claims and claims[-1][1]:
        return Judged(
            Outcome(
                "correct", "c stays at (v_a + v_b)/2 when k_a changes its length", remarks=(FLIP,)
            ),
            (claims[-1][0],),
        )
    single = {x: [s for s in answer.statements if _head_output(s.chain, x)] for x in ("1", "2")}
    if not claims and single["1"] and single["2"]:
        return Judged(
            Outcome(
                "correct",
                "each head keeps its value, so their average stays at (v_a + v_b)/2",
                remarks=(FLIP,),
            ),
            (single["1"][-1], single["2"][-1]),
        )
    return unread("what c does is said in words, which are not judged")


def _head_output(chain: Chain, index: str) -> bool:
    """`c_1 ~ v_a`, `c_2 ~ v_b`."""
    first, last = head(chain), bare(chain.terms[-1])
    wanted = {"1": "a", "2": "b"}[index]
    if first is None or last is None or first.name not in ("c", "C") or first.index != index:
        return False
    return last.name in VALUE_NAMES and last.index == wanted


def _doubtful(statement: Statement) -> bool:
    near = f"{statement.before[-60:]} {statement.after[:30]}"
    return words.says("negation", near) or words.says("earlier", statement.before[-60:])
