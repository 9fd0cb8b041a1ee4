from headwright.course.packs.gradescope import of_one_submission
from headwright.course.rubric import plain_rubric
from headwright.exercise.bank import Bank, Question
from headwright.homework.verdict import Report, Verdict, unreadable

QUESTIONS = (
    Question("b.q", "Average", "", "query", points=2.0),
    Question("a.out", "Output", "", "output"),
    Question("a.intu", "", "", "prose"),
)
RUBRIC = plain_rubric(Bank("mine", "", QUESTIONS))
TITLES = {question.id: question.title for question in QUESTIONS}
REPORTS = [
    Report("a.md", (Verdict("b.q", "q = k", "wrong", "0.146 at n = 10", repair="multiply"),)),
    Report(
        "b.md", (Verdict("a.out", "c = v_j", "correct", "fine"), Verdict("b.q", "", "missing", ""))
    ),
    Report("c.md", (Verdict("a.intu", "words", "unread", "words"),)),
    unreadable("d.md", "the document is empty"),
]


def results(*reports):
    found = of_one_submission(reports, RUBRIC, TITLES)
    return found, {test["number"]: test for test in found["tests"]}


def test_documents_of_one_submission_are_merged():
    found, tests = results(*REPORTS)

    assert list(tests) == ["b.q", "a.out", "a.intu"]
    assert (tests["b.q"]["score"], tests["b.q"]["max_score"]) == (0.0, 2.0)
    assert tests["b.q"]["status"] == "failed"
    assert "Smallest repair: multiply" in tests["b.q"]["output"]
    assert (tests["a.out"]["score"], tests["a.out"]["status"]) == (1.0, "passed")
    assert found["score"] == 1.0


def test_an_unread_answer_is_never_green():
    found, tests = results(*REPORTS)

    assert tests["a.intu"]["status"] == "failed"
    assert tests["a.intu"]["score"] < tests["a.intu"]["max_score"]
    assert "a person will read it" in tests["a.intu"]["name"]
    assert "1 of 4 points wait for a person" in found["output"]


def test_an_unreadable_submission_says_why_and_passes_nothing():
    found, tests = results(REPORTS[-1])

    assert "the document is empty" in found["output"]
    assert {test["status"] for test in tests.values()} == {"failed"}


def test_half_the_points_for_an_incomplete_answer():
    found, _ = results(Report("d", (Verdict("b.q", "", "incomplete", "no scale"),)))

    assert found["score"] == 1.0


def test_text_is_not_read_as_markup():
    found, _ = results(*REPORTS)

    for name in ("output_format", "test_output_format", "test_name_format"):
        assert found[name] == "text"
