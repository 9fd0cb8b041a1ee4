"""Deliberate faults: plant each one in a copy of the tree, run the tests named with it, report
which survive.

    python benchmarks/plant_faults.py                      # every fault of benchmarks/faults/*.toml
    python benchmarks/plant_faults.py certificate worst    # those whose name contains a word

A fault is one replacement in one file, written down as data:

    [[fault]]
    name = "certificate: the rounding bound is 0"
    file = "src/headwright/design/proofs/certificate.py"
    find = '''text that stands in the file exactly once'''
    plant = '''what is put in its place'''
    tests = ["tests/design/proofs/test_certificate.py"]

The named tests must pass without the fault and fail with it; a fault that they do not notice is a
survivor.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LISTS = Path(__file__).resolve().parent / "faults"
COPIED = ("src", "tests", "benchmarks", "docs", "pyproject.toml", "README.md")
# What pytest answers with when a test failed; anything but 0 and 1 means that the tests did not
# run.
PASSED = 0
FAILED = 1


@dataclass(frozen=True)
class Fault:
    """One deliberate error and the tests that have to notice it."""

    name: str
    file: str
    find: str
    plant: str
    tests: list[str]


def read_faults() -> list[Fault]:
    lists = (
        tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(LISTS.glob("*.toml"))
    )
    return [Fault(**entry) for one in lists for entry in one["fault"]]


def planted(fault: Fault, text: str) -> str:
    """`text` with the fault in it. A list that no longer fits the source is an error, not a fault
    that was caught."""
    count = text.count(fault.find)
    if count != 1:
        raise ValueError(
            f"{fault.name}: the text to replace stands {count} times in {fault.file}, not once"
        )
    return text.replace(fault.find, fault.plant)


@contextmanager
def copied_tree() -> Iterator[Path]:
    """A copy of the source tree that may be damaged; the compiled files stay behind."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, copy / name)
        yield copy


def run_tests(tree: Path, tests: list[str]) -> subprocess.CompletedProcess[str]:
    """pytest on the copy, whose `src` stands before the installed package."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, errors="replace"
    )


def outcome(fault: Fault) -> str:
    with copied_tree() as tree:
        file = tree / fault.file
        file.write_text(planted(fault, file.read_text(encoding="utf-8")), encoding="utf-8")
        code = run_tests(tree, fault.tests).returncode
    return {PASSED: "SURVIVES", FAILED: "caught"}.get(code, f"BROKEN (pytest exit {code})")


def broken_without_faults(faults: list[Fault]) -> str:
    """What fails even in the sound tree, if anything does: then nothing that tests say about faults
    counts."""
    tests = sorted({test for fault in faults for test in fault.tests})
    with copied_tree() as tree:
        found = run_tests(tree, tests)
    return "" if found.returncode == PASSED else found.stdout[-2000:]


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("words", nargs="*", help="only faults whose name contains one of these")
    options.add_argument("--jobs", type=int, default=2, help="faults tried at the same time")
    given = options.parse_args()
    chosen = [
        f for f in read_faults() if not given.words or any(word in f.name for word in given.words)
    ]
    if not chosen:
        print("no fault has such a name")
        return 2
    broken = broken_without_faults(chosen)
    if broken:
        print(f"the tests fail without any fault: repair them first\n{broken}")
        return 2
    caught = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for fault, result in zip(chosen, pool.map(outcome, chosen), strict=True):
            caught += result == "caught"
            print(f"{result:10}  {fault.name}", flush=True)
    print(f"{caught} of {len(chosen)} faults caught")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
