"""Every question that a document asks has a row; what was left blank is missing, and an answer
never is. Judged in worker processes, without the shape checks that slow a judgement down."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from headwright.exercise.bank import load
from headwright.homework.batch import judge_many
from headwright.homework.locating.asked import asked_questions
from headwright.homework.locating.editions import editions_of, exercises
from headwright.homework.reading.formats import read_text
from headwright.homework.reading.sources import Source

HANDOUTS = Path(__file__).parents[1] / "corpus" / "handouts"
BANK = load()
DESERVED = tomllib.loads((HANDOUTS / "deserves.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def judged():
    documents = [Source(name, HANDOUTS / name) for name in DESERVED]
    outcomes = judge_many(documents, workers=2, seconds=60)
    return {outcome.report.document: outcome.report for outcome in outcomes}


@pytest.mark.parametrize("name", DESERVED)
def test_what_is_blank_is_missing_and_nothing_else_is(judged, name):
    statuses = {verdict.question: verdict.status for verdict in judged[name].verdicts}
    blank = {q for q, deserved in DESERVED[name].items() if deserved == "missing"}
    may_be_blank = {q for q, deserved in DESERVED[name].items() if "missing" in deserved}
    missing = {question for question, status in statuses.items() if status == "missing"}
    assert blank <= missing <= may_be_blank


@pytest.mark.parametrize("name", DESERVED)
def test_every_question_that_is_asked_has_a_row_and_no_other(judged, name):
    assert {verdict.question for verdict in judged[name].verdicts} == set(DESERVED[name])


@pytest.mark.parametrize("name", DESERVED)
def test_answers_among_questions_are_not_misjudged(judged, name):
    statuses = {verdict.question: verdict.status for verdict in judged[name].verdicts}
    for question, deserved in DESERVED[name].items():
        assert statuses[question] in (*deserved.split("|"), "unread")


@pytest.mark.parametrize("name", DESERVED)
def test_a_missing_answer_says_why_and_where(judged, name):
    for verdict in judged[name].verdicts:
        if verdict.status == "missing":
            assert verdict.reason
            assert verdict.span is not None
            assert not verdict.answer, "the handout's words are not the student's"


@pytest.mark.parametrize(
    ("text", "before", "question"),
    [
        ("Why may $\\alpha$ be viewed as a categorical distribution?", "", "a.prob"),
        ("When is nearly all of the weight on one key?", "", "a.cond"),
        ("Describe $c$ in this case.", "a.cond", "a.out"),
        ("What will the output $c$ look like then?", "a.cond", "a.out"),
        ("用一两句话说明它的直观意义。", "", "a.intu"),
        ("Construya una matriz $M$ que extraiga $v_a$ con la base del subespacio.", "", "b.M"),
        ("Finden Sie $q$ mit $c \\approx \\frac12 (v_a + v_b)$.", "", "b.q"),
        ("Conçois $q$ en fonction des $\\mu_i$.", "", "c.q"),
        ("서로 다른 샘플에서 $c$ 는 어떻게 보이는가?", "c.q", "c.var"),
        ("サンプルごとに出力 $c$ はどうなるか。", "d.q", "d.var"),
        ("Give $q_1$ and $q_2$ such that their average is right.", "", "d.q"),
        ("Por que várias cabeças superam os problemas de uma só?", "", "e.sum"),
        ("Which vector does $c_2$ approach if $x_2 = u_a$?", "", "e.c2"),
        ("Give $K$, $Q$, $V$ so that $c_2 \\approx u_b$.", "e.c2", "e.KQV"),
        ("请证明：打乱 $X$ 的行之后输出 $Z$ 也同样打乱。", "", "p.perm"),
        ("为什么这个性质对文本处理是一个问题？", "p.perm", "p.why"),
        ("Do the position embeddings fix the issue that you identified?", "", "p.help"),
        ("¿Pueden coincidir los vectores de posición de dos palabras? ¿Son iguales?", "", "p.same"),
        ("What is the capital of France?", "", ""),
    ],
)
def test_a_question_is_known_by_its_words_and_the_one_before(text, before, question):
    asked = [BANK[before].asked, text] if before else [text]
    segments = read_text("\n\n".join(asked), name="t", suffix=".md").segments
    found = [one.question for one in asked_questions(segments, BANK)]
    assert found[-1:] == ([question] if question else [])


def test_questions_asked_together_find_their_answers_below():
    text = "i. Describe $c$ in that case.\n\nii. Find $q$ with $c \\approx \\frac12(v_a+v_b)$.\n\n"
    text += "Answers:\n\ni. $c \\approx v_j$\n\nii. $q = \\beta(k_a+k_b)$"
    segments = read_text(text, name="t", suffix=".md").segments
    found = asked_questions(segments, BANK)
    answers = ["".join(segments[k].text for k in one.answer) for one in found]
    assert [one.question for one in found] == ["a.out", "b.q"]
    assert answers == [r"c \approx v_j", r"q = \beta(k_a+k_b)"]


@pytest.mark.parametrize(
    ("labels", "last"),
    [
        (["(a)", "(b)", "(c) i.", "(c) ii."], "e.KQV"),
        (["1(a)(i)", "1(a)(ii)", "1(b)", "1(c)(i)"], "e.sum"),
        (["(a) i.", "(a) ii.", "(b) i.", "(b) ii."], "p.same"),
        (["(a) i.", "(a) ii.", "(b) i."], ""),  # one handout or the other
        (["(a)", "(b)", "(c) ii.", "(d) i.", "(e) ii."], "e.KQV"),  # numbers were left out
        (["(a)", "(b)", "(c)"], ""),
        (["(b)", "(d) i."], ""),
    ],
)
def test_a_numbering_leads_to_the_handout_that_has_it(labels, last):
    text = "\n\n".join(f"{label} $x = {place}$" for place, label in enumerate(labels))
    (exercise,) = exercises(read_text(text, name="t", suffix=".md").segments)
    found = editions_of(exercise, BANK)
    assert [list(edition.questions.values())[-1] for edition in found] == ([last] if last else [])


@pytest.mark.parametrize(
    ("text", "suffix", "answers"),
    [
        # A photograph of an answer is there, though nobody can read it
        ("(a) Describe the output $c$ in that case.\n\n![scan](a.png)", ".md", ["![scan](a.png)"]),
        (
            "\\item Describe the output $c$ in that case.\n\n\\includegraphics{a}",
            ".tex",
            ["[image]"],
        ),
        # An answer on the question's own line
        ("(a) Describe the output $c$ in that case: $c \\approx v_j$", ".md", None),
        # Under a heading that numbers nothing
        ("### (a)\nDescribe $c$ in that case.\n\n### Thoughts\nA copy.", ".md", ["A copy."]),
        ("### (a)\nDescribe $c$ in that case.\n\n### (b)\nA copy.", ".md", [""]),
        ("### (a)\nDescribe $c$ in that case.\n\n**Answer:** _TODO_", ".md", [""]),
    ],
)
def test_what_counts_as_an_answer(text, suffix, answers):
    segments = read_text(text, name="t", suffix=suffix).segments
    found = asked_questions(segments, BANK)
    spoken = [" ".join(segments[k].text for k in one.answer) for one in found]
    assert spoken == (answers or [])
