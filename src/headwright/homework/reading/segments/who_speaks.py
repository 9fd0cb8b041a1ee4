"""Who speaks: the handout's question left in the text, or the student's answer to it.

What the document itself says wins: a marker such as "Answer:" or "解：" parts an item into question
and answer. Without one, sentences that ask tell the handout's text (`handout`); everything else
stays open ("").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from headwright.homework.reading.document import Segment, Voice
from headwright.homework.reading.segments.asking import POINTS
from headwright.homework.reading.segments.handout import (
    Stretch,
    answers_in,
    handout_stretches,
    sets_scene,
)
from headwright.homework.reading.segments.line_numbers import LineNumbers

_ANSWER_WORDS = (
    "answers?|ans|solutions?|soln?|response|(?:my|our|your) (?:answer|solution|response)"
    "|lösung|loesung|antwort"
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
_SHARE = 0.4  # of the items
_FIRST = re.compile(r"(?<![^\W_])(?:i|1|a)[\W_]*$", re.IGNORECASE)
_SIGN = re.compile(r"[=<>≈≫~^_\\]")
_LONGEST_TITLE = 60  # characters


def announces_answer(line: str) -> bool:
    """A line that opens with "Answer:", "解：" or the like."""
    return _ANSWER.match(line) is not None


def only_announces(text: str) -> bool:
    """Nothing but "Answer:", "*Solución.*" or the like."""
    return _ANSWER_ALONE.fullmatch(text) is not None


def is_hole(segment: Segment) -> bool:
    """Room for an answer with nothing in it."""
    return segment.voice == "answer" and not segment.text and segment.kind == "prose"


def with_voices(segments: Sequence[Segment], lines: LineNumbers) -> tuple[Segment, ...]:
    """The segments with `voice` filled in, item by item. One in which both speak is cut in two."""
    plain = items(segments)
    spoken = [_item_with_voices(item, lines) for item in plain]
    if not _contains_handout(spoken):
        pairs = zip(plain, spoken, strict=True)
        spoken = [item if _is_asked(voiced) else voiced for item, voiced in pairs]
    _mark_scenes(spoken)
    return tuple(segment for item in spoken for segment in item)


def items(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Segments by item: a label or a heading opens one, a heading "Answer" goes on with it."""
    items: list[list[Segment]] = []
    for segment in segments:
        if not items or _opens_item(segment, items[-1][-1]):
            items.append([])
        items[-1].append(segment)
    return items


def _opens_item(segment: Segment, before: Segment) -> bool:
    if segment.label is not None:
        return True
    goes_on = before.kind == "math" and before.paragraph == segment.paragraph  # a title's formula
    return segment.kind == "heading" and not goes_on and not only_announces(segment.text)


def _item_with_voices(item: list[Segment], lines: LineNumbers) -> list[Segment]:
    places = range(len(item))
    marker = next((place for place in places if _is_marker(item, place)), None)
    if marker is not None:
        asked = [_spoken(segment, "question") for segment in item[:marker]]
        answered = [_spoken(segment, "answer") for segment in item[marker:]]
        return asked + answered

    if any(segment.voice == "answer" and not is_hole(segment) for segment in item):
        return [_spoken(segment, "question") for segment in item]

    spoken = [_parted(item[k], stretches, lines) for k, stretches in handout_stretches(item)]
    item = _whole_quotes([segment for parts in spoken for segment in parts])
    if _states_points(item[0]) and item[-1].paragraph != item[0].paragraph:
        first = item[0].paragraph
        return [_spoken(s, "question") if s.paragraph == first else s for s in item]
    return item


def _contains_handout(spoken: list[list[Segment]]) -> bool:
    """Who leaves questions in leaves them in everywhere. Where only few items seem to ask, one that
    does nothing else may be an answer that tells us what to do ("Give each head its own key")."""
    said = [item for item in spoken if any(segment.kind != "heading" for segment in item)]
    asking = [item for item in said if any(segment.voice == "question" for segment in item)]
    return len(asking) >= _SHARE * len(said)


def _is_asked(item: list[Segment]) -> bool:
    """Is all of it the handout's?"""
    return all(segment.voice == "question" or segment.kind == "heading" for segment in item)


def _mark_scenes(spoken: list[list[Segment]]) -> None:
    """What a part says before its first question belongs to the handout, too."""
    before_question = False
    for place in reversed(range(len(spoken))):
        item = spoken[place]
        titled = before_question and _opens_list(spoken[place + 1])
        is_title = all(segment.kind == "heading" or _is_title(segment) for segment in item)
        if is_title and not titled:
            continue
        is_open = not any(segment.voice for segment in item)
        numbered = place == 0 or item[0].label is not None
        has_points = titled and _states_points(item[0])
        is_scene = has_points or sets_scene(item, titled=titled)
        if before_question and is_open and numbered and is_scene:
            spoken[place] = [_spoken(segment, "question") for segment in item]
        before_question = is_title or _opens_with_question(spoken[place])


def _is_title(segment: Segment) -> bool:
    if segment.kind != "prose" or len(segment.text) > _LONGEST_TITLE:
        return False
    return len(segment.text.split()) > 1 and not _SIGN.search(segment.text)


def _opens_list(item: list[Segment]) -> bool:
    """The first of several: what stands above it is their title."""
    return _FIRST.search(item[0].label or "") is not None


def _opens_with_question(item: list[Segment]) -> bool:
    first = next((segment for segment in item if segment.kind != "heading"), None)
    return first is not None and first.voice == "question"


def _parted(segment: Segment, stretches: list[Stretch], lines: LineNumbers) -> list[Segment]:
    """The segment cut where the speaker changes."""
    if len(stretches) == 1:
        return [_spoken(segment, "question")] if stretches[0].asked else [segment]
    return [_cut(segment, stretch, lines) for stretch in stretches]


def _cut(segment: Segment, stretch: Stretch, lines: LineNumbers) -> Segment:
    if segment.trace is None:
        return segment
    trace = segment.trace.cut(stretch.start, stretch.end).strip()
    start, end = trace.span(0, len(trace))
    return replace(
        segment,
        text=trace.text,
        start=start,
        end=end,
        line_start=lines.at(start),
        line_end=lines.at(max(start, end - 1)),
        label=segment.label if stretch.start == 0 else None,
        voice="question" if stretch.asked else segment.voice,
        trace=trace,
    )


def _whole_quotes(item: list[Segment]) -> list[Segment]:
    """Who quotes a question quotes the handout: what stands around it in the quotation, too."""
    out = list(item)
    for order in (range(1, len(out)), range(len(out) - 2, -1, -1)):
        step = order.step
        for place in order:
            beside = out[place - step]
            if out[place].voice == "quote" and beside.voice == "question":
                out[place] = replace(out[place], voice="question")
    return out


def _states_points(segment: Segment) -> bool:
    return segment.kind in ("prose", "heading") and POINTS.match(segment.text) is not None


def _is_marker(item: list[Segment], place: int) -> bool:
    """Does the answer begin with this segment? It opens with "Answer:", or its first line is
    nothing else, or it is the room for an answer, and nobody answered above it."""
    segment = item[place]
    if segment.kind not in ("prose", "heading") or segment.struck:
        return False
    if is_hole(segment):
        return not answers_in(item[:place])

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
