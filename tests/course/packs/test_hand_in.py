import os

import pytest

from headwright.course.packs import hand_in
from headwright.exercise.bank import load

BANK = load()
RIGHT = "(b) ii. $q = \\beta(k_a + k_b)$ where $\\beta \\gg 0$\n"
ENDLESS = (RIGHT * 40_000)[:900_000]


def judged(folder, **limits):
    taken = hand_in.documents(folder)
    return list(hand_in.judged(taken, BANK, hand_in.Limits(**limits)))


def statuses(report):
    return {verdict.question: verdict.status for verdict in report.verdicts}


def test_documents_are_named_as_the_student_knows_them(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "b.md").write_text(RIGHT)
    (report,) = judged(tmp_path)

    assert report.document == os.path.join("part", "b.md")
    assert statuses(report)["b.q"] == "correct"


def test_files_that_are_no_documents_are_named(tmp_path):
    for name in ("a.md", "photo.jpg", ".DS_Store", "data.csv"):
        (tmp_path / name).write_text(RIGHT)
    taken = hand_in.documents(tmp_path)

    assert hand_in.left_out(tmp_path, taken) == ["data.csv", "photo.jpg"]
    assert hand_in.documents(tmp_path / "nothing") == []


def test_a_document_that_takes_all_the_time_leaves_the_rest_unread(tmp_path):
    (tmp_path / "a.md").write_text(ENDLESS)
    (tmp_path / "b.md").write_text(RIGHT)
    first, second = judged(tmp_path, seconds=0.8, document_seconds=0.4)

    assert "processor time" in first.verdicts[0].reason
    assert "took all the time" in second.verdicts[0].reason
    assert statuses(first) == statuses(second) == {"*": "unread"}


def test_a_document_that_takes_too_much_memory_is_unread(tmp_path):
    (tmp_path / "a.md").write_text(ENDLESS)
    (report,) = judged(tmp_path, memory=1_000_000)

    assert "GB of memory" in report.verdicts[0].reason


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_a_link_out_of_the_hand_in_is_not_followed(tmp_path):
    (tmp_path / "secret.md").write_text(RIGHT)
    folder = tmp_path / "submission"
    folder.mkdir()
    (folder / "a.md").symlink_to(tmp_path / "secret.md")
    (report,) = judged(folder)

    assert "link out of the folder" in report.verdicts[0].reason
