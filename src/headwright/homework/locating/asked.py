"""Which questions a document asks, where the handout's text was left in it.

A question's own words say what it asks better than any numbering. The phrases are data
(`asked.toml`).
"""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from headwright.homework.reading.document import Segment
from headwright.homework.reading.segments.asking import ASKING, act_of
from headwright.homework.reading.segments.sentences import Sentence, sentences
from headwright.homework.reading.segments.who_speaks import items, only_announces

_LABEL_TOKEN = re.compile(r"[a-z]+|\d+")
_MOST_READ = 4000  # characters of one question
# What stands where an answer should be
_PLACEHOLDER = re.compile(
    r"[\W_]*(?:(?:to ?do|tbd|n/?a|your (?:answer|solution|response)(?: goes)?(?: here)?|write your"
    r" (?:answer|solution|response)[^.]{0,20}|insert[^.]{0,30}here|(?:left )?blank|skip(?:ped)?"
    r"|no answer|not (?:done|attempted)|(?:(?:my|our) )?(?:answers?|solutions?)|ans|response"
    r"|lösung|antwort|respuesta|resposta|réponse|답|풀이|解答?|答案?|略|待补充?|未完成|未作答|없음|なし)[\W_]*){0,2}",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Asked:
    """A question in the handout's words, with the numbers of the segments that ask it and of those
    that answer it right there."""

    question: str
    segments: tuple[int, ...]
    answer: tuple[int, ...]
    label: str = ""
    why: str = ""  # it counts as asked, where its words do not stand there


@dataclass(frozen=True)
class _Entry:
    question: str
    needed: tuple[re.Pattern[str], ...]
    unless: tuple[re.Pattern[str], ...]
    after: Mapping[str, str]

    def fits(self, text: str) -> bool:
        if any(pattern.search(text) for pattern in self.unless):
            return False
        return all(pattern.search(text) for pattern in self.needed)


@functools.cache
def _entries() -> tuple[_Entry, ...]:
    file = resources.files("headwright.homework.locating").joinpath("asked.toml")
    table = tomllib.loads(file.read_text("utf-8"))
    return tuple(_entry(entry) for entry in table["asked"])


def _entry(entry: Mapping[str, Any]) -> _Entry:
    needed = _compiled(entry["all"])
    unless = _compiled(entry.get("unless", ()))
    return _Entry(entry["question"], needed, unless, entry.get("after", {}))


def _compiled(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern.replace("\n", ""), re.IGNORECASE) for pattern in patterns)


def asked_questions(segments: Sequence[Segment]) -> list[Asked]:
    """All questions that are recognised in the handout's text, in document order."""
    numbered = iter(enumerate(segments))
    found: list[Asked] = []
    waiting: list[int] = []  # places in `found`: asked together, not answered yet
    scene = ""
    for item in items(segments):
        own = list(itertools.islice(numbered, len(item)))
        blocks = _blocks(own)
        if not blocks:
            _answer_below(found, waiting, own)
            continue
        if waiting and found[waiting[0]].answer:
            waiting = []
        for block, answer in blocks:
            spoken = sentences([segments[k] for k in block])
            if not _asks(spoken):
                scene = _said(spoken)
                continue
            before = found[-1].question if found else ""
            named = _named(spoken, before, scene)
            waiting += [len(found) + k for k in range(len(named))]
            label = _last_token(item[0].label)
            found += [Asked(question, block, answer, label) for question in named]
    return found


def _answer_below(found: list[Asked], waiting: list[int], item: list[tuple[int, Segment]]) -> None:
    """Questions asked together are answered below, under the same numbers; the last of them also
    under a heading that numbers nothing."""
    label = _last_token(item[0][1].label)
    spoken = tuple(k for k, segment in item if not is_silent(segment))
    open_ones = [place for place in waiting if not found[place].answer]
    own = [place for place in open_ones if found[place].label == label]
    if not label and open_ones:
        own = [place for place in open_ones if place == len(found) - 1]
    if spoken and own:
        found[own[0]] = replace(found[own[0]], answer=spoken)


def _last_token(label: str | None) -> str:
    tokens = _LABEL_TOKEN.findall((label or "").lower())
    return tokens[-1] if tokens else ""


def _blocks(item: list[tuple[int, Segment]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The item's runs of question and answer, as pairs of segment numbers."""
    runs: list[tuple[bool, list[int]]] = []
    spoken = [(k, segment) for k, segment in item if segment.kind != "heading"]
    for asks, run in itertools.groupby(spoken, key=lambda pair: pair[1].voice == "question"):
        runs.append((asks, [k for k, segment in run if asks or not is_silent(segment)]))

    blocks: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for place, (asks, run) in enumerate(runs):
        if asks:
            behind = runs[place + 1][1] if place + 1 < len(runs) else []
            blocks.append((tuple(run), tuple(behind)))
    return blocks


def is_silent(segment: Segment) -> bool:
    """A title, or nothing but "Answer:", dots or "TODO"."""
    if segment.kind == "heading" or segment.voice == "question":
        return True
    if segment.kind == "math":
        return False
    beginning = segment.text[:200]
    return only_announces(beginning) or _PLACEHOLDER.fullmatch(beginning) is not None


def _named(spoken: list[Sentence], before: str, scene: str) -> list[str]:
    """What a block asks behind question `before`: one question, or several in paragraphs of their
    own. `scene` is what its part says about all of its questions."""
    whole = _said(spoken)
    question = question_of(whole, before) or question_of(f"{scene} {whole}", before)
    named: list[str] = []
    waiting: list[Sentence] = []
    for _, paragraph in itertools.groupby(spoken, key=lambda sentence: sentence.paragraph):
        waiting += paragraph
        if _asks(waiting):
            named.append(question_of(_said(waiting), before))
            waiting = []
    distinct = list(dict.fromkeys(filter(None, named)))
    if len(distinct) > 1:
        return distinct
    return [question] if question else []


def _said(spoken: list[Sentence]) -> str:
    return " ".join(sentence.text for sentence in spoken)


def _asks(spoken: list[Sentence]) -> bool:
    return any(act_of(sentence) in ASKING for sentence in spoken)


def question_of(text: str, before: str = "") -> str:
    """The id of the question that this text asks behind question `before`; empty where none is
    recognised."""
    read = text[:_MOST_READ]
    for entry in _entries():
        if entry.fits(read):
            return entry.after.get(before, entry.question)
    return ""
