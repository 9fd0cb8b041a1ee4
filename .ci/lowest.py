"""Constraints for pip: every requirement of pyproject.toml at the lowest version it allows.

    python .ci/lowest.py test lab > constraints.txt

A floor that nobody installs is a guess. Extras are named as arguments; the core is always included.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def floors(extras: list[str]) -> Iterator[str]:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = [line for extra in extras for line in project["optional-dependencies"][extra]]
    for line in dict.fromkeys(project["dependencies"] + optional):
        requirement = Requirement(line)
        lowest = next(part.version for part in requirement.specifier if part.operator == ">=")
        yield f"{requirement.name}=={lowest}"


if __name__ == "__main__":
    sys.stdout.write("\n".join(floors(sys.argv[1:])) + "\n")
