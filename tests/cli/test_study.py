"""`headwright study`: what it prints, its exit codes, the template, and Ctrl+C."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest
from click.testing import CliRunner

from headwright.cli.crew_bar import Tally
from headwright.cli.study import command
from headwright.crew import Outcome
from headwright.study.built_in import built_in_studies
from headwright.study.function import function_of
from headwright.study.grid import grid


def invoke(*words):
    return CliRunner().invoke(command, [str(word) for word in words])


def program(*words, folder, **settings):
    line = [sys.executable, "-m", "headwright", "study", *map(str, words)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(line, cwd=folder, **streams, **settings)


@pytest.fixture
def grid_file(tmp_path):
    file = tmp_path / "g.toml"
    file.write_text("[grid]\nx = [1, 2, 3]\n")
    return file


def test_the_template_runs_as_it_is(tmp_path):
    printed = invoke("--new").stdout
    parts = printed.split("# ---- ")
    files = dict(part.split(" ----\n", 1) for part in parts if part)
    for name in ("sweep.toml", "sweep.py"):
        (tmp_path / name).write_text(files[name])
    words = files["then"].removeprefix("# headwright study ").split()

    stdout, stderr = program(*words, "--json", "--workers", 1, folder=tmp_path).communicate()
    data = json.loads(stdout)
    assert stderr == ""
    assert (data["rows"], data["done"], data["failed"]) == (60, 60, 0)
    table = (tmp_path / "sweep-results" / "results.csv").read_text().splitlines()
    assert table[0] == "n,d,sharpness,seed,leak,largest_other"
    assert len(table) == 61


def test_the_template_as_files_never_replaces_any(tmp_path):
    assert invoke("--new", "--out", tmp_path).exit_code == 0
    assert grid(tmp_path / "sweep.toml").count == 60
    assert invoke("--new", "--out", tmp_path).exit_code == 2


def test_failed_points_are_exit_code_one(tmp_path, grid_file):
    out = tmp_path / "out"
    words = ["tests.study.jobs:raising", "--grid", grid_file, "--out", out, "--workers", 1]
    told = invoke(*words)

    assert told.exit_code == 1
    assert "3 rows: 2 computed, 0 stored before, 1 failed" in told.stdout
    assert "ValueError: no twos" in told.stdout
    assert "--retry" in told.stdout

    again = json.loads(invoke(*words, "--json").stdout)
    assert (again["rows"], again["done"], again["skipped"], again["failed"]) == (3, 0, 2, 1)
    assert invoke(*words, "--limit", 1).exit_code == 0
    assert (out / "results.csv").read_text() == "x,half\n1,0.5\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tests.study.jobs:product", "--out", "OUT"], "--grid sweep.toml"),
        (["tests.study.jobs:product", "--grid", "GRID"], "--out results"),
        (["tests.study.jobs:product", "--grid", "none.toml", "--out", "OUT"], "none.toml"),
        (["tests.study.jobs:anything", "--grid", "LARGE", "--out", "OUT"], "10,000,000 points"),
        (["prises", "--out", "OUT"], "'prises'"),
        (["no_such:f", "--grid", "GRID", "--out", "OUT"], "ModuleNotFoundError"),
        (["tests.study.jobs:uneven", "--grid", "LARGE", "--out", "OUT"], "--limit"),
        (["tests.study.jobs:by_position", "--grid", "GRID", "--out", "OUT"], "by position"),
        (["x:f", "--grid", "GRID", "--small", "--out", "OUT"], "--small"),
        (
            ["tests.study.jobs:product", "--grid", "GRID", "--out", "OUT", "--workers", "1",
             "--cluster", "local"], "both --workers and --cluster",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_leaves_nothing(tmp_path, grid_file, words, said):
    large = tmp_path / "large.toml"
    large.write_text("[grid]\nx = {from = 1, to = 10000000, step = 1}\n")
    places = {"OUT": tmp_path / "out", "GRID": grid_file, "LARGE": large}
    told = invoke(*(places.get(word, word) for word in words))

    assert told.exit_code == 2
    assert said in told.stderr
    assert len(told.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_list_of_the_studies_without_a_name():
    listed = json.loads(invoke("--json").stdout)["studies"]

    assert [study["name"] for study in listed] == list(built_in_studies())
    assert "--new" in invoke().stdout


def test_built_in_studies_are_whole():
    """Each has what its folder should have, and a job that takes both of its grids."""
    for study in built_in_studies().values():
        assert study.title
        assert study.asks
        job = function_of(study.function)
        assert job.version, study.name
        sizes = []
        for small in (True, False):
            made = grid(study.grid(small=small))
            for block in made.blocks:
                job.insist_on_parameters([axis.name for axis in block])
            sizes.append(made.count)
        assert sizes[0] < sizes[1], study.name
        for name in ("figures.py", "page.py"):
            assert (study.folder / name).is_file(), study.name


SLOW = """
import time
def f(x):
    time.sleep(0 if x == 1 else 60)
    return {"y": x}
"""


@pytest.mark.skipif(os.name == "nt", reason="Ctrl+C of Unix")
def test_a_press_says_how_to_go_on_and_the_same_command_does(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "g.toml").write_text("[grid]\nx = [1, 2, 3]\n")
    words = ["slow:f", "--grid", "g.toml", "--out", "out", "--workers", 1]
    running = program(*words, folder=tmp_path)
    while not _is_stored(tmp_path / "out" / "store" / "results.sqlite"):
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)

    assert running.returncode == 130
    assert stdout == ""
    assert stderr.startswith("headwright study: stopped at ")
    assert stderr.endswith("of 3 points; finished results are stored: the same command continues "
                           "from there\n")  # fmt: skip
    assert not (tmp_path / "out" / "results.csv").exists()

    again = program(*words, "--limit", 1, "--json", folder=tmp_path)
    assert json.loads(again.communicate(timeout=60)[0])["skipped"] == 1


def _is_stored(file):
    """Is a first result on the disk?"""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
            return store.execute("SELECT count(*) FROM results").fetchone()[0] > 0
    except sqlite3.OperationalError:
        return False


def test_the_bar_counts_what_came_what_failed_and_what_is_left():
    tally = Tally(10)
    tally.note(Outcome({}, "{}", "", True))
    tally.note(Outcome({}, None, "ValueError", False))

    assert tally.words.startswith("2 of 10, ")
    assert tally.words.endswith("/s, 8 left, 1 failed")
    assert tally.computed == 1
