"""`headwright bench` tells every row when it is there, and the whole table at the end."""

import json
import sys

import pytest
from benchmarks.telling import as_they_come, in_one_line, listening
from click.testing import CliRunner

from headwright.cli import bench


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place for benchmarks with one of two rows, and the rest of the real ones."""
    program = (
        "from benchmarks.telling import as_they_come\n"
        "def run(*, quick):\n"
        "    rows = as_they_come(({'n': i, 'ratio': 1 / i} for i in (1, 3)), 2)\n"
        "    return {'title': 'two', 'rows': list(rows), 'notes': []}\n"
    )
    (tmp_path / "two.py").write_text(program)
    from benchmarks import telling

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(bench, "_FOLDER", tmp_path)
    monkeypatch.setitem(sys.modules, "benchmarks.two", __import__("two"))
    yield telling
    sys.modules.pop("two", None)


def test_rows_come_on_stderr_and_the_document_on_stdout(folder):
    result = CliRunner().invoke(bench.command, ["two", "--json"])
    assert result.exit_code == 0
    assert result.stderr.splitlines() == ["n 1, ratio 1", "n 3, ratio 0.3333"]
    assert [row["n"] for row in json.loads(result.stdout)["rows"]] == [1, 3]


def test_a_row_is_told_before_the_next_is_made():
    told = []

    def rows():
        yield {"n": 1}
        assert told == [("n 1", 1, 2)]
        yield {"n": 2}

    with listening(lambda row, done, total: told.append((in_one_line(row), done, total))):
        assert list(as_they_come(rows(), 2)) == [{"n": 1}, {"n": 2}]
    assert told[1:] == [("n 2", 2, 2)]
    # Nobody listens any more.
    assert list(as_they_come([{"n": 3}])) == [{"n": 3}]
    assert len(told) == 2
