"""Intermediate formulas of an answer, checked like the answer itself.

A step is right if one reading of its letters makes it true everywhere, and wrong only if none does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from headwright.homework.judges.steps.kinds import KINDS
from headwright.homework.judges.steps.points import Setting, setting_of
from headwright.homework.locating.answer import Answer, tentative
from headwright.homework.meaning.formula import Chain, Symbol
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import head
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.scenes.scene import spell
from headwright.homework.verdict import Outcome

__all__ = ["check_steps"]

Test = Callable[[Statement, Setting], Outcome | None]


def check_steps(
    answer: Answer, chosen: tuple[Statement, ...]
) -> Iterator[tuple[str, Statement, Outcome]]:
    """Every step that can be judged: its name, where it stands and what came out."""
    setting = setting_of(answer)
    # "if x = 1, y = 2" supposes both
    supposed = {s.segment for s in answer.statements if tentative(s)}
    for statement in answer.statements:
        first = head(statement.chain)
        answers = statement in chosen and first is not None and first.name in ("q", "Q", "M")
        if answers or statement.segment in supposed:
            continue
        for name, test in KINDS.items():
            outcome = _tried(test, statement, setting)
            if outcome is not None:
                yield _named(name, statement.chain), statement, outcome
                break


def _tried(test: Test, statement: Statement, setting: Setting) -> Outcome | None:
    try:
        return test(statement, setting)
    except (
        Unknown,
        Mismatch,
    ):  # the answer's own query has no value, so nothing can be compared with it
        return None


def _named(name: str, chain: Chain) -> str:
    if name == "output":
        first = head(chain)
        return f"c{first.index}" if first is not None else "c"
    if name == "law":
        first = head(chain)
        return (
            spell(Symbol(first.name.replace("epsilon", "eps"), first.index))
            if first is not None
            else "law"
        )
    return name
