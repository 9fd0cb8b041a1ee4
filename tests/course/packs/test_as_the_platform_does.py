"""The pack as it is uploaded: unpacked into a bare folder, set up without network in a fresh
environment, run by its own programs. `headwright bench packs` measures time and memory."""

from __future__ import annotations

import os
import platform as system
import subprocess
from itertools import pairwise

import pytest
from tests.course.packs.documented import faults, green
from tests.course.packs.unpacked import HandIns, bare, set_up, unpack

from headwright.course.packs.archive import pack

pytestmark = pytest.mark.skipif(
    (system.system(), system.machine()) != ("Linux", "x86_64"), reason="packs run on Linux"
)
RIGHT = "(b) ii. $q = \\beta(k_a + k_b)$ where $\\beta \\gg 0$\n"
WRONG = "(b) ii. $q = \\frac{1}{2}(k_a + k_b)$, since 0 < 1\n"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MACRO_BOMB = "".join(f"\\def\\{a}{{\\{b}\\{b}}}" for a, b in pairwise(LETTERS)) + "\\a"
RUBRIC = '[question."b.q"]\npoints = 4\n[question."c.q"]\npoints = 2\n'
IMPOSTOR = "raise SystemExit(7)\n"


@pytest.fixture(scope="module")
def autograder(tmp_path_factory):
    """Gradescope's pack, set up."""
    root = tmp_path_factory.mktemp("autograder")
    (root / "rubric.toml").write_text(RUBRIC)
    pack("gradescope", root / "pack.zip", rubric_file=root / "rubric.toml")
    unpack(root / "pack.zip", root / "source")
    done = set_up(root)
    assert done.returncode == 0, done.stderr
    return root


def test_two_hand_ins_on_gradescope(autograder):
    """Right beside hostile, a picture and a module that is not one; then the same, wrong."""
    hand_ins = HandIns("gradescope", autograder)
    files = {"a.md": RIGHT, "b.tex": MACRO_BOMB, "photo.jpg": "", "numpy.py": IMPOSTOR}
    first = hand_ins.results(files)
    earlier = {"submission_time": "2026-11-01T10:00:00-08:00", "results": first}
    second = hand_ins.results({"a.tex": WRONG}, {"previous_submissions": [earlier]})

    assert faults("gradescope", first) == faults("gradescope", second) == []
    assert first["score"] == 4.0
    assert [name.split()[0] for name in green("gradescope", first)] == ["b.q"]
    assert "b.tex: " in first["output"]
    assert "Not read: numpy.py, photo.jpg." in first["output"]
    assert second["score"] == 0.0
    assert green("gradescope", second) == []
    assert "b.q: correct with 4 of 4 points before, wrong with 0 of 4" in second["output"]
    assert "0 < 1" in str(second["tests"])
    assert second["extra_data"]["version"]


def test_a_checker_that_does_not_start_gives_nothing_and_exits_0(autograder, tmp_path):
    hand_ins = HandIns("gradescope", tmp_path)
    unpack(autograder / "pack.zip", tmp_path / "source")
    found = hand_ins.results({"a.md": RIGHT})

    assert faults("gradescope", found) == []
    assert green("gradescope", found) == []
    assert found["score"] == 0
    assert "the checker did not start" in found["output"]


def test_a_hand_in_on_prairielearn(autograder, tmp_path):
    wheels = autograder / "source" / "wheels"
    pack("prairielearn", tmp_path / "pack.zip", wheels_folder=wheels)
    unpack(tmp_path / "pack.zip", tmp_path)
    there = str(autograder / "source" / "environment")
    hand_ins = HandIns("prairielearn", tmp_path, HEADWRIGHT_ENVIRONMENT=there)
    found = hand_ins.results({"a.md": RIGHT}, {"variant_seed": "1234"})

    assert faults("prairielearn", found) == []
    assert [name.split()[0] for name in green("prairielearn", found)] == ["b.q"]
    assert found["gradable"] is True
    assert found["extra_data"]["variant"] == "1234"


def test_a_machine_without_the_right_python_is_told_what_is_missing(autograder, tmp_path):
    """Nothing but a shell, and a Python that is too old for the wheels."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "cat", "dirname"):
        found = subprocess.check_output(["/bin/sh", "-c", f"command -v {name}"], text=True)
        os.symlink(found.strip(), programs / name)
    (programs / "python3.10").write_text("#!/bin/sh\nexit 0\n")
    (programs / "python3.10").chmod(0o755)
    unpack(autograder / "pack.zip", tmp_path / "source")
    environment = {**bare(tmp_path), "PATH": str(programs)}
    setup = ["/bin/sh", str(tmp_path / "source" / "setup.sh")]
    done = subprocess.run(setup, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "wanted Python 3." in done.stderr
    assert "try: an image that has it" in done.stderr
