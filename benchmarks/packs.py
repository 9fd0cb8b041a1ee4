"""An autograder as its platform runs it: a fresh environment from the bundled wheels, then hand-ins
of every kind, on half a processor.

    headwright bench packs            sizes, time and memory; 300 documents judged there and here
    headwright bench packs --quick    the same with 30 documents

Half a processor is made by stopping every process of the run for one half of each tenth of a
second. Where the system lets an ordinary user close the network for a program, it is closed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from benchmarks import telling
from tests.course.packs.documented import faults, green
from tests.course.packs.unpacked import bare, unpack
from tests.homework.test_hostile import HOSTILE

from headwright.course.packs.making.archive import pack
from headwright.course.packs.place import place
from headwright.homework.batch import judge_many
from headwright.homework.reading.sources import sources

ROOT = Path(__file__).resolve().parents[1]
_HALF = 0.05  # seconds of a tenth
_RIGHT = "(b) ii. $q = \\beta(k_a + k_b)$ where $\\beta \\gg 0$\n"
_WRONG = "(b) ii. $q = \\frac{1}{2}(k_a + k_b)$\n"
_WORST = ("a megabyte of formulas", "a megabyte of plain formulas", "20 MB of text", "labels")
_EXERCISE = ROOT / "tests" / "homework" / "corpus" / "documents" / "de-01-blatt.md"
_CASES = {
    "a whole exercise": {"a.md": _EXERCISE.read_text("utf-8")},
    "right": {"a.md": _RIGHT},
    "wrong": {"a.md": _WRONG},
    "unread": {"a.md": "(b) ii. I explained it in the lecture.\n"},
    "empty": {},
    "five files": {f"{k}.md": _RIGHT for k in range(5)},
    **{f"hostile: {name}": {"a.md": HOSTILE[name]} for name in _WORST},
    "hostile: all of these at once": {f"{k}.md": HOSTILE[one] for k, one in enumerate(_WORST)},
}
# Run by the fresh environment: the status of every answer in the documents that it is given
_JUDGE = """
import json, sys
from headwright.homework.batch import judge_many
from headwright.homework.reading.sources import sources
found = {}
for one in judge_many(sources(sys.argv[1:]), workers=1):
    found[one.name] = [[v.question, v.status] for v in one.report.verdicts]
print(json.dumps(found))
"""


def run(*, quick: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        rows = list(telling.as_they_come(_rows(Path(folder), 30 if quick else 300)))
    notes = [
        f"network: {'closed' if _offline() else 'open, and not asked (--no-index)'}",
        "seconds: on the clock, with every process stopped half of the time",
        "MB: the most that all processes held together; what they share is counted twice",
        "green: tests that the platform shows as passed; fields: outside the documented schema",
    ]
    return {"title": "packs: as the platform runs them", "rows": rows, "notes": notes}


def _rows(root: Path, documents: int) -> Iterator[dict[str, Any]]:
    packed = pack("gradescope", root / "pack.zip")
    unpack(root / "pack.zip", root / "source")
    used = _watched([str(root / "source" / "setup.sh")], root, share=1.0)
    yield {"run": "setup", "zip MB": packed.bytes / 1e6, **used}
    for name, files in _CASES.items():
        yield {"run": name, **_hand_in(root, files)}
    yield {"run": f"{documents} documents", "differ from here": _differing(root, documents)}


def _hand_in(root: Path, files: dict[str, str]) -> dict[str, Any]:
    there = place("gradescope", root)
    shutil.rmtree(there.submission, ignore_errors=True)
    there.submission.mkdir()
    for name, text in files.items():
        (there.submission / name).write_text(text)
    used = _watched([str(there.pack / "run_autograder")], there.submission, share=0.5)
    results = json.loads(there.results.read_text("utf-8"))
    passed = len(green("gradescope", results))
    return {**used, "green": passed, "fields": len(faults("gradescope", results))}


def _differing(root: Path, documents: int) -> int:
    """Documents that the fresh environment judges otherwise than this one."""
    paths = sorted(path for path in (ROOT / "tests" / "homework").rglob("*") if _is_document(path))
    chosen = [str(path) for path in paths[:: max(1, len(paths) // documents)]]
    python = str(root / "source" / "environment" / "bin" / "python")
    command = [*_offline(), python, "-I", "-c", _JUDGE, *chosen]
    said = subprocess.run(command, env=bare(root), capture_output=True, text=True, check=True)
    there = json.loads(said.stdout)
    different = 0
    for one in judge_many(sources(chosen), workers=1):
        here = [[verdict.question, verdict.status] for verdict in one.report.verdicts]
        different += there[one.name] != here
    return different


def _is_document(path: Path) -> bool:
    return path.suffix in (".md", ".tex", ".txt", ".ipynb", ".typ", ".pdf")


# -------------------------------------------------------------------------------- watching a run


def _watched(command: list[str], folder: Path, share: float) -> dict[str, Any]:
    """Time on the clock, processor time and memory of a program and all it starts."""
    root = Path(command[0]).parents[1]
    started = time.monotonic()
    process = psutil.Popen(
        [*_offline(), *command],
        cwd=folder,
        env=bare(root),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    most = 0
    seconds: dict[int, float] = {}
    while process.poll() is None:
        family = [process, *_children(process)]
        most = max(most, sum(_memory(one, seconds) for one in family))
        if share < 1:
            _each(family, "suspend")
            time.sleep(_HALF)
            _each(family, "resume")
        time.sleep(_HALF)
    return {
        "seconds": time.monotonic() - started,
        "processor s": sum(seconds.values()),
        "MB": most / 1e6,
        "exit code": process.returncode,
    }


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _memory(process: psutil.Process, seconds: dict[int, float]) -> int:
    """Bytes it holds; its processor time so far is noted."""
    try:
        times = process.cpu_times()
        seconds[process.pid] = times.user + times.system
        return process.memory_info().rss
    except psutil.Error:
        return 0


def _each(family: list[psutil.Process], action: str) -> None:
    for one in family:
        with suppress(psutil.Error):
            getattr(one, action)()


def _offline() -> list[str]:
    """The words before a command that close the network for it, where that is allowed."""
    words = ["unshare", "--map-root-user", "--net"]
    try:
        done = subprocess.run([*words, "true"], capture_output=True, check=False)
    except OSError:
        return []
    return words if done.returncode == 0 else []
