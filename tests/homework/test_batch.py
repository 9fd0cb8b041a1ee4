"""A batch keeps its order, survives every document, and leaves no process behind."""

from __future__ import annotations

import multiprocessing as mp
import os
import subprocess
import sys
import time

import pytest

from headwright.errors import InputError
from headwright.homework import batch
from headwright.homework.batch import Source, judge_many, sources
from headwright.homework.verdict import Report, Verdict

RIGHT = "(b) ii. $q = \\beta(k_a + k_b)$ where $\\beta \\gg 0$"
WRONG = "(b) ii. $q = \\frac{1}{2}(k_a + k_b)$"


def status(outcome, question):
    return {v.question: v.status for v in outcome.report.verdicts}.get(question)


def test_folders_are_searched_in_order_and_links_stay_inside(tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    folder = tmp_path / "class"
    (folder / "b").mkdir(parents=True)
    (folder / ".git").mkdir()
    for name in ("b/2.md", "1.tex", "3.pdf", "4.py", ".hidden.md", ".git/x.md"):
        (folder / name).write_text("$q$")
    (folder / "out.md").symlink_to(outside)
    (folder / "loop.md").symlink_to(folder / "loop.md")
    (folder / "gone.md").symlink_to(folder / "nothing")
    (folder / "ring").symlink_to(folder)
    (folder / "inside.md").symlink_to(folder / "1.tex")
    os.mkfifo(folder / "pipe.md")
    found = {os.path.relpath(s.name, folder): s.refused for s in sources([folder])}
    assert found == {
        "1.tex": "",
        "3.pdf": "",
        "b/2.md": "",
        "inside.md": "",
        "gone.md": "it is a link to nothing",
        "loop.md": "it is a link to nothing",
        "out.md": "it is a link out of the folder",
        "pipe.md": "it is not an ordinary file",
    }


def test_nothing_to_check_is_the_callers_mistake(tmp_path):
    with pytest.raises(InputError, match="no file with a known suffix"):
        sources([tmp_path])
    with pytest.raises(InputError, match="nothing there"):
        sources([tmp_path / "x.md"])
    (tmp_path / "link.md").symlink_to(tmp_path / "x.md")
    with pytest.raises(InputError, match="a link to nothing"):
        sources([tmp_path / "link.md"])


@pytest.mark.parametrize("workers", [1, 2])
def test_outcomes_come_in_order_with_any_number_of_workers(workers):
    texts = [RIGHT, WRONG, "", RIGHT, "\\def\\x{\\x}\\x", WRONG]
    documents = [Source(f"d{i}", text=text) for i, text in enumerate(texts)]
    found = list(judge_many(documents, workers=workers, keep_text=True))
    assert [o.name for o in found] == [f"d{i}" for i in range(6)]
    assert [status(o, "b.q") for o in found] == ["correct", "wrong", None, "correct", None, "wrong"]
    assert [status(o, "*") for o in found] == [None, None, "unread", None, "unread", None]
    assert found[0].text == RIGHT
    assert not mp.active_children()


def test_refused_documents_are_unread_with_the_reason():
    (found,) = judge_many([Source("x", refused="it is a link to nothing")])
    assert found.report == Report("x", (Verdict("*", "", "unread", "it is a link to nothing"),))


# Workers import this module by name, so what misbehaves below is reachable from them, too.


def _misbehave(name: str) -> Report:
    if name == "dies":
        os._exit(3)
    if name == "deaf":  # hears no timer: what a long call into C looks like from outside
        import signal

        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
        time.sleep(60)
    if name == "slow":
        while True:
            pass
    if name == "deep":
        return _misbehave(name)
    return Report(name, (Verdict("b.q", "", "correct", "fine"),))


def _misbehaving_worker(line, bank, seconds, keep_text):
    import headwright.homework

    headwright.homework.judge_document = lambda document, bank: _misbehave(document.name)
    batch._worker(line, bank, seconds, keep_text)


def test_one_bad_document_costs_only_itself(monkeypatch):
    monkeypatch.setattr(batch, "_PATIENCE", 20.0)  # six seconds: enough for the others on a loaded machine
    names = ["a", "dies", "b", "deaf", "slow", "deep", "c", "d"]
    crew = batch._Crew(None, 0.3, False)
    crew.entry = _misbehaving_worker
    try:
        crew.hire(2)
        found = list(crew.work([Source(name, text="$q$") for name in names]))
    finally:
        crew.dismiss()
    assert [o.name for o in found] == names
    reasons = {o.name: o.report.verdicts[0].reason for o in found}
    assert [reasons[x] for x in "abcd"] == ["fine"] * 4
    assert "broke the reader" in reasons["dies"]
    assert "never came to an end" in reasons["deaf"]
    assert "longer than 0.3 s" in reasons["slow"]
    assert "nested too deeply" in reasons["deep"]
    assert not mp.active_children()


def test_stopping_early_leaves_no_worker():
    run = judge_many([Source(f"d{i}", text=RIGHT) for i in range(8)], workers=2)
    next(run)
    run.close()
    assert not mp.active_children()


def test_a_script_without_a_main_guard_may_judge_many(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from headwright.homework.batch import Source, judge_many\n"
        f"text = {RIGHT!r}\n"
        "found = list(judge_many([Source('a', text=text), Source('b', text=text)], workers=2))\n"
        "print([o.report.verdicts[0].status for o in found])\n"
    )
    for arguments, given in (([str(script)], None), (["-"], script.read_text())):
        done = subprocess.run([sys.executable, *arguments], input=given, capture_output=True, text=True, check=False)
        assert (done.stdout.strip(), done.stderr) == ("['correct', 'correct']", "")
