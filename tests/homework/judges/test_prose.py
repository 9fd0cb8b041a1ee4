"""Answers in words, each judged alone: the locating of answers has its own tests."""

import time
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from headwright.exercise.bank import load
from headwright.homework.judges.points.formulas_as_words import as_words
from headwright.homework.judges.points.judge import judge_prose
from headwright.homework.judges.points.rubric import rubric
from headwright.homework.locating.answer import Answer
from headwright.homework.locating.locate import Located
from headwright.homework.meaning.statements import stream
from headwright.homework.one_answer import JUDGES
from headwright.homework.one_document import judge_document
from headwright.homework.reading.formats import read_text

TABLES = [
    tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))
    for name in ("prose.toml", "claims_in_words.toml")
]
ROWS = [
    (question, status, text)
    for table in TABLES
    for question, by_status in table.items()
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


EQUAL = r"(d) i. $q_1 = q_2 = \beta(\mu_a + \mu_b)$, $\beta \gg 0$"
APART = r"(d) i. $q_1 = \beta\mu_a$, $q_2 = \beta\mu_b$, $\beta \gg 0$"


@pytest.mark.parametrize(
    ("queries", "claim", "status"),
    [
        (APART, "The variance of $c$ is much smaller than with one head.", "correct"),
        (EQUAL, "The variance of $c$ is much smaller than with one head.", "wrong"),
        (EQUAL, r"Averaged over heads we get $c \approx \frac{1}{2}(v_a + v_b)$.", "wrong"),
        (EQUAL, "The output $c$ swings between $v_a$ and $v_b$.", "correct"),
        (APART, "The output $c$ swings between $v_a$ and $v_b$.", "wrong"),
    ],
)
def test_a_claim_about_two_heads_is_held_against_their_queries(queries, claim, status):
    document = read_text(f"{queries}\n\n(d) ii. {claim}", name="answer.md")
    verdicts = {verdict.question: verdict for verdict in judge_document(document).verdicts}
    assert verdicts["d.var"].status == status, verdicts["d.var"].reason


UNEVEN = r"(d) i. $q_1 = \beta(\mu_a + \mu_b)$, $q_2 = \beta(\mu_a - \mu_b)$, $\beta \gg 0$"
UNREADABLE = r"(d) i. $q_1 = w_1$ and $q_2 = w_2$"
ONE_KEY = r"(d) i. $q_1 = \beta\mu_a$, $q_2 = \beta\mu_a$, $\beta \gg 0$"


@pytest.mark.parametrize(
    ("queries", "claim", "status"),
    [
        (UNREADABLE, "The output $c$ swings between $v_a$ and $v_b$.", "unread"),
        (ONE_KEY, r"The output $c$ stays near $\frac{1}{2}(v_a + v_b)$.", "wrong"),
        (UNEVEN, r"The output $c$ stays near $\frac{1}{2}(v_a + v_b)$.", "wrong"),
        (UNEVEN, "The output stays near the average of both values.", "wrong"),
        (UNEVEN, "The variance of $c$ is much smaller than with one head.", "correct"),
    ],
)
def test_queries_that_fail_or_were_not_read(queries, claim, status):
    document = read_text(f"{queries}\n\n(d) ii. {claim}", name="answer.md")
    verdicts = {verdict.question: verdict for verdict in judge_document(document).verdicts}
    assert verdicts["d.var"].status == status, verdicts["d.var"].reason


@pytest.mark.parametrize(
    ("question", "short", "rest"),
    [
        (
            "a.prob",
            "All the weights are positive.",
            "However one slices the pie, there is exactly a single pie on the table before us.",
        ),
        (
            "p.same",
            "No, never.",
            "This is a deep fact about circles, known to people with ruler and compass.",
        ),
    ],
)
def test_a_lacking_point_may_hide_in_words_that_were_not_understood(question, short, rest):
    assert judged(question, short).status == "incomplete"
    outcome = judged(question, f"{short} {rest}")
    assert outcome.status == "unread"
    assert "may be said in words that were not understood" in outcome.reason


def test_a_point_is_quoted_with_its_place():
    outcome = judged("p.why", "One remark first.\n\nThe model sees a bag of words.")
    (remark,) = outcome.remarks
    assert "line 3" in remark
    assert '"The model sees a bag of words"' in remark


def test_a_denial_is_quoted_in_the_reason():
    outcome = judged("p.same", "Yes, after a full period.")
    assert outcome.status == "wrong"
    assert '"Yes" (line 1)' in outcome.reason


def test_a_bank_without_a_rubric_leaves_words_unread():
    answer = answered("p.why", "The order is lost.")
    plain = replace(answer.question, parameters={})
    assert judge_prose(replace(answer, question=plain)).outcome.status == "unread"
    unknown = replace(answer.question, parameters={"rubric": "z.z"})
    assert "no rubric 'z.z'" in judge_prose(replace(answer, question=unknown)).outcome.reason


@pytest.mark.parametrize("question", TABLES[0])
def test_every_point_that_is_needed_exists(question):
    table = rubric(question)
    needed = {name for group in table.needed for name in group}
    assert needed | table.partial <= {point.name for point in table.points}


@pytest.mark.parametrize("question", TABLES[0])
def test_long_answers_are_read_in_time_that_grows_with_their_length(question):
    """A thousand sentences of words that begin many phrases and end none."""
    words = "attention weights order c oscillates between v_a the output sums heads each not. "
    started = time.process_time()
    judged(question, words * 1000)
    assert time.process_time() - started < 20


def test_formulas_are_spelled_as_words():
    spelled = as_words(r"$\mathbf{c} \approx \frac{1}{2}(\mathbf{v}_{a} + v_b)$, ‖kₐ‖ ≫ 1")
    assert spelled == "c ~= 1/2(v_a + v_b), |k_a| >> 1"


def test_a_denial_among_much_that_was_not_understood_is_left_to_a_person():
    denial = "The word order is preserved."
    beside = "The third sheet of our notes goes on about it, at length and with more examples. "
    assert judged("p.why", denial).status == "wrong"
    assert judged("p.why", f"{denial} {beside * 3}").status == "unread"


def test_a_sentence_goes_on_over_the_end_of_a_line():
    """A negation at the end of a line belongs to what is on the next."""
    document = read_text(
        "(a) i. No\nentry is negative, and the entries add up to one.\n", name="t.md"
    )
    found = judge_document(document).verdicts
    assert [(verdict.question, verdict.status) for verdict in found] == [("a.prob", "correct")]
