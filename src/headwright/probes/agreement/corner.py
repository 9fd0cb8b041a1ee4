"""The last queries of a causal function alone, with all keys: what decoding with a cache asks.

A mask that is aligned at the upper left corner lets the last query see the first key only.
PyTorch's `is_causal` does so by definition, so that it is named and not called broken.
"""

from __future__ import annotations

from dataclasses import replace

from headwright.probes.agreement.asking.causal import is_causal
from headwright.probes.agreement.asking.compared import Compared, compared, judged
from headwright.probes.agreement.asking.written import call_written
from headwright.probes.examination import Examination
from headwright.probes.layer.layer import CAUSAL, Options, Refusal
from headwright.probes.record import HOLDS, NOT_APPLICABLE, UNCLEAR, Finding
from headwright.probes.rounding import apart

_FEWEST = 4  # tokens
_UPPER_LEFT = (
    "the causal mask sits at the upper left corner, as PyTorch's is_causal has it: decode with it "
    "would see only the first key"
)


def last_queries(exam: Examination, name: str, stream: int) -> Finding:
    """The last one and the last two against one pass."""
    options = Options(causal=True) if CAUSAL in exam.layer.takes else Options()
    if not is_causal(exam, options):
        return Finding(name, NOT_APPLICABLE, "it is not causal")
    found = []
    for queries in (1, 2):
        try:
            found.append(_compared(exam, queries, stream, options))
        except Refusal as reason:
            said = f"it takes as many queries as keys: {reason}"
            return Finding(name, NOT_APPLICABLE, said)
    return judged(name, found, "the last queries alone get the rows of one pass")


def _compared(exam: Examination, queries: int, stream: int, options: Options) -> Compared:
    sizes = replace(exam.layer.sizes, tokens=max(exam.layer.sizes.tokens, _FEWEST))
    given = exam.draw(stream, sizes)
    start = given.tokens - queries
    last = given.cut(start, None, "q")
    whole = exam.layer.run(given, options)[..., start:, :]
    alone = exam.layer.run(last, options)
    last_rows = f"x.cut({start}, None, 'q')"
    script = (
        f"x = {exam.draw_line(stream, sizes)}\n"
        f"one = {call_written('x', options)}[..., {start}:, :]\n"
        f"other = {call_written(last_rows, options)}\n"
    )
    words = f"the last {queries} of {given.tokens} queries alone, with all keys"
    bound = exam.rounding(given, options)
    found = compared(words, whole, alone, bound, script)
    if found.status == HOLDS:
        return found
    square = last.cut(0, queries, "k", "v")
    at_first_keys = exam.layer.run(square, options)
    if apart(alone, at_first_keys) <= bound.bound:
        return replace(found, status=UNCLEAR, why=_UPPER_LEFT)
    return found
