"""A batch keeps its order, survives every document, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import psutil
import pytest

import headwright as hw
from headwright.crew import processes
from headwright.errors import HeadwrightError, InputError
from headwright.exercise.bank import load
from headwright.homework import batch, limits
from headwright.homework.batch import judge_many
from headwright.homework.reading.sources import Source, printable, sources
from headwright.homework.verdict import Report, Verdict
from headwright.watched import process

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
    found = list(judge_many(documents, workers=workers))
    assert [o.name for o in found] == [f"d{i}" for i in range(6)]
    assert [status(o, "b.q") for o in found] == ["correct", "wrong", None, "correct", None, "wrong"]
    assert [status(o, "*") for o in found] == [None, None, "unread", None, "unread", None]


def test_every_document_can_have_a_bank_of_its_own():
    whole = load(None)
    without = replace(whole, questions=tuple(q for q in whole if q.id != "b.q"))
    documents = [Source(name, text=RIGHT) for name in ("whole", "without", "whole again")]
    found = judge_many(documents, lambda source: without if source.name == "without" else whole)
    assert [status(o, "b.q") for o in found] == ["correct", None, "correct"]


def test_refused_documents_are_unread_with_the_reason():
    (found,) = judge_many([Source("x", refused="it is a link to nothing")])
    assert found.report == Report("x", (Verdict("*", "", "unread", "it is a link to nothing"),))


def test_an_answer_of_the_parent_is_the_answer_of_the_worker():
    """The report comes back as it was made: nothing is lost between the processes."""
    from headwright.homework.one_document import judge_document
    from headwright.homework.reading.formats import read_text
    from headwright.result import plain

    report = hw.check(WRONG)
    assert isinstance(report.verdicts[0], Verdict)
    assert plain(report) == plain(judge_document(read_text(WRONG, name="text")))


# ----------------------------------------------------------------------------------- names of files


@pytest.mark.parametrize("text", ["注意力" * 80, "a" * 5_000, "a\0b", "\ud800"])
def test_a_text_that_can_be_no_name_is_a_text(text):
    assert hw.check(text).document == "text"
    with pytest.raises(InputError, match="nothing there"):
        sources([text])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ä 解.md", "ä 解.md"),
        ("\x1b[31mred\x07.md", "\\x1b[31mred\\x07.md"),
        ("a\nb\u202e.md", "a\\nb\\u202e.md"),
        (os.fsdecode(b"\xff.md"), "\\xff.md"),
        ("\ud800.md", "\\ud800.md"),
        ("\x9b31m.md", "\\x9b31m.md"),
    ],
)
def test_names_are_printable(name, shown):
    assert printable(name) == shown


def test_files_whose_names_are_shown_alike_are_two(tmp_path):
    folder = os.fsencode(tmp_path)
    for name in (b"\xff.md", b"\\xff.md"):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(RIGHT)
    found = sources([tmp_path])
    assert [s.name for s in found] == [f"{tmp_path}/\\xff.md"] * 2
    assert [status(o, "b.q") for o in judge_many(found)] == ["correct", "correct"]


# ------------------------------------------------------------------------- documents that misbehave


@pytest.fixture
def misbehaving(monkeypatch):
    """Workers in which a document does what its name says; none of them is kept for other tests."""
    processes.end_idle()
    monkeypatch.setattr(limits, "JUDGING_MODULE", "tests.homework.misbehaving")
    yield
    processes.end_idle()


def reasons_of(names, text="$q$", **options):
    found = list(judge_many([Source(name, text=text) for name in names], **options))
    assert [o.name for o in found] == names
    return [o.report.verdicts[0].reason for o in found]


def test_one_bad_document_costs_only_itself(misbehaving):
    names = ["a", "dies", "b", "loops", "stuck in C", "deep", "c", "fails", "d"]
    fine, dies, _, loops, stuck, deep, _, fails, _ = found = reasons_of(
        names, workers=2, seconds=0.5
    )
    assert found.count("fine") == 4, fine
    assert "twice (exit code 3)" in dies
    assert loops == stuck == "it took longer than 0.5 s of processor time"
    assert deep == "it is nested too deeply"
    assert fails.startswith(limits.OUR_FAULT)
    assert "KeyError" in fails


def test_memory_is_watched(misbehaving, monkeypatch):
    monkeypatch.setattr(limits, "WORKER_MEMORY", 200_000_000)
    assert reasons_of(["eats memory", "a"]) == ["it took more than 0.2 GB of memory", "fine"]


def test_a_worker_that_keeps_memory_is_replaced(misbehaving, monkeypatch):
    """The next document would be blamed for what an earlier one left behind."""
    names = ["says who", "says who", "keeps memory", "says who"]
    # Equal documents would be judged once.
    documents = [Source(name, text=f"$q_{place}$") for place, name in enumerate(names)]

    def workers():
        return [o.report.verdicts[0].reason for o in judge_many(documents, workers=1)]

    first, again, _, other = workers()
    assert first == again == other
    monkeypatch.setattr(processes, "MOST_KEPT", 50_000_000)
    first, again, _, other = workers()
    assert first == again != other


def test_waiting_is_not_working(misbehaving):
    """A machine busy with other things makes a worker wait; that is not the document's fault."""
    assert reasons_of(["waits"], seconds=0.5) == ["fine"]


def test_a_standstill_is_noticed(misbehaving, monkeypatch):
    assert reasons_of(["a"]) == ["fine"]  # the worker has started, however long that took
    monkeypatch.setattr(process, "STANDSTILL", 1.0)
    (reason,) = reasons_of(["waits for ever"])
    assert "standstill" in reason


