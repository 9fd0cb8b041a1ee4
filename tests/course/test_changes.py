import copy
import json

import pytest

from headwright.course.changes import changes, read_run
from headwright.errors import InputError


def run(students=("ana", "joe")):
    return {
        "run": {"version": "1", "rubric": "r1"},
        "documents": [{"document": f"{s}.md", "digest": f"d-{s}", "bank": "b1"} for s in students],
        "verdicts": [
            {"student": s, "document": f"{s}.md", "question": q, "status": "correct"}
            | {"points": 1.0, "max_points": 1.0}
            for s in students
            for q in ("a.cond", "b.q")
        ],
    }


def changed(**fields):
    """A second run in which Ana's b.q is different."""
    new = copy.deepcopy(run())
    new["verdicts"][1].update(fields)
    return new


def test_nothing_changed():
    assert changes(run(), run()) == []


@pytest.mark.parametrize(
    ("where", "cause"),
    [
        (lambda new: new["documents"][0].update(digest="other"), "document"),
        (lambda new: new["documents"][0].update(bank="other"), "questions"),
        (lambda new: new["run"].update(version="2"), "program"),
    ],
)
def test_a_status_changes_for_a_reason_that_is_named(where, cause):
    new = changed(status="wrong", points=0.0)
    where(new)
    (change,) = changes(run(), new)

    assert (change.student, change.question) == ("ana", "b.q")
    assert change.before["status"] == "correct"
    assert change.after["status"] == "wrong"
    assert change.causes == (cause,)


def test_points_alone_change_with_the_rubric():
    new = changed(points=0.5)
    new["run"]["rubric"] = "r2"
    new["documents"][0]["digest"] = "a typo elsewhere in the document"

    assert [change.causes for change in changes(run(), new)] == [("rubric",)]


def test_a_cause_that_no_run_recorded_is_not_invented():
    assert [c.causes for c in changes(run(), changed(status="wrong"))] == [("not recorded",)]


def test_another_students_document_is_no_cause():
    new = changed(status="wrong")
    new["documents"][1]["digest"] = "other"

    assert changes(run(), new)[0].causes == ("not recorded",)


def test_one_student_again_says_nothing_of_the_others():
    assert changes(run(), run(students=("joe",))) == []


def test_who_is_gone_from_a_folder_that_is_looked_at_again_is_told():
    found = changes(run(), run(students=("joe",)), folders=("ana.md",))

    assert [(c.student, c.after, c.causes) for c in found] == [("ana", None, ("document",))] * 2


def test_of_two_documents_the_row_that_counts_is_compared():
    """Ana corrects one of her documents; the other one has nothing under b.q."""
    runs = [run(), changed(status="wrong", points=0.0)]
    for one in runs:
        empty = {"student": "ana", "document": "more.md", "question": "b.q", "status": "missing"}
        one["verdicts"].append(empty | {"points": None, "max_points": 0.0})
        one["documents"].append({"document": "more.md", "digest": "d-more", "bank": "b1"})
    runs[1]["documents"][0]["digest"] = "other"
    (change,) = changes(*runs)

    assert (change.before["status"], change.after["status"]) == ("correct", "wrong")
    assert change.causes == ("document",)


def test_a_new_name_is_no_other_question():
    new = changed(status="wrong")
    new["documents"][0].update(document="ana-2.md", digest="other")
    for row in new["verdicts"][:2]:
        row["document"] = "ana-2.md"

    assert changes(run(), new)[0].causes == ("document",)


def test_points_for_steps_change_with_the_document():
    new = changed(points=0.25)
    new["documents"][0]["digest"] = "other"

    assert changes(run(), new)[0].causes == ("document",)


def test_rows_that_came_and_went():
    new = run()
    new["verdicts"][1]["question"] = "c.q"
    found = {c.question: (c.before is None, c.after is None) for c in changes(run(), new)}

    assert found == {"c.q": (True, False), "b.q": (False, True)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"verdicts": [3]}',
        '{"verdicts": [{}]}',
        '{"verdicts": [{"document": [], "question": {}, "status": 1}]}',
        '{"verdicts": [], "documents": [{}]}',
        '{"verdicts": [], "run": []}',
    ],
)
def test_what_is_no_run_is_refused(tmp_path, text):
    file = tmp_path / "old.json"
    file.write_text(text)
    with pytest.raises(InputError, match="check"):
        read_run(file)
    with pytest.raises(InputError):
        read_run(tmp_path / "nothing.json")


def test_a_run_is_read_back(tmp_path):
    file = tmp_path / "old.json"
    file.write_text(json.dumps(run()))

    assert read_run(file) == run()
