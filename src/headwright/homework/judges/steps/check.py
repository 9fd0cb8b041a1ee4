"""All steps of one answer that can be judged."""

from __future__ import annotations

from collections.abc import Iterator

from headwright.homework.judges.steps.kinds import KINDS, Test
from headwright.homework.judges.steps.points import StepContext, step_context
from headwright.homework.locating.answer import Answer, Judged, tentative
from headwright.homework.meaning.formula import Chain, Node, Symbol
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import subject
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.scenes.scene import spell
from headwright.homework.verdict import Outcome

Step = tuple[str, Statement, Outcome]


def check_steps(answer: Answer, judged: Judged) -> Iterator[Step]:
    """Every step that can be judged: its name, where it stands and what came out."""
    several = bool(judged.others) or _says_two_things(answer)
    context = step_context(answer, several_answers=several)
    # "if x = 1, y = 2" supposes both
    supposed = {s.segment for s in answer.statements if tentative(s)}
    for statement in answer.statements:
        if statement.segment in supposed or _is_the_answer(statement, judged):
            continue
        for name, test in KINDS.items():
            outcome = _tried(test, statement, context)
            if outcome is not None:
                yield _named(name, statement.chain), statement, outcome
                break


def _says_two_things(answer: Answer) -> bool:
    """Two outputs of one head, or two queries: an alternative is offered, and a step may belong to
    either."""
    said: dict[Symbol, Node] = {}
    for statement in answer.statements:
        about = subject(statement.chain)
        if about is None or about.name not in ("q", "c") or about.index not in ("1", "2"):
            continue
        last = statement.chain.terms[-1]
        if said.setdefault(about, last) != last:
            return True
    return False


def _is_the_answer(statement: Statement, judged: Judged) -> bool:
    about = subject(statement.chain)
    answers = about is not None and about.name in ("q", "Q", "M")
    return answers and statement in judged.chosen


def _tried(test: Test, statement: Statement, context: StepContext) -> Outcome | None:
    try:
        return test(statement.chain, context)
    except (Unknown, Mismatch):
        return None  # the answer's own query has no value, so nothing can be compared with it


def _named(name: str, chain: Chain) -> str:
    """Outputs and laws are named after what they are about: `c1`, `gamma_b`."""
    about = subject(chain)
    if name == "output":
        return f"c{about.index}" if about is not None else "c"
    if name == "law":
        if about is None:
            return "law"
        return spell(Symbol(about.name.replace("epsilon", "eps"), about.index))
    return name
