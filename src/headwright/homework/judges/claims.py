"""Claims about weights and the output: a distribution (a.prob), a copy (a.out), what varies (c.var, d.var)."""

from __future__ import annotations

import re

import numpy as np

from headwright.exercise.instances import Instance, instances
from headwright.homework import words
from headwright.homework.answer import Answer, Judged, unread
from headwright.homework.document import Segment
from headwright.homework.evaluate import Mismatch, Unknown, Value, agree, evaluate
from headwright.homework.formula import Chain, Missing, Node, Symbol, symbols, tree, walk
from headwright.homework.formula.tokens import simplify
from headwright.homework.judges.query import FLIP
from headwright.homework.shapes import KEYS, OUTPUTS, PAIR, bare, head, tags
from headwright.homework.statements import Said, Statement
from headwright.homework.target import LETTERS, target_letter
from headwright.homework.verdict import Outcome
from headwright.homework.worlds import Roles, Scene

VALUE_NAMES = {"v": "values", "V": "values", "nu": "values", "N": "values"}
NEAR = 1e-6


def judge_distribution(answer: Answer) -> Judged:
    sums = [s for s in answer.statements if _normalised(s.chain)]
    bounded = [s for s in answer.statements if _nonnegative(s.chain)]
    says_sum, says_bound = words.says("sums_to_one", answer.prose), words.says("nonnegative", answer.prose)
    chosen = tuple(bounded + sums)
    if (sums or says_sum) and (bounded or says_bound):
        return Judged(
            Outcome("correct", "both properties are named: no weight is negative and they sum to one"), chosen
        )
    if not chosen:
        return unread("no statement about the weights was found; words are not judged")
    lacking = "that no weight is negative" if sums else "that they sum to one"
    if _much_said(answer):
        return Judged(Outcome("unread", f"{lacking} may be said in words that were not understood"), chosen)
    example = {"weights": [1.5, -0.5]} if sums else {"weights": [0.9, 0.9]}
    return Judged(Outcome("incomplete", f"it is not said {lacking}", example, f"add {lacking}"), chosen)


def _much_said(answer: Answer) -> bool:
    """Enough other words that the lacking property may be among them."""
    return _length(answer) > 8


def _length(answer: Answer) -> float:
    """How many words the student spends outside formulas and headings."""
    segments = answer.document.segments
    own = [p.text for p in answer.pieces if isinstance(p, Said) and _speaks(segments[p.segment])]
    return sum(len(text) / 3 if words.unspaced(text) else len(text.split()) for text in own)


def _speaks(segment: Segment) -> bool:
    return segment.kind != "heading" and segment.voice != "question"


def _normalised(chain: Chain) -> bool:
    if "weights sum to one" in tags(chain):
        return True
    return (
        any(isinstance(t, tree.Sum) for t in chain.terms)
        and chain.terms[-1] == tree.Number(1.0)
        and "=" in chain.relations
    )


def _nonnegative(chain: Chain) -> bool:
    """`alpha_i >= 0`, `0 <= alpha_i <= 1`, `alpha in [0, 1]`, `exp(...) > 0`."""
    if "weights bounded" in tags(chain):
        lower = any(t == tree.Number(0.0) for t in chain.terms) or "in" in chain.relations
        return lower
    positive = any(isinstance(n, tree.Call) and n.function == "exp" for t in chain.terms for n in walk(t))
    return positive and tree.Number(0.0) in chain.terms and bool(set(chain.relations) & {">", ">=", "<", "<="})


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
        members = _members(chain.terms[1:], scene)
    except Mismatch as error:
        return Outcome("wrong", f"the statement has no value: {error}", repair=f"c ~ v_{own}")
    if not members:
        return Outcome("unread", "the statement about c could not be evaluated")
    if all(agree(m, truth, NEAR) for m in members):
        return Outcome("correct", f"with all weight on key {own} the output is v_{own}")
    off = (
        float(np.linalg.norm(np.subtract(members[-1], truth)) / np.linalg.norm(truth))
        if np.shape(members[-1]) == truth.shape
        else 1.0
    )
    return Outcome(
        "wrong",
        f"with all weight on key {own} the output is v_{own}; the stated vector is off by {100 * off:.0f} % of its length",
        {"weights": alpha, "j": j},
        f"c ~ v_{own}",
    )


