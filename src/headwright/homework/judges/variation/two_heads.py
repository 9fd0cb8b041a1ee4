"""Two heads and a key of varying length: c stays near the average of v_a and v_b."""

from __future__ import annotations

from dataclasses import replace

from headwright.exercise.instances import smallest
from headwright.exercise.wanted import VARIANCE
from headwright.homework.judges.claims import (
    NEAR,
    VALUE_ROLES,
    about_output,
    consistent_members,
    letters,
    words_spent,
)
from headwright.homework.judges.points.judge import judged_by_points, read
from headwright.homework.judges.points.sentences import stated
from headwright.homework.judges.query.outcomes import flip, is_flip
from headwright.homework.judges.variation.one_head import BESIDE_AVERAGE, average
from headwright.homework.judges.variation.own_queries import LENGTHS, Behaviour, behaviour
from headwright.homework.locating.answer import Answer, Judged
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Symbol, symbols
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import bare, subject
from headwright.homework.scenes.arithmetic import Value, agree
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene
from headwright.homework.verdict import Outcome

_VALUE_OF_HEAD = {"1": "a", "2": "b"}


def judge_two_heads(answer: Answer) -> Judged:
    """What is claimed of c, held against what the author's own queries do."""
    said = _said(answer)
    own = behaviour(answer.heads.get("d.q"))
    if said.outcome.status == "correct":
        if own is not None and own.one_key:
            return _misses_a_value(said, own)
        if own is not None and own.uneven:  # less variance than with one head is true of them
            is_average = bool(said.chosen or read(answer, "d.midway").said)
            return _misses_the_average(said, own) if is_average else said
        return said if own is None or not own.swings else _swings_together(said, own)
    if said.outcome.status == "wrong" and _gives_queries(answer):
        return _denied(said, own)
    return said


def _gives_queries(answer: Answer) -> bool:
    """Does the document name a query of one of the heads? Where none is given, a claim is about
    queries that work."""
    stated = [piece for piece in answer.everything if isinstance(piece, Statement)]
    used = [symbol for statement in stated for symbol in letters(statement.chain.terms)]
    return any(symbol.name in ("q", "Q") and symbol.index for symbol in used)


def _said(answer: Answer) -> Judged:
    """The claim, judged for queries that work: a formula for c, the output of each head, words."""
    reading = read(answer, "d.var")
    if reading.denied:
        return judged_by_points(reading)
    claims = _claims_about_output(answer) or _lone_formula(answer)
    if claims and claims[-1][1]:
        reason = "c stays at (v_a + v_b)/2 when k_a changes its length"
        return Judged(Outcome("correct", reason, remarks=(_flip(answer),)), (claims[-1][0],))
    first = [s for s in stated(answer) if _is_head_output(s.chain, "1")]
    second = [s for s in stated(answer) if _is_head_output(s.chain, "2")]
    if first and second and not claims:
        reason = "each head keeps its value, so their average stays at (v_a + v_b)/2"
        return Judged(Outcome("correct", reason, remarks=(_flip(answer),)), (first[-1], second[-1]))
    judged = judged_by_points(reading)
    if judged.outcome.status != "correct":
        return judged
    remarks = (*judged.outcome.remarks, _flip(answer))
    return replace(judged, outcome=replace(judged.outcome, remarks=remarks))


def _flip(answer: Answer) -> str:
    return flip(answer.question.parameters.get("variance", VARIANCE))


def _swings_together(said: Judged, own: Behaviour) -> Judged:
    """The queries of the answer before are (nearly) one head written twice."""
    short = f"{own.weights[0]:.3f} at length {LENGTHS[0]:g}"
    long = f"{own.weights[-1]:.3f} at length {LENGTHS[-1]:g}"
    return _false_of_own_queries(
        said, own, f"both heads swing together, alpha_a is {short} and {long}"
    )


def _misses_a_value(said: Judged, own: Behaviour) -> Judged:
    """Both queries of the answer before look for the same key."""
    weight = own.weights[LENGTHS.index(1.0)]
    return _false_of_own_queries(said, own, f"both heads look for one key, alpha_a is {weight:.3f}")


def _misses_the_average(said: Judged, own: Behaviour) -> Judged:
    """The heads of the answer before favour one of the two keys."""
    weight = own.weights[LENGTHS.index(1.0)]
    return _false_of_own_queries(
        said, own, f"already at the means alpha_a is {weight:.3f}, not 1/2"
    )


def _false_of_own_queries(said: Judged, own: Behaviour, why: str) -> Judged:
    outcome = Outcome(
        "wrong",
        f"not with the queries given: {why}",
        {"length of k_a": LENGTHS, "alpha_a": own.weights},
        "take one query for each key: q_1 along mu_a and q_2 along mu_b",
        tuple(remark for remark in said.outcome.remarks if not is_flip(remark)),
    )
    return Judged(outcome, said.chosen)


def _denied(said: Judged, own: Behaviour | None) -> Judged:
    """A swing, or no gain, is claimed: true of queries that swing, false of those that do not."""
    if own is not None and own.swings:
        reason = "with the queries given both heads swing together, as it is said"
        return Judged(Outcome("correct", reason, remarks=said.outcome.remarks), said.chosen)
    if own is None or not own.steady:
        reason = "said to swing as one head does; the queries it is about were not read"
        return Judged(Outcome("unread", reason, remarks=said.outcome.remarks), said.chosen)
    return said


def _claims_about_output(answer: Answer) -> list[tuple[Statement, bool]]:
    """Statements `c = ...` that can be evaluated, and whether their last member is the average."""
    scene = _scene()
    truth = average(scene.instance)
    claims = []
    for statement in stated(answer):
        if not about_output(statement.chain) or _is_doubtful(statement):
            continue
        found = _made_of_values(statement.chain, scene)
        if found:
            claims.append((statement, agree(found[-1], truth, NEAR)))
    return claims


def _lone_formula(answer: Answer) -> list[tuple[Statement, bool]]:
    """The whole answer is one formula, and nothing says that it is c."""
    if len(answer.statements) != 1 or words_spent(answer) > BESIDE_AVERAGE:
        return []
    (lone,) = answer.statements
    if lone.chain.relations:
        return []
    scene = _scene()
    truth = average(scene.instance)
    found = consistent_members(lone.chain.terms, scene)
    return [(lone, any(agree(member, truth, NEAR) for member in found))]


def _scene() -> Scene:
    """The outputs of the heads are v_a and v_b; a scanned n is an a."""
    instance = smallest()
    outputs = {"1": instance.v_a[:, None], "2": instance.v_b[:, None]}
    given = {Symbol(name, k): v for name in ("c", "C") for k, v in outputs.items()}
    return Scene(instance, Roles(VALUE_ROLES, {"n": "a"}), given=given)


def _made_of_values(chain: Chain, scene: Scene) -> list[Value]:
    """The members behind the first that mention values, each evaluated alone."""
    found = []
    for term in chain.terms[1:]:
        if any(symbol.name in VALUE_ROLES for symbol in symbols(term)):
            found += consistent_members([term], scene)
    return found


def _is_head_output(chain: Chain, index: str) -> bool:
    """`c_1 ~ v_a`, `c_2 ~ v_b`."""
    first = subject(chain)
    last = bare(chain.terms[-1])
    if first is None or last is None or first.name not in ("c", "C") or first.index != index:
        return False
    return last.name in VALUE_ROLES and last.index == _VALUE_OF_HEAD[index]


def _is_doubtful(statement: Statement) -> bool:
    before = statement.before[-60:]
    near = f"{before} {statement.after[:30]}"
    return words.says("negation", near) or words.says("earlier", before)
