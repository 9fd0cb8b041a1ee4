import pytest

from headwright.course.hand_ins import merged
from headwright.course.marks import Graded, Mark
from headwright.course.people import Student
from headwright.course.rubric import grade, plain_rubric, read_rubric
from headwright.course.rubric.grading import strangers
from headwright.errors import InputError
from headwright.exercise.bank import load
from headwright.homework.verdict import Report, Verdict, unreadable

BANK = load()
ANA = Student("u1", names=("al1",))
RUBRIC = """total = 6
[shares]
incomplete = 0.4

[question."a.cond"]
points = 2
[question."b.q"]
points = 4
steps = 0.25
visibility = "after_published"
texts = { wrong = "Compare the logits." }
[[question."b.q".fault]]
says = "scale"
text = "The scale is missing."
share = 0.75
"""
OVERRIDE = """
[[override]]
student = "al1"
question = "b.q"
points = 3.5
reason = "right in words"
"""


def written(tmp_path, text):
    file = tmp_path / "rubric.toml"
    file.write_text(text, encoding="utf-8")
    return file


def verdict(question, status, reason="", steps=()):
    return Verdict(question, "q = k_a", status, reason, steps=steps)


def report(*verdicts):
    return Report("hw.md", verdicts)


def marks(tmp_path, text, *verdicts, student=ANA):
    graded = grade(student, report(*verdicts), read_rubric(written(tmp_path, text), BANK))
    return {mark.question: mark for mark in graded.marks}


@pytest.mark.parametrize(
    ("status", "points"),
    [("correct", 4), ("incomplete", 1.6), ("wrong", 0), ("missing", 0), ("unread", None)],
)
def test_points_by_status(tmp_path, status, points):
    assert marks(tmp_path, RUBRIC, verdict("b.q", status))["b.q"].points == points


def test_a_named_question_counts_although_nothing_was_found(tmp_path):
    found = marks(tmp_path, RUBRIC, verdict("b.q", "correct"), verdict("c.q", "correct"))

    assert list(found) == ["a.cond", "b.q"]
    assert found["a.cond"].status == "missing"
    assert found["a.cond"].points == 0


def test_right_steps_earn_their_share_and_never_less_than_the_answer(tmp_path):
    steps = (verdict("b.q/step:1", "correct"), verdict("b.q/step:2", "wrong"))
    found = marks(tmp_path, RUBRIC, verdict("b.q", "wrong", steps=steps))
    assert found["b.q"].points == 0.25 * 0.5 * 4

    better = marks(tmp_path, RUBRIC, verdict("b.q", "incomplete", steps=steps))
    assert better["b.q"].points == 1.6


def test_a_known_fault_has_its_text_and_its_share(tmp_path):
    found = marks(tmp_path, RUBRIC, verdict("b.q", "wrong", "there is no scale in it"))
    assert found["b.q"].points == 3
    assert found["b.q"].text == "The scale is missing."

    other = marks(tmp_path, RUBRIC, verdict("b.q", "wrong", "another key wins"))
    assert other["b.q"].text == "Compare the logits."
    assert other["b.q"].visibility == "after_published"


def test_an_override_survives_every_verdict(tmp_path):
    for status in ("correct", "wrong", "unread"):
        found = marks(tmp_path, RUBRIC + OVERRIDE, verdict("b.q", status))
        assert found["b.q"].points == 3.5
        assert found["b.q"].by_hand == "right in words"
    somebody = marks(tmp_path, RUBRIC + OVERRIDE, verdict("b.q", "wrong"), student=Student("u2"))
    assert somebody["b.q"].points == 0


def test_overrides_for_nobody_are_noticed(tmp_path):
    rubric = read_rubric(written(tmp_path, RUBRIC + OVERRIDE), BANK)

    assert not strangers(rubric, [ANA])
    assert [one.student for one in strangers(rubric, [Student("u2")])] == ["al1"]


