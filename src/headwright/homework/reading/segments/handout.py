"""Which sentences of an item are the handout's: up to the last one that asks, with the hints behind
it. The answer begins after that.

A student asks, too ("why does this work?", "we want to find q"). So after the answer has begun only
a sentence that addresses its reader opens a question again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from headwright.homework.reading.document import Segment
from headwright.homework.reading.segments.asking import ASKING, Act, act_of, states_result
from headwright.homework.reading.segments.sentences import Sentence, sentences


@dataclass(frozen=True)
class Stretch:
    """Characters `start:end` of a segment, and whether the handout speaks there."""

    start: int
    end: int
    asked: bool


@dataclass
class _Talk:
    """What is known after some of an item's sentences."""

    spoken: list[Sentence] = field(default_factory=list)
    handout: set[int] = field(default_factory=set)  # numbers of sentences
    waiting: list[int] = field(default_factory=list)  # open: scene of a question, or an answer
    leading: bool = False  # one of those waiting leads up to a question
    stating: bool = False  # one of those waiting does not
    answered: bool = False
    paragraph: int = 0  # of the handout's last sentence

    def hear(self, sentence: Sentence, act: Act, *, only_asks: bool) -> None:
        """`only_asks`: its paragraph does nothing else."""
        number = len(self.spoken)
        self.spoken.append(sentence)
        if only_asks and not self._is_scene():
            self._take(number, with_scene=False)
        elif act == "answers":
            self.answered = True
        elif act == "requests" or (act in ("asks", "tells") and self._is_scene()):
            self._take(number, with_scene=self._is_scene())
        elif act == "questions" and self._is_scene():
            self._take(number, with_scene=self.leading)
        elif act in ("follows", "leads") and number - 1 in self.handout:
            # Behind a question only a hint goes on with it; behind the scene, more of the scene
            self._go_on(number, act)
        else:
            self._wait(number, act)

    def _is_scene(self) -> bool:
        """May what waits be the handout's? Before the first question, in its paragraph, or where it
        leads up to the next."""
        if self.answered:
            return False
        if not self.waiting or not self.handout or self.leading:
            return True
        return self.spoken[self.waiting[-1]].paragraph == self.paragraph

    def _take(self, number: int, *, with_scene: bool) -> None:
        if with_scene:
            self.handout.update(self.waiting)
        self.handout.add(number)
        self.paragraph = self.spoken[number].paragraph
        self._forget()

    def _go_on(self, number: int, act: Act) -> None:
        if act == "follows" or act_of(self.spoken[number - 1]) in ("tells", "leads"):
            self._take(number, with_scene=False)
        else:
            self._wait(number, act)

    def _wait(self, number: int, act: Act) -> None:
        self.waiting.append(number)
        leads = act in ("leads", "follows")
        self.leading = self.leading or leads
        self.stating = self.stating or not leads

    def end(self) -> None:
        """What only goes on with the scene and leads nowhere belongs to the question before it."""
        if self.handout and not self.answered and not self.stating:
            self.handout.update(self.waiting)

    def _forget(self) -> None:
        self.waiting = []
        self.leading = False
        self.stating = False
        self.answered = False


def handout_stretches(item: Sequence[Segment]) -> Iterator[tuple[int, list[Stretch]]]:
    """For every segment of an item, who speaks where in it."""
    talk = _Talk()
    acts: list[tuple[Sentence, Act]] = [(one, act_of(one)) for one in sentences(item)]
    for _, paragraph in itertools.groupby(acts, key=lambda pair: pair[0].paragraph):
        spoken = list(paragraph)
        only_asks = _only_asks([act for _, act in spoken])
        for sentence, act in spoken:
            talk.hear(sentence, act, only_asks=only_asks)
    talk.end()

    asked: list[list[tuple[int, bool]]] = [[] for _ in item]
    for number, sentence in enumerate(talk.spoken):
        for segment, _, end in sentence.pieces:
            asked[segment].append((end, number in talk.handout))
    for place, segment in enumerate(item):
        yield place, _merged(asked[place], len(segment.text))


def _only_asks(acts: list[Act]) -> bool:
    return "" not in acts and "answers" not in acts and not ASKING.isdisjoint(acts)


def answers_in(item: Sequence[Segment]) -> bool:
    """Does somebody answer here: with a result, or in words below the first paragraph?"""
    first = item[0].paragraph if item else 0
    for sentence in sentences(item):
        below = sentence.paragraph != first and act_of(sentence) == "answers"
        if below or states_result(sentence):
            return True
    return False


def sets_scene(item: Sequence[Segment], *, titled: bool) -> bool:
    """Nothing but what could lead up to questions: nobody answers, and it opens like a handout,
    unless it stands above a list of questions (`titled`)."""
    acts = [act_of(sentence) for sentence in sentences(item)]
    opens = any(act in ("leads", "tells") for act in acts[:2])
    return "answers" not in acts and (titled or opens)


def _merged(ends: list[tuple[int, bool]], length: int) -> list[Stretch]:
    stretches: list[Stretch] = []
    start = 0
    for end, asked in ends:
        if stretches and stretches[-1].asked == asked:
            start = stretches.pop().start
        stretches.append(Stretch(start, end, asked))
        start = end
    if not stretches:
        return [Stretch(0, length, asked=False)]
    return stretches