def _members(terms: tuple[Node, ...], scene: Scene) -> list[Value]:
    """The values of those terms that can be evaluated."""
    out = []
    for term in terms:
        try:
            if not isinstance(term, Missing):
                out.append(evaluate(term, scene))
        except Unknown:
            continue
    return out


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
                    {"gamma": 1.5, "alpha_a at beta = 10": 0.993},
                    "exchange v_a and v_b",
                ),
                tuple(crossed),
            )
        return Judged(
            Outcome("correct", "c goes to v_a when k_a is longer than its mean and to v_b when it is shorter"), chosen
        )
    if _alternates(answer):
        return Judged(Outcome("correct", "c is said to alternate between v_a and v_b, as it does"))
    covariance = [s for s in answer.statements if _is_covariance(s.chain)]
    if covariance:
        return Judged(Outcome("correct", "the limit covariance of c is (v_a - v_b)(v_a - v_b)'/4"), tuple(covariance))
    from headwright.homework.steps import formula_in_length

    formulas = [(s, o) for s in answer.statements if (o := formula_in_length(s.chain)) is not None]
    if formulas and formulas[-1][1].status == "correct":
        return Judged(formulas[-1][1], (formulas[-1][0],))
    if formulas and _length(answer) <= 15:  # nothing else was said that could be the answer
        return Judged(formulas[-1][1], (formulas[-1][0],))
    if _only_average(answer):
        return Judged(
            Outcome(
                "wrong",
                "c does not stay at (v_a + v_b)/2: at beta = 10 a length of 1.5 gives alpha_a = 0.993, one of 0.5 gives 0.007",
                {"gamma": [1.5, 0.5], "alpha_a at beta = 10": [0.993, 0.007]},
                "c is near v_a when gamma > 1 and near v_b when gamma < 1",
            ),
            tuple(answer.statements),
        )
    return unread("what c does is said in words, which are not judged")


def _only_average(answer: Answer) -> bool:
    """The whole answer is `c ~ (v_a + v_b)/2`."""
    if _length(answer) > 6 or len(answer.statements) != 1:
        return False
    chain = answer.statements[0].chain
    instance = instances()[0]
    first = head(chain)
    if first is None or first.name not in OUTPUTS or first.index or len(chain.terms) < 2:
        return False
    members = _try(chain.terms[-1:], Scene(instance, Roles(VALUE_NAMES)))
    return bool(members) and agree(members[0], average(instance), NEAR)


def _alternates(answer: Answer) -> bool:
    """Words such as "oscillates between" right before `v_a` and `v_b`, and no other vector there."""
    text = ""
    for piece in answer.pieces:
        if isinstance(piece, Statement):
            symbol = bare(piece.chain.terms[0]) if not piece.chain.relations else None
            text += f" <{symbol.index}> " if symbol is not None and symbol.name in VALUE_NAMES else " <> "
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
    if first is None or last is None or first.name not in OUTPUTS or first.index or not chain.relations:
        return False
    return last.name in VALUE_NAMES and last.index == letter


def _crossed(answer: Answer) -> list[Statement]:
    """Claims `c ~ v_a` whose case contradicts them: gamma > 1 belongs to v_a.

    Cases come before their claims or after them, the same way throughout; what comes first in the answer decides.
    """
    row = [(s, _side(s.chain), next((x for x in PAIR if _is_value(s.chain, x)), "")) for s in answer.statements]
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
    if symbol is None or symbol.name not in ("gamma", "epsilon", "lambda", "delta") or len(chain.terms) != 2:
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
        for m in _try(chain.terms, Scene(instance, Roles(VALUE_NAMES)))
    )


def _try(terms: tuple[Node, ...], scene: Scene) -> list[Value]:
    try:
        return _members(terms, scene)
    except Mismatch:
        return []


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
        if first is None or first.name not in OUTPUTS or first.index or len(s.chain.terms) < 2 or _doubtful(s):
            continue
        members = [
            m for t in s.chain.terms[1:] if {x.name for x in symbols(t)} & set(VALUE_NAMES) for m in _try((t,), scene)
        ]
        if members:
            claims.append((s, agree(members[-1], truth, NEAR)))
    if claims and claims[-1][1]:
        return Judged(
            Outcome("correct", "c stays at (v_a + v_b)/2 when k_a changes its length", remarks=(FLIP,)),
            (claims[-1][0],),
        )
    single = {x: [s for s in answer.statements if _head_output(s.chain, x)] for x in ("1", "2")}
    if not claims and single["1"] and single["2"]:
        return Judged(
            Outcome("correct", "each head keeps its value, so their average stays at (v_a + v_b)/2", remarks=(FLIP,)),
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