def test_a_worker_that_dies_gets_a_second_chance(misbehaving, tmp_path):
    assert reasons_of(["dies once"], text=str(tmp_path / "flag")) == ["fine"]


def test_a_formula_that_cannot_be_drawn_is_shown_as_text(misbehaving, monkeypatch):
    """Verdicts are the same with pages and without: drawing has no say in them."""
    documents = [Source(name, text="$q$") for name in ("cannot be drawn", "loops")]
    drawn, lost = judge_many(documents, pages=True, seconds=0.5)
    assert drawn.report.verdicts[0].reason == "fine"
    assert "<code>\\endless</code>" in drawn.page
    assert "it took longer than 0.5 s" in lost.page
    monkeypatch.setattr(limits, "SECONDS", 0.5)
    assert batch.draw(["q", "\\endless"]) == {}
    assert batch.draw(["q"]) == {"q": "<svg>"}


def test_what_a_library_prints_is_no_answer(misbehaving, capfd):
    assert reasons_of(["prints", "a"]) == ["fine", "fine"]
    assert "a library speaks" in capfd.readouterr().err


def test_workers_that_cannot_start_are_said_once(monkeypatch, capfd):
    processes.end_idle()
    monkeypatch.setattr(processes, "MODULE", "tests.homework.no_such_module")
    with pytest.raises(HeadwrightError, match="got none that starts"):
        hw.check(RIGHT)


# ----------------------------------------------------------------------------- lives of the workers


def children() -> list[psutil.Process]:
    """The workers of this process; other tests may have started other processes."""
    running = [p for p in psutil.Process().children() if p.status() != psutil.STATUS_ZOMBIE]
    return [p for p in running if any(processes.MODULE in word for word in p.cmdline())]


def test_one_worker_serves_many_calls_and_threads_get_their_own():
    processes.end_idle()
    hw.check(RIGHT)
    (worker,) = children()
    hw.check(WRONG)
    assert children() == [worker]
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(hw.check(RIGHT).verdicts[0].status))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["correct"] * 4
    assert len(children()) <= processes.cores()
    processes.end_idle()
    assert children() == []


def test_a_worker_that_was_started_ahead_is_the_one_that_judges():
    processes.end_idle()
    for _ in range(2):
        processes.start_ahead(f"{limits.JUDGING_MODULE}:judged")
    (worker,) = children()
    hw.check(RIGHT)
    assert children() == [worker]


def test_a_worker_that_was_started_ahead_and_died_is_replaced():
    processes.end_idle()
    processes.start_ahead(f"{limits.JUDGING_MODULE}:judged")
    (worker,) = children()
    worker.kill()
    psutil.wait_procs([worker], timeout=60)
    assert hw.check(RIGHT).verdicts[0].status == "correct"


def test_stopping_early_ends_the_busy_workers(misbehaving):
    run = judge_many(
        [Source(name, text="$q$") for name in ("a", "loops", "loops")], workers=2, seconds=100
    )
    next(run)
    run.close()
    processes.end_idle()
    assert children() == []


SCRIPT = """
from headwright.homework import batch, limits
from headwright.homework.reading.sources import Source
limits.JUDGING_MODULE = "tests.homework.misbehaving"
print("started", flush=True)
list(batch.judge_many([Source("loops", text="$q$")], seconds=100))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_its_parent(how):
    """Not after Ctrl+C, and not when the parent is killed and can do nothing more."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    parent = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    workers: list[psutil.Process] = []
    while not workers or workers[0].cpu_times().user < 0.2:  # it has begun
        workers = psutil.Process(parent.pid).children()
        time.sleep(0.05)
    parent.send_signal(how)
    parent.communicate()
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive


def test_a_script_without_a_main_guard_may_judge_many(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import headwright as hw\n"
        "from headwright.homework.batch import judge_many\n"
        "from headwright.homework.reading.sources import Source\n"
        f"text = {RIGHT!r}\n"
        "found = list(judge_many([Source('a', text=text), Source('b', text=text)], workers=2))\n"
        "print([o.report.verdicts[0].status for o in found], hw.check(text).verdicts[0].status)\n"
    )
    for arguments, given in (([str(script)], None), (["-"], script.read_text())):
        done = subprocess.run(
            [sys.executable, *arguments], input=given, capture_output=True, text=True, check=False
        )
        assert (done.stdout.strip(), done.stderr) == ("['correct', 'correct'] correct", "")


FORK = """
import os, sys
import headwright as hw
first = hw.check("(b) ii. $q = k_a$").verdicts[0].status
child = os.fork()
again = [hw.check("(b) ii. $q = k_a$").verdicts[0].status for _ in range(3)]
if child:
    _, code = os.waitpid(child, 0)
    print(first, again, code)
else:
    sys.exit(0 if again == [first] * 3 else 1)
"""


def test_a_forked_process_gets_workers_of_its_own():
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("wrong ['wrong', 'wrong', 'wrong'] 0", "")


def test_modules_in_a_students_folder_are_not_imported(tmp_path):
    (tmp_path / "numpy.py").write_text(
        "raise SystemExit('imported from the folder that is checked')"
    )
    (tmp_path / "a.md").write_text(RIGHT)
    program = "import headwright as hw; print(hw.check('a.md').verdicts[0].status)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("correct", "")


@pytest.mark.parametrize("given", [None, 5, b"q = k_a", ["answers.md"]])
def test_what_is_no_document_is_refused_in_words(given):
    with pytest.raises(InputError, match="the path of a file, or the text itself"):
        hw.check(given)
