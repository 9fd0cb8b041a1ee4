"""A stated condition is taken at its word: of the examples that satisfy it the worst decides, and
is the counterexample. Rejected: comparing the statement with a list of right ones, which cannot say
what any other one lacks."""

from __future__ import annotations

from headwright.homework.judges.condition.examples import Example, J, examples
from headwright.homework.judges.condition.holds import Letters, holds
from headwright.homework.judges.condition.in_words import condition_in_words
from headwright.homework.judges.condition.stated import adds_scores, conditions
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.winning_key import winning_letter
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.verdict import Outcome

ENOUGH = 0.9  # almost all of the weight
REPAIR = "k_j'q - k_i'q >= ln((n - 1) 99) for every i != j: 6.79 at n = 10 puts 99% on j"


def judge_condition(answer: Answer) -> Judged:
    """Formulas first. Words complete what a formula leaves out, and count alone where there is no
    formula; where formulas are false and words are right, a person decides."""
    found = conditions(answer.statements)
    winner = winning_letter(answer.everything, found)
    written = _judged_formulas(answer, found, winner)
    if written.outcome.status == "correct":
        return written
    said = condition_in_words(answer, winner or "j")
    if said is None:
        return written
    if said.status == "correct":
        if written.outcome.status == "wrong":
            return unread("the formula and the words say different things")
        return Judged(said)
    return written if found else Judged(said)


def _judged_formulas(answer: Answer, found: list[Statement], winner: str | None) -> Judged:
    """One statement that is enough alone decides; otherwise all of them are taken together."""
    if not found:
        return unread("no relation between scores was found")
    if winner is None:
        unclear = Outcome("unread", "could not determine which key is meant to win")
        return Judged(unclear, tuple(found))

    alone = [(statement, _outcome([statement], winner, answer)) for statement in found]
    right = [(statement, outcome) for statement, outcome in alone if outcome.status == "correct"]
    if right:
        statement, outcome = right[-1]
        return Judged(outcome, (statement,))
    if len(found) == 1:
        return Judged(alone[0][1], tuple(found))
    return Judged(_outcome(found, winner, answer), tuple(found))


def _outcome(statements: list[Statement], winner: str, answer: Answer) -> Outcome:
    if any(adds_scores(s.chain) for s in statements):
        return Outcome("unread", "a sum of scores is compared; softmax compares each of them")
    try:
        fitting = _fitting_examples(statements, winner, answer)
    except Unknown as error:
        return Outcome("unread", f"could not determine {error}")
    except Mismatch as error:
        return Outcome("wrong", f"the condition has no value: {error}", repair=REPAIR)
    if not fitting:
        return Outcome("unread", "no example that satisfies the condition was found")
    return _judged(fitting)


def _fitting_examples(statements: list[Statement], winner: str, answer: Answer) -> list[Example]:
    """The examples in which all of the statements are true."""
    meant = [(s.chain, Letters.of(s.chain, winner, answer)) for s in statements]
    return [
        example
        for example in examples()
        if all(holds(chain, names, example) for chain, names in meant)
    ]


def _judged(fitting: list[Example]) -> Outcome:
    worst = _worst(fitting)
    if worst.weight_of_j >= ENOUGH:
        least = f"alpha_j >= {worst.weight_of_j:.3f} (n = 10)"
        return Outcome("correct", f"in all {len(fitting)} examples that satisfy it {least}")

    weakest = _worst_of_a_half_truth(fitting)
    if weakest is not None:
        left = f"alpha_j = {_short(weakest.weight_of_j)} at n = 10 ({weakest.story})"
        return Outcome("incomplete", f"it can hold and still leave {left}", _shown(weakest), REPAIR)

    found = f"{worst.story}, and alpha_j = {_short(worst.weight_of_j)} at n = 10"
    return Outcome("wrong", f"it does not force the weight onto j: {found}", _shown(worst), REPAIR)


def _worst_of_a_half_truth(fitting: list[Example]) -> Example | None:
    """A condition lacks something, and is not wrong, where it makes key j lead in every example; or
    is enough wherever the other scores are small; or makes j lead over orthonormal keys."""
    if all(example.j_leads for example in fitting):
        return _worst(fitting)
    small = [example for example in fitting if example.others_are_small]
    if small and all(example.weight_of_j >= ENOUGH for example in small):
        return _worst(fitting)
    orthonormal = [example for example in fitting if example.orthonormal]
    if orthonormal and all(example.j_leads for example in orthonormal):
        weakest = _worst(orthonormal)
        return weakest if weakest.weight_of_j < ENOUGH else _worst(fitting)
    return None


def _worst(found: list[Example]) -> Example:
    """The first of those that are equal up to rounding, which is another on every machine."""
    return min(found, key=lambda example: float(f"{example.weight_of_j:.9g}"))


def _short(x: float) -> str:
    return f"{x:.3f}" if x >= 1e-3 else f"{x:.0e}"


def _shown(example: Example) -> dict[str, object]:
    return {
        "story": example.story,
        "scores": example.scores.round(3) + 0.0,  # no "-0"
        "weights": example.weights.round(4),
        "j": J,
    }
