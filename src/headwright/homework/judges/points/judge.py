"""What the points found amount to.

correct: every needed point is said and none is denied. wrong: a point is denied plainly and
lacking. incomplete: a needed point is lacking, and there are no words left in which it could have
been said. Anything else is unread.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from headwright.homework.judges.points.find import Found, find, outside, unexplained
from headwright.homework.judges.points.languages import well_read, written_in
from headwright.homework.judges.points.rubric import Rubric, names, rubric
from headwright.homework.judges.points.sentences import sentences
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning.statements import Statement
from headwright.homework.verdict import Outcome

# Words in clauses without any point, among which a lacking point may hide
MOST_UNEXPLAINED = 5
# Words outside the phrases found, in languages whose phrases are fewer
MOST_OUTSIDE = 6
# Words beside a denial, among which it may be taken back; a leading yes or no stands by itself
MOST_BESIDE_DENIAL = 25
MOST_REMARKS = 6
ELSEWHERE = "elsewhere"  # the point by which the answer to a neighbouring question is recognised


@dataclass(frozen=True)
class Reading:
    """The points of an answer. `shown` are those that a formula states, with it."""

    rubric: Rubric
    found: tuple[Found, ...]
    shown: Mapping[str, Statement]
    unexplained: float
    outside: float
    languages: frozenset[str]

    @property
    def said(self) -> set[str]:
        return {one.point.name for one in self._counted if one.said} | set(self.shown)

    @property
    def denied(self) -> set[str]:
        return {one.point.name for one in self._counted if not one.said}

    @property
    def _counted(self) -> list[Found]:
        """What was found. Where a yes or no settles a point in its favour, what comes later does
        not deny it; the other way round is a contradiction."""
        firsts = {one.point.name: one for one in reversed(self.found)}
        settled = {name for name, one in firsts.items() if one.point.first and one.said}
        return [one for one in self.found if one.said or one.point.name not in settled]

    @property
    def lacking(self) -> list[tuple[str, ...]]:
        """The needed groups of which nothing is said."""
        return [group for group in self.rubric.needed if self.said.isdisjoint(group)]

    @property
    def clear(self) -> bool:
        """Nothing is left in which a lacking point could have been said."""
        if not well_read(self.languages) and self.outside > MOST_OUTSIDE:
            return False
        return self.unexplained <= MOST_UNEXPLAINED


def judge_prose(answer: Answer) -> Judged:
    """By the rubric that the bank names; without one, words are quoted and not judged."""
    name = answer.question.parameters.get("rubric")
    if name is None:
        return unread("an answer in words: quoted, not judged")
    if name not in names():
        return unread(f"there is no rubric {name!r}; the bank may name {', '.join(names())}")
    return judged_by_points(read(answer, name))


def read(answer: Answer, name: str, shown: Mapping[str, Statement] | None = None) -> Reading:
    spoken = sentences(answer)
    languages = written_in(sentence.text for sentence in spoken)
    points = rubric(name)
    found = find(points, spoken, languages)
    stating = shown or {}
    stated = set(stating.values())
    rest = sum(unexplained(one, found, not stated.isdisjoint(one.statements)) for one in spoken)
    beside = sum(outside(sentence, found) for sentence in spoken)
    return Reading(points, tuple(found), stating, rest, beside, languages)


def judged_by_points(reading: Reading) -> Judged:
    return Judged(_outcome(reading), tuple(dict.fromkeys(reading.shown.values())))


def _outcome(reading: Reading) -> Outcome:
    remarks = _quotes(reading)
    if reading.lacking and ELSEWHERE in reading.said:
        reason = "this reads like the answer to a neighbouring question"
        return Outcome("unread", reason, remarks=remarks)
    contradicted = reading.denied - reading.said
    if contradicted and reading.lacking:
        return _contradicted(reading, contradicted)
    if reading.denied:
        both = f"one place says and another denies that {_named(reading, reading.denied)}"
        return Outcome("unread", both, remarks=remarks)
    if not reading.lacking:
        reason = f"it is said that {_named(reading, _deciding(reading))}"
        return Outcome("correct", reason, remarks=remarks)
    return _lacking(reading, remarks)


def _lacking(reading: Reading, remarks: tuple[str, ...]) -> Outcome:
    if not reading.said:
        reason = "an answer in words: none of the points looked for was recognised"
        return Outcome("unread", reason)
    lacks = " and that ".join(dict.fromkeys(_either(reading, g) for g in reading.lacking))
    if reading.said.isdisjoint(reading.rubric.partial) or not reading.clear:
        reason = f"that {lacks} may be said in words that were not understood"
        return Outcome("unread", reason, remarks=remarks)
    repair = reading.rubric.repair
    return Outcome("incomplete", f"it is not said that {lacks}", repair=repair, remarks=remarks)


def _contradicted(reading: Reading, points: Collection[str]) -> Outcome:
    denial = next(f for f in reading.found if f.point.name in points and not f.said)
    reason = f'"{denial.quote}" (line {denial.line}) contradicts that {denial.point.states}'
    remarks = _quotes(reading)
    if reading.unexplained > MOST_BESIDE_DENIAL and not denial.point.first:
        return Outcome("unread", f"{reason}; the rest was not understood", remarks=remarks)
    return Outcome("wrong", reason, repair=reading.rubric.repair, remarks=remarks)


def _quotes(reading: Reading) -> tuple[str, ...]:
    """Each point that was found, once, with its quote and place."""
    found = [one for one in reading.found if one.point.name != ELSEWHERE]
    first = {(one.point.name, one.said): one for one in reversed(found)}
    ordered = sorted(first.values(), key=lambda one: one.line)
    return tuple(_remark(one) for one in ordered[:MOST_REMARKS])


def _remark(one: Found) -> str:
    verb = "says" if one.said else "denies"
    return f'line {one.line} {verb} that {one.point.states}: "{one.quote}"'


def _named(reading: Reading, names: Collection[str]) -> str:
    stated = [point.states for point in reading.rubric.points if point.name in names]
    return " and that ".join(stated)


def _deciding(reading: Reading) -> set[str]:
    """The first point of each needed group that is said."""
    groups = reading.rubric.needed
    return {next(name for name in group if name in reading.said) for group in groups}


def _either(reading: Reading, group: Collection[str]) -> str:
    """The first point of a group stands for it."""
    return reading.rubric[next(iter(group))].states
