r"""Characters that stand in traced text where a wrapper opened or closed: \sout{..}, \answer{..},
\ifans..\fi, ~~..~~.

Wrappers may reach across formulas and paragraphs, so no tree of them is kept: whoever cuts the text
into segments switches a state on and off as these characters pass. They are private-use characters,
which are replaced when a document is read, so that no document can forge them.
"""

from __future__ import annotations

import re

ANSWER_ON = "\ue000"
ANSWER_OFF = "\ue001"
STRUCK_ON = "\ue002"
STRUCK_OFF = "\ue003"

# A place for an answer with nothing in it: a line to write on, an empty box
HOLE = ANSWER_ON + ANSWER_OFF

SWITCH = re.compile("[\ue000-\ue003]")

# What a switch adds to the number of open wrappers of its kind
STRUCK_STEP = {STRUCK_ON: 1, STRUCK_OFF: -1}
ANSWER_STEP = {ANSWER_ON: 1, ANSWER_OFF: -1}

# Commands, environments and conditions that wrap an answer
ANSWER_NAMES = frozenset(
    {
        "ans", "answer", "answerblock", "answerbox", "answers", "antwort", "corrige", "loesung",
        "lsg", "myans", "myanswer", "mysol", "mysolution", "reponse", "response", "resposta",
        "respuesta", "risposta", "shortanswer", "sol", "soln", "solucao", "solucion", "solution",
        "solutionbox", "solutionorbox", "solutionordottedlines", "solutionorgrid",
        "solutionorlines", "solutions", "soluzione", "studentanswer", "studentsolution",
    }
)  # fmt: skip


def wraps_answer(name: str) -> bool:
    r"""Does a command, environment or condition of this name wrap an answer? A course may have
    made \ifans a command of one argument."""
    plain = name.rstrip("*").lower()
    return plain.removeprefix("if") in ANSWER_NAMES


def without_switches(text: str) -> str:
    return SWITCH.sub("", text)
