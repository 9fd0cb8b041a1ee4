"""What claims about weights and outputs share: names of values, readable members, how much is said
in words."""

from __future__ import annotations

from headwright.homework.locating.answer import Answer
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Missing, Node
from headwright.homework.meaning.statements import Said
from headwright.homework.reading.document import Segment
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, Value
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.scene import Scene

VALUE_NAMES = {"v": "values", "V": "values", "nu": "values", "N": "values"}


NEAR = 1e-6


def members(terms: tuple[Node, ...], scene: Scene) -> list[Value]:
    """The values of those terms that can be evaluated."""
    out = []
    for term in terms:
        try:
            if not isinstance(term, Missing):
                out.append(evaluate(term, scene))
        except Unknown:
            continue
    return out


def attempted(terms: tuple[Node, ...], scene: Scene) -> list[Value]:
    try:
        return members(terms, scene)
    except Mismatch:
        return []


def length(answer: Answer) -> float:
    """How many words the student spends outside formulas and headings."""
    segments = answer.document.segments
    own = [p.text for p in answer.pieces if isinstance(p, Said) and _speaks(segments[p.segment])]
    return sum(len(text) / 3 if words.unspaced(text) else len(text.split()) for text in own)


def _speaks(segment: Segment) -> bool:
    return segment.kind != "heading" and segment.voice != "question"
