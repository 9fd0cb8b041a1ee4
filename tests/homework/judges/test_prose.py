"""Answers in words, each judged alone: the locating of answers has its own tests."""

import tomllib
from pathlib import Path

import pytest

from headwright.exercise.bank import load
from headwright.homework.locating.answer import Answer
from headwright.homework.locating.locate import Located
from headwright.homework.meaning.statements import stream
from headwright.homework.one_answer import JUDGES
from headwright.homework.reading.formats import read_text

TABLE = tomllib.loads(Path(__file__).with_name("prose.toml").read_text("utf-8"))
ROWS = [
    (question, status, text)
    for question, by_status in TABLE.items()
    for status, texts in by_status.items()
    for text in texts
]
BANK = load()


def answered(question, text):
    """The whole text as the answer to this question."""
    document = read_text(text, name="answer.md")
    pieces = tuple(stream(document))
    segments = tuple(range(len(document.segments)))
    located = Located(question, segments, (0, len(text)), 1.0)
    return Answer(BANK[question], located, document, pieces, pieces)


def judged(question, text):
    answer = answered(question, text)
    return JUDGES[answer.question.test](answer).outcome


@pytest.mark.parametrize(("question", "status", "text"), ROWS)
def test_answers_in_words(question, status, text):
    outcome = judged(question, text)
    assert outcome.status == status, (text, outcome.reason, outcome.remarks)
