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
    "answers?|ans|solutions?|soln?|response|(?:my|our) answer|lösung|loesung|antwort|odpowied[źz]|odp|rozwi[ąa]zanie|"
    "respuesta|soluci[óo]n|r[ée]ponse|corrig[ée]|resposta|solu[çc][ãa]o|risposta|soluzione|ответ|решение|відповідь|"
    "답변?|정답|풀이|해답|解答|解析|回答|答案|解|答|答え|cevap|çözüm|trả lời|lời giải|antwoord|oplossing|svar|lösning|"
    "jawaban|jawab|odpověď|řešení"
)
_ANSWER = re.compile(
    rf"[*_\s]*(?:{_ANSWER_WORDS})(?:\s*\([^)]{{0,20}}\))?[*_\s]*(?:[:：.\-–—][*_\s]*|$)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"[*_\s]*(?:{_ANSWER_WORDS})[*_\s]*[:：.]?[*_\s]*", re.IGNORECASE)
_POINTS = re.compile(
    r"[*_\s]*[(\[（【]\s*\d{1,2}(?:[.,]\d)?\s*(?:points?|pts?|marks?|p|分|점|punkte?|pkt|puntos?|pontos?|punti|баллов|балла|балл|written|points?,\s*written)"
    r"[^)\]）】]{0,20}[)\]）】]",
    re.IGNORECASE,
)


def announces_answer(line: str) -> bool:
    """A line that opens with "Answer:", "解：" or the like."""
    return _ANSWER.match(line) is not None


def voiced(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The segments with `voice` filled in, item by item."""
    out: list[Segment] = []
    for item in filter(None, _items(segments)):
        out += _item(item)
    return tuple(out)


def _items(segments: Sequence[Segment]) -> list[list[Segment]]:
    items: list[list[Segment]] = [[]]
    for segment in segments:
        opens = segment.label is not None or (
            segment.kind == "heading" and not _BARE.fullmatch(segment.text)
        )
        if opens and items[-1]:
            items.append([])
        items[-1].append(segment)
    return items


def _item(item: list[Segment]) -> list[Segment]:
    marker = next((i for i, s in enumerate(item) if _is_marker(item, i)), None)
    if marker is not None:
        return [
            *(_said(s, "question") for s in item[:marker]),
            *(_said(s, "answer") for s in item[marker:]),
        ]
    if any(s.voice == "answer" for s in item):
        return [_said(s, "question") for s in item]
    if item[0].kind in ("prose", "heading") and _POINTS.match(item[0].text):
        asked = item[0].paragraph
        if any(s.paragraph != asked for s in item):
            return [_said(s, "question") if s.paragraph == asked else s for s in item]
    return item


def _is_marker(item: list[Segment], i: int) -> bool:
    segment = item[i]
    if segment.kind not in ("prose", "heading") or segment.struck:
        return False
    opens = i == 0 or item[i - 1].paragraph != segment.paragraph or item[i - 1].kind == "heading"
    lines = segment.text.split("\n")
    return (opens and bool(_ANSWER.match(segment.text))) or any(
        _BARE.fullmatch(x) for x in lines[:1] if x
    )


def _said(segment: Segment, voice: Voice) -> Segment:
    return segment if segment.voice == "answer" else replace(segment, voice=voice)
