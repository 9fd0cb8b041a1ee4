"""Who speaks: the handout's question left in the text, or the student's answer to it.

Only what the document itself says is used: a marker such as "Answer:" or "解：" parts an item into
question and answer; points in brackets right behind a label announce a question. Everything else
stays open ("").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from headwright.homework.reading.document import Segment, Voice

_ANSWER_WORDS = (
    "answers?|ans|solutions?|soln?|response|(?:my|our) answer|lösung|loesung|antwort"
    "|odpowied[źz]|odp|rozwi[ąa]zanie|respuesta|soluci[óo]n|r[ée]ponse|corrig[ée]|resposta"
    "|solu[çc][ãa]o|risposta|soluzione|ответ|решение|відповідь|답변?|정답|풀이|해답"
    "|解答|解析|回答|答案|解|答|答え|cevap|çözüm|trả lời|lời giải|antwoord|oplossing|svar|lösning"
    "|jawaban|jawab|odpověď|řešení"
)
_ANSWER = re.compile(
    rf"[*_\s]*(?:{_ANSWER_WORDS})(?:\s*\([^)]{{0,20}}\))?[*_\s]*(?:[:：.\-–—][*_\s]*|$)",
    re.IGNORECASE,
)
_ANSWER_ALONE = re.compile(rf"[*_\s]*(?:{_ANSWER_WORDS})[*_\s]*[:：.]?[*_\s]*", re.IGNORECASE)
_POINT_WORDS = (
    "points?|pts?|marks?|p|分|점|punkte?|pkt|puntos?|pontos?|punti|баллов|балла|балл|written"
    r"|points?,\s*written"
)
_POINTS = re.compile(
    rf"[*_\s]*[(\[（【]\s*\d{{1,2}}(?:[.,]\d)?\s*(?:{_POINT_WORDS})[^)\]）】]{{0,20}}[)\]）】]",
    re.IGNORECASE,
)


def announces_answer(line: str) -> bool:
    """A line that opens with "Answer:", "解：" or the like."""
    return _ANSWER.match(line) is not None


def with_voices(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The segments with `voice` filled in, item by item."""
    out: list[Segment] = []
    for item in _items(segments):
        out += _item_with_voices(item)
    return tuple(out)


def _items(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Segments by item: a label or a heading opens one, a heading "Answer" goes on with it."""
    items: list[list[Segment]] = []
    for segment in segments:
        if not items or _opens_item(segment):
            items.append([])
        items[-1].append(segment)
    return items


def _opens_item(segment: Segment) -> bool:
    if segment.label is not None:
        return True
    return segment.kind == "heading" and not _ANSWER_ALONE.fullmatch(segment.text)


def _item_with_voices(item: list[Segment]) -> list[Segment]:
    places = range(len(item))
    marker = next((place for place in places if _is_marker(item, place)), None)
    if marker is not None:
        asked = [_spoken(segment, "question") for segment in item[:marker]]
        answered = [_spoken(segment, "answer") for segment in item[marker:]]
        return asked + answered

    if any(segment.voice == "answer" for segment in item):
        return [_spoken(segment, "question") for segment in item]

    if _states_points(item[0]) and item[-1].paragraph != item[0].paragraph:
        first = item[0].paragraph
        return [_spoken(s, "question") if s.paragraph == first else s for s in item]
    return item


def _states_points(segment: Segment) -> bool:
    return segment.kind in ("prose", "heading") and _POINTS.match(segment.text) is not None


def _is_marker(item: list[Segment], place: int) -> bool:
    """Does the answer begin with this segment? It opens with "Answer:", or its first line is
    nothing else."""
    segment = item[place]
    if segment.kind not in ("prose", "heading") or segment.struck:
        return False

    first_line = segment.text.split("\n")[0]
    if first_line and _ANSWER_ALONE.fullmatch(first_line):
        return True
    return _opens_paragraph(item, place) and announces_answer(segment.text)


def _opens_paragraph(item: list[Segment], place: int) -> bool:
    if place == 0:
        return True
    before = item[place - 1]
    return before.paragraph != item[place].paragraph or before.kind == "heading"


def _spoken(segment: Segment, voice: Voice) -> Segment:
    """What a wrapper declared to be the answer stays one."""
    return segment if segment.voice == "answer" else replace(segment, voice=voice)
