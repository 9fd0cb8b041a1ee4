"""What packagers and tools read says the same as the code: versions, linters, promises of types."""

import re
import tomllib
from pathlib import Path

import headwright as hw

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_version_is_the_same():
    citation = re.search(r"^version: (\S+)$", _text("CITATION.cff"), re.M)

    assert citation is not None
    assert hw.__version__ == PROJECT["version"] == citation[1]


def test_commit_hooks_run_the_linters_of_continuous_integration():
    hooks = re.findall(r"^ +entry: (.+)$", _text(".pre-commit-config.yaml"), re.M)
    linters = re.findall(r"^\.venv/bin/((?:ruff|pyright|lint-imports).*)$", _text(".ci/run"), re.M)

    # Continuous integration has to name the environment that is active where people commit.
    assert hooks == [linter.replace(" --pythonpath .venv/bin/python", "") for linter in linters]


def test_the_package_is_typed_as_it_says():
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert (ROOT / "src" / "headwright" / "py.typed").is_file()
