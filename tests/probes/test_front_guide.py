"""Every example of the guide runs, and the table that it shows is the one that comes out."""

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from headwright.cli.xray.command import command
from headwright.probes.examined import PROBES

pytest.importorskip("torch", reason="the models extra is not installed")

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "xray.md"
TEXT = GUIDE.read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.S)
LINES = re.findall(r"^headwright xray (.*?)(?:\s+#.*)?$", TEXT, re.M)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the guide names, from which they can be imported."""
    for block in PYTHON:
        name = re.match(r"# (\w+\.py)\n", block)
        if name:
            (tmp_path / name[1]).write_text(block, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("mylayers", None)


@pytest.fixture
def quick(monkeypatch):
    """Some probes alone: that all of them agree with the guide's layers is tested once."""
    some = {name: PROBES[name] for name in ("determinism", "batch", "pattern", "permutation")}
    monkeypatch.setattr("headwright.probes.examined.PROBES", some)


def invoke(line):
    return CliRunner(env={"COLUMNS": "96"}).invoke(command, shlex.split(line))


def test_the_commands_run(folder, quick):
    codes = {line.split()[0]: invoke(line).exit_code for line in LINES}
    assert codes == {
        "--demo": 1,
        "mylayers:attention": 0,
        "mylayers:Attention": 0,
        "mylayers:leaky": 1,
    }
    assert (folder / "page" / "index.html").exists()
    with pytest.raises(AssertionError):
        runpy.run_path(str(folder / "again.py"))


def test_the_python_runs(folder, quick, capsys):
    names = {}
    for block in PYTHON:
        if not block.startswith("# "):
            exec(compile(block, "guide", "exec"), names)
    assert names["found"].holds
    assert names["found"].pattern == "causal"
    assert not names["broken"].holds
    assert "layer_of" in capsys.readouterr().out


def test_the_tests_pass(folder):
    tests = runpy.run_path(str(folder / "test_mylayers.py"))
    for name, test in tests.items():
        if name.startswith("test_"):
            test()


def test_the_demo_prints_what_the_guide_shows():
    shown = re.search(r"<!-- demo -->\n```\n(.*?)```", TEXT, re.S)[1]
    assert _statuses(shown) == _statuses(invoke("--demo").stdout)


def _statuses(text):
    """Property and status of every row; the words of the evidence may change."""
    rows = re.findall(r"^ ?(\w+) +(?:✓|✗|\?|–) (holds|broken|unclear|not applicable)", text, re.M)
    assert len(rows) == len(PROBES)
    return rows
