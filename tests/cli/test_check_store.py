"""`headwright check --store`: a run that was killed goes on where it stopped."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from importlib import resources

import pytest
from click.testing import CliRunner
from tests.homework.corpus.documents import document
from tests.homework.noted import LOG

from headwright.cli.check.command import command
from headwright.crew.running import most_in_hand

# The command as it is, with notes of what it hands over and what is judged
PROGRAM = """
import json, pathlib, sys
from headwright.cli import main
from headwright.crew.executor import OwnProcesses
from headwright.homework import limits
from tests.homework import noted
handed = OwnProcesses.submit
def submit(self, fn, task):
    points = json.loads(task)["points"]
    names = [pathlib.Path(json.loads(point)["name"]).name for point in points]
    noted.note("batches", json.dumps(names))
    return handed(self, fn, task)
OwnProcesses.submit = submit
limits.JUDGING_MODULE = noted.__name__
main(["check", sys.argv[1], "--store", sys.argv[2], "--workers", "2", "--json"])
"""
DOCUMENTS = 16
WORKERS = 2


@pytest.fixture(scope="module")
def class_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    for seed in range(DOCUMENTS):
        (folder / f"{seed:03d}.md").write_text(document(seed).text, encoding="utf-8")
    return folder


def started(folder, place):
    place.mkdir(exist_ok=True)
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), str(place / "store")],
        env={**os.environ, "PYTHONPATH": paths, LOG: str(place)},
        stdout=subprocess.PIPE,
    )


def lines(path):
    return path.read_text().split() if path.exists() else []


def stored(place):
    path = place / "store" / "results.sqlite"
    reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        points = reader.execute("SELECT point FROM results").fetchall()
    finally:
        reader.close()
    return {os.path.basename(json.loads(point)["name"]) for (point,) in points}


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(class_folder, tmp_path):
    undisturbed = checked(class_folder, "--json").stdout
    place = tmp_path / "killed"
    run = started(class_folder, place)
    while len(lines(place / "judged")) < DOCUMENTS // 2:
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    first = (place / "batches").read_text().splitlines()
    kept = stored(place)
    output, _ = started(class_folder, place).communicate()

    judged = lines(place / "judged")
    again = {name for name in judged if judged.count(name) > 1}
    repeated = [batch for batch in first if again & set(json.loads(batch))]
    assert output.decode() == undisturbed
    assert len(json.loads(output)["documents"]) == DOCUMENTS
    assert not again & kept
    # Those under way, and those that had just arrived and were not on the disk yet.
    assert len(repeated) <= most_in_hand(WORKERS)
    assert set(judged) == {path.name for path in class_folder.iterdir()}


def checked(*arguments):
    return CliRunner().invoke(command, list(map(str, arguments)))


def test_only_what_has_changed_is_judged_again(tmp_path):
    """A verdict is known by the document's bytes, the bank and whether a page was asked for."""
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "a.md").write_text("(b) ii. $q = k_a$")
    (folder / "b.md").write_text("(b) ii. $q = \\beta(k_a + k_b)$ where $\\beta \\gg 0$")
    store = tmp_path / "store"
    counts = []

    def count():
        with contextlib.closing(sqlite3.connect(store / "results.sqlite")) as table:
            counts.append(table.execute("SELECT count(*) FROM results").fetchone()[0])

    for change in (
        lambda: None,
        lambda: None,
        lambda: (folder / "a.md").write_text("(b) ii. $q = k_b$"),
    ):
        change()
        assert checked(folder, "--store", store, "--json").exit_code == 1
        count()
    checked(folder, "--store", store, "--html", tmp_path / "pages")
    count()
    bank = tmp_path / "bank.toml"
    own = resources.files("headwright.exercise").joinpath("bank.toml").read_text("utf-8")
    bank.write_text(own.replace('"Attention exploration"', '"Another sheet"'), encoding="utf-8")
    checked(folder, "--store", store, "--bank", bank)
    count()

    assert counts == [2, 2, 3, 5, 7]


def test_places_that_contradict_each_other_and_stores_of_others_are_refused(tmp_path):
    (tmp_path / "a.md").write_text("$q$")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "about.json").write_text('{"study": "price"}')
    two = checked(tmp_path, "--workers", 2, "--cluster", "local")
    other = checked(tmp_path, "--store", tmp_path / "store")

    assert (two.exit_code, other.exit_code) == (2, 2)
    assert "both --workers and --cluster" in two.output
    assert "is about" in other.output


def test_a_cluster_gives_the_same_verdicts(class_folder):
    pytest.importorskip("distributed", reason="needs the cluster extra")
    few = sorted(class_folder.iterdir())[:3]

    assert checked(*few, "--cluster", "local", "--json").stdout == checked(*few, "--json").stdout
