"""A pack unpacked and run as its platform does it: by its own programs, in a bare folder, with
nothing of this Python around."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from headwright.course.packs.place import place

_PROGRAM = {"gradescope": "source/run_autograder", "prairielearn": "tests/run.sh"}
_LIMIT = 120.0  # seconds until something hangs


def unpack(archive: Path, folder: Path) -> None:
    """With the permissions that stand in the zip."""
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
        for entry in packed.infolist():
            (folder / entry.filename).chmod(stat.S_IMODE(entry.external_attr >> 16))


def bare(root: Path, **more: str) -> dict[str, str]:
    """An environment with the system's programs and this Python's base, and no network."""
    places = [Path(sys.executable).parent, Path(sys.base_prefix, "bin"), "/usr/bin", "/bin"]
    path = os.pathsep.join(str(one) for one in places)
    return {"PATH": path, "HOME": str(root), "HEADWRIGHT_ROOT": str(root), **more}


def set_up(root: Path) -> subprocess.CompletedProcess[str]:
    return _run([root / "source" / "setup.sh"], root, bare(root))


class HandIns:
    """Hand-ins to one pack, one after the other."""

    def __init__(self, platform: str, root: Path, **environment: str) -> None:
        self.place = place(platform, root)
        self._root = root
        self._program = root / _PROGRAM[platform]
        self._environment = bare(root, **environment)

    def results(self, files: dict[str, str], facts: Any = None) -> dict[str, Any]:
        """What the platform finds after the hand-in of these files. The program is started among
        them: none of them may be taken for a module."""
        shutil.rmtree(self.place.submission, ignore_errors=True)
        shutil.rmtree(self.place.results.parent, ignore_errors=True)
        self.place.submission.mkdir(parents=True)
        for name, text in files.items():
            (self.place.submission / name).write_text(text)
        self.place.facts.parent.mkdir(exist_ok=True)
        self.place.facts.write_text(json.dumps(facts))
        done = _run([self._program], self.place.submission, self._environment)
        assert done.returncode == 0, done.stderr
        return json.loads(self.place.results.read_text("utf-8"))


def _run(
    command: list[Path], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_LIMIT
    )
