"""How much one document may cost. A document that would cost more is `unread`, with the limit as
the reason.

Sizes are checked before work starts and expansion while it runs. Time and memory are watched from
outside, by the process that handed the document to a worker (`batch`).
"""

from __future__ import annotations

from headwright.errors import HeadwrightError

MOST_BYTES = 40_000_000  # of a file (a notebook may carry pictures)
MOST_CHARACTERS = 1_000_000  # of readable text; a long thesis has about as many
MOST_EXPANSIONS = 5_000  # of macros in one document
MOST_EXPANDED = 300_000  # characters written by macros
MOST_NESTING = 60  # macros within macros
MOST_SEGMENTS = 40_000
SECONDS = 5.0  # of processor time
WORKER_MEMORY = 2_000_000_000  # bytes beyond what the worker started with

# Where documents are judged, by name: its imports are the judges, which the process that asks does
# not need.
JUDGING_MODULE = "headwright.homework.judging_process"

# How the reason begins where the fault is this program's
OUR_FAULT = "the checker itself failed on it"


class LimitReached(HeadwrightError):
    """A document would cost more than one document may; `str(error)` names the limit."""
