"""Templates that students fill in, in every layout and language: each question has a row, what was
left blank is missing, and what was answered is not."""

from __future__ import annotations

import pytest
from tests.homework.corpus.templates import HANDOUTS, LAYOUTS, template

from headwright.homework.batch import judge_many
from headwright.homework.reading.sources import Source

LEAST_MISSING = 0.97  # of the blanks: measured, rounded down


def _answered(language: str, turn: int) -> frozenset[str]:
    """Nothing, or every second question."""
    questions = list(HANDOUTS[language]["questions"])
    return frozenset(questions[turn - 1 :: 2]) if turn else frozenset()


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """(layout and language, what was answered, status by question) for each document."""
    folder = tmp_path_factory.mktemp("templates")
    sources = []
    written = []
    for row, layout in enumerate(LAYOUTS):
        for column, language in enumerate(HANDOUTS):
            answered = _answered(language, (row + column) % 3)
            name = f"{layout.name}-{language}{layout.suffix}"
            path = folder / name
            path.write_text(template(layout, language, answered), encoding="utf-8")
            sources.append(Source(name, path))
            written.append((name, language, answered))
    outcomes = judge_many(sources, workers=2, seconds=60)
    return [
        (name, language, answered, {v.question: v.status for v in outcome.report.verdicts})
        for (name, language, answered), outcome in zip(written, outcomes, strict=True)
    ]


def test_every_question_of_a_template_has_a_row_and_no_other(judged):
    for name, language, _, statuses in judged:
        assert set(statuses) == set(HANDOUTS[language]["questions"]), name


def test_blanks_of_a_template_are_missing(judged):
    blanks = [
        (name, question, statuses[question])
        for name, language, answered, statuses in judged
        for question in HANDOUTS[language]["questions"]
        if question not in answered
    ]
    others = [blank for blank in blanks if blank[2] != "missing"]
    assert 1 - len(others) / len(blanks) >= LEAST_MISSING, others
    assert all(status == "unread" for _, _, status in others), "a question was judged as an answer"


def test_answers_in_a_template_are_found(judged):
    for name, _, answered, statuses in judged:
        assert {statuses[question] for question in answered} <= {"correct"}, (name, statuses)
