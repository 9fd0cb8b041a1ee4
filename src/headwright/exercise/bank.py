"""The question bank: what is asked, how an answer is found and which computation decides.

The built-in bank is a file of the same form a teacher writes (`--bank FILE.toml`), read by the same
function.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.exercise.courses import Course, courses_of, restored_course
from headwright.exercise.letters import letters_of
from headwright.exercise.wanted import check_wanted

# What may decide an answer; the checker has a judge for each of them.
TESTS = (
    "distribution",
    "condition",
    "output",
    "matrix",
    "query",
    "queries",
    "variation",
    "self_output",
    "self_matrices",
    "equivariance",
    "positions",
    "prose",
)
_NAME = re.compile(r"<(\w+)>")
_REQUIRED = {"id": str, "title": str, "asked": str, "test": str}


@dataclass(frozen=True)
class Question:
    """One question. `part` is the letter before the dot of its id; answers are looked for in the
    bank's order. `asks`: what a handout's text contains that asks it (`all` of these regular
    expressions, `unless` one of those)."""

    id: str
    title: str
    asked: str
    test: str
    right: str = ""
    explain: str = ""
    labels: tuple[str, ...] = ()
    points: float = 1.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    shapes: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, float] = field(default_factory=dict)
    asks: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def part(self) -> str:
        return self.id.partition(".")[0]


@dataclass(frozen=True)
class Bank:
    """`courses`: the known numberings; without one, the questions' own labels are the course.
    `elsewhere`: how strongly words point to something else on the same sheet. `letters`: what the
    sheet calls the keys a and b, where it calls them otherwise."""

    title: str
    setting: str
    questions: tuple[Question, ...]
    courses: tuple[Course, ...] = ()
    elsewhere: Mapping[str, float] = field(default_factory=dict)
    letters: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __getitem__(self, id: str) -> Question:
        for question in self.questions:
            if question.id == id:
                return question
        known = ", ".join(q.id for q in self.questions)
        raise InputError(wanted="the id of a question", got=repr(id), attempt=f"one of {known}")


def load(path: str | Path | None = None) -> Bank:
    """The bank in a TOML file; the classic exercise without one."""
    if path is None:
        built_in = resources.files("headwright.exercise").joinpath("bank.toml")
        table = tomllib.loads(built_in.read_text("utf-8"))
        return _bank(table, "the built-in bank")
    try:
        text = Path(path).read_text("utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            wanted="a readable TOML file", got=f"{path}: {error}", attempt="check the path"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            wanted="a question bank in TOML",
            got=f"{path}: {error}",
            attempt="see docs/guides/bank.md",
        ) from None
    return _bank(table, str(path))


def restored(record: str) -> Bank:
    """The bank that was written as JSON by `result.plain`; a process that judges gets it so."""
    table = json.loads(record)
    questions = tuple(_from_row(row) for row in table["questions"])
    courses = tuple(restored_course(row) for row in table["courses"])
    elsewhere = table["elsewhere"]
    return Bank(table["title"], table["setting"], questions, courses, elsewhere, table["letters"])


def _from_row(row: dict[str, Any]) -> Question:
    labels = tuple(row.get("labels", ()))
    return Question(**{**row, "labels": labels})


def _bank(table: dict[str, Any], where: str) -> Bank:
    rows = table.get("question")
    if not isinstance(rows, list) or not rows or not all(isinstance(r, dict) for r in rows):
        raise InputError(
            wanted="[[question]] tables", got=f"none in {where}", attempt="see docs/guides/bank.md"
        )
    vocabulary = _vocabulary(table, where)
    questions = tuple(_question(_spelled_out(row, vocabulary), where) for row in rows)

    ids = [q.id for q in questions]
    twice = sorted({i for i in ids if ids.count(i) > 1})
    if twice:
        raise InputError(
            wanted="each id once", got=f"{', '.join(twice)} twice in {where}", attempt="rename one"
        )

    title = str(table.get("title", where))
    setting = str(table.get("setting", ""))
    elsewhere = {"words": table.get("elsewhere", {})}
    _check_strengths(elsewhere, "elsewhere")
    _check_words(elsewhere)
    courses = _courses(table, questions, where)
    letters = letters_of(table.get("letters", {}), where)
    return Bank(title, setting, questions, courses, elsewhere["words"], letters)


def _vocabulary(table: dict[str, Any], where: str) -> Mapping[str, str]:
    """Word lists that several questions share, by name."""
    vocabulary = table.get("vocabulary", {})
    if not isinstance(vocabulary, dict) or not all(map(_is_text, vocabulary.values())):
        raise InputError(
            wanted="regular expressions in [vocabulary]",
            got=f"{vocabulary} in {where}",
            attempt='heads = "heads?|Köpfe"',
        )
    return {name: "".join(words.split("\n")) for name, words in vocabulary.items()}


def _spelled_out(row: dict[str, Any], vocabulary: Mapping[str, str]) -> dict[str, Any]:
    """The question with its word lists in place of their names: <heads>."""

    def spelled(pattern: str) -> str:
        return _NAME.sub(
            lambda name: vocabulary.get(name[1], name[0]), "".join(pattern.split("\n"))
        )

    out = dict(row)
    if isinstance(row.get("words"), dict):
        out["words"] = {spelled(pattern): weight for pattern, weight in row["words"].items()}
    asks = row.get("asks")
    if isinstance(asks, dict) and all(map(_are_texts, asks.values())):
        out["asks"] = {role: [spelled(pattern) for pattern in asks[role]] for role in asks}
    return out


def _courses(
    table: dict[str, Any], questions: tuple[Question, ...], where: str
) -> tuple[Course, ...]:
    rows = table.get("course", [])
    if not rows:
        return (Course("", {question.id: question.labels for question in questions}),)
    return courses_of(rows, {question.id for question in questions}, where)


def _question(row: dict[str, Any], where: str) -> Question:
    name = row.get("id", "a question without id")
    _check_keys(row, name, where)
    if row["test"] not in TESTS:
        raise InputError(
            wanted=f"a test among {', '.join(TESTS)}",
            got=f"{row['test']} in {name}",
            attempt="choose one",
        )
    _check_strengths(row, name)
    _check_labels(row, name)
    _check_target(row, name)
    _check_asks(row, name)
    _check_words(row)
    return _from_row(row)


def _check_keys(row: dict[str, Any], name: str, where: str) -> None:
    """Nothing that every question has is lacking, and nothing unknown is there."""
    for key, kind in _REQUIRED.items():
        if not isinstance(row.get(key), kind) or not row[key]:
            raise InputError(
                wanted=f"'{key}' as text in every question",
                got=f"{name} of {where}",
                attempt=f"add {key} = ...",
            )
    known = [entry.name for entry in fields(Question)]
    unknown = sorted(set(row) - set(known))
    if unknown:
        raise InputError(
            wanted=f"the keys {', '.join(known)}",
            got=f"{', '.join(unknown)} in {name} of {where}",
            attempt="remove or rename it",
        )


def _check_strengths(row: dict[str, Any], name: str) -> None:
    """Shapes and words carry numbers."""
    for key in ("shapes", "words"):
        table = row.get(key, {})
        if isinstance(table, dict) and all(_is_number(x) for x in table.values()):
            continue
        raise InputError(
            wanted=f"numbers in {key}", got=f"{table} in {name}", attempt='"query of keys" = 5'
        )


def _check_labels(row: dict[str, Any], name: str) -> None:
    labels = row.get("labels", [])
    if not isinstance(labels, list) or not all(isinstance(x, str) for x in labels):
        raise InputError(
            wanted="labels as a list of texts",
            got=f"{labels} in {name}",
            attempt='labels = ["b.2"]',
        )


def _check_target(row: dict[str, Any], name: str) -> None:
    if row["test"] in ("query", "queries"):
        check_wanted(row.get("parameters", {}), name)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _check_asks(row: dict[str, Any], name: str) -> None:
    asks = row.get("asks", {})
    known = isinstance(asks, dict) and set(asks) <= {"all", "unless"}
    if not known or not all(map(_are_texts, asks.values())):
        raise InputError(
            wanted="lists of regular expressions under 'all' and 'unless' in asks",
            got=f"{asks} in {name}",
            attempt='asks = { all = ["matrix", "basis"] }',
        )


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _check_words(row: dict[str, Any]) -> None:
    asks = row.get("asks", {})
    for pattern in (*row.get("words", {}), *asks.get("all", ()), *asks.get("unless", ())):
        try:
            re.compile(pattern)
        except re.error as error:
            raise InputError(
                wanted="regular expressions in words and asks",
                got=f"{pattern}: {error}",
                attempt="escape it",
            ) from None