def test_an_unreadable_document_waits_for_a_person():
    graded = grade(ANA, unreadable("hw.pdf", "a scan"), plain_rubric(BANK))

    assert graded.points == 0
    assert graded.open_points == graded.max_points > 0


def test_what_is_missing_beside_an_unreadable_document_waits_for_a_person():
    """A scan beside the text may have the answer; what was not asked is not counted."""
    rows = (Verdict("a.cond", "", "missing", ""), Verdict("b.q", "q = k_a", "wrong", "no"))
    whole = merged([Report("hw.md", rows), unreadable("scan.pdf", "a scan")])
    marks = {mark.question: mark for mark in grade(ANA, whole, plain_rubric(BANK)).marks}

    assert marks.keys() == {"a.cond", "b.q"}
    assert (marks["a.cond"].status, marks["a.cond"].points) == ("unread", None)
    assert (marks["b.q"].status, marks["b.q"].points) == ("wrong", 0)
    assert whole.unread == ""


def test_unread_may_be_worth_something(tmp_path):
    text = RUBRIC.replace("incomplete = 0.4", "unread = 0.0")

    assert marks(tmp_path, text, verdict("b.q", "unread"))["b.q"].points == 0


def test_without_a_rubric_what_was_asked_counts():
    graded = grade(ANA, report(verdict("b.q", "correct")), plain_rubric(BANK))

    assert [mark.question for mark in graded.marks] == ["b.q"]


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (("total = 6", "total = 7"), 1, "add up to 7"),
        (("incomplete = 0.4", "incomplete = 1.4"), 3, "from 0 to 1"),
        (("incomplete = 0.4", "halfway = 0.4"), 3, "correct, incomplete"),
        (('"a.cond"', '"a.kond"'), 5, "a.prob"),
        (("points = 4", "points = nan"), 8, "not negative"),
        (("points = 4", 'points = "4"'), 8, "not negative"),
        (("points = 4", "points = true"), 8, "not negative"),
        (("after_published", "sometimes"), 10, "after_due_date"),
        (('says = "scale"', 'says = "sc(ale"'), 13, "regular expression"),
        (('text = "The scale is missing."', ""), 12, "a text for text"),
        (("steps = 0.25", "stepz = 0.25"), 9, "steps"),
    ],
)
def test_errors_name_their_line(tmp_path, change, line, said):
    with pytest.raises(InputError, match=f"(?s){said}.*line {line} of") as caught:
        read_rubric(written(tmp_path, RUBRIC.replace(*change)), BANK)
    assert "docs/guides/course.md" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("points = 3.5", "points = 4.5"), "at most 4 points.*line 20"),
        (('reason = "right in words"', ""), "a text for reason.*line 17"),
        (('question = "b.q"', 'question = "c.q"'), "of this rubric.*line 19"),
    ],
)
def test_errors_in_overrides_name_their_line(tmp_path, change, said):
    text = RUBRIC + OVERRIDE.replace(*change)
    with pytest.raises(InputError, match=f"(?s){said}"):
        read_rubric(written(tmp_path, text), BANK)


def test_two_overrides_for_one_answer_are_refused(tmp_path):
    with pytest.raises(InputError, match="line 23"):
        read_rubric(written(tmp_path, RUBRIC + OVERRIDE + OVERRIDE), BANK)


@pytest.mark.parametrize("text", ["[question", "question = 3", "override = 3"])
def test_what_is_no_rubric_is_one_clear_line(tmp_path, text):
    with pytest.raises(InputError):
        read_rubric(written(tmp_path, text), BANK)


def test_a_total_is_the_number_that_a_person_would_write():
    points = (1.0, 1.2, 1.0, 2.0, 3.0, 1.2, 2.0, 2.0, 2.0)
    marks = tuple(Mark(f"q{k}", "correct", one, 3.0) for k, one in enumerate(points))

    assert Graded(Student("u1"), Report("u1.md", ()), marks).points == 15.4
