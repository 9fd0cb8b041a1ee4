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

SWITCH = re.compile("[\ue000-\ue003]")

# What a switch adds to the number of open wrappers of its kind
STRUCK_STEP = {STRUCK_ON: 1, STRUCK_OFF: -1}
ANSWER_STEP = {ANSWER_ON: 1, ANSWER_OFF: -1}

# Commands, environments and conditions that wrap an answer
ANSWER_NAMES = frozenset(
    {
        "ans", "answer", "answers", "answerbox", "antwort", "loesung",
        "myans", "myanswer", "mysol", "mysolution", "response", "resposta", "respuesta",
        "sol", "soln", "solution", "solutionbox", "solutions", "studentanswer",
    }
)  # fmt: skip


def without_switches(text: str) -> str:
    return SWITCH.sub("", text)
