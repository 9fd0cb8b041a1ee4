"""`headwright audit` of several models and texts: the same numbers, whoever computes them."""

import csv
import json

import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from click.testing import CliRunner
from tests.trained.small_model import saved_model

from headwright.cli.audit.command import command


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    for name in ("first", "second"):
        (folder / name).mkdir()
        saved_model(folder / name, seed=len(name))
    (folder / "a.txt").write_text("One two three, one two three. " * 3)
    (folder / "b.txt").write_text("three, two.")
    return folder


def audited(place, *arguments, models=("first", "second")):
    texts = ["--text", place / "a.txt", "--text", place / "b.txt", "--rows", 2]
    words = [*(place / model for model in models), *texts, *arguments]
    return CliRunner().invoke(command, list(map(str, words)))


def test_jobs_change_no_number(place, tmp_path):
    files = ("--csv", tmp_path / "heads.csv", "--html", tmp_path / "pages")
    here = audited(place, "--json", *files)
    stored = ("--workers", 1, "--store", tmp_path / "store")
    elsewhere = audited(place, "--json", *stored)
    alone = audited(place, "--json", *stored, models=["second"])

    assert here.exit_code == 0, here.output
    assert elsewhere.stdout == here.stdout
    assert json.loads(alone.stdout) == json.loads(here.stdout)["audits"][1]
    rows = list(csv.DictReader((tmp_path / "heads.csv").read_text().splitlines()))
    assert [row["model"] for row in rows] == [str(place / "first")] * 8 + [
        str(place / "second")
    ] * 8
    assert sorted(page.name for page in (tmp_path / "pages").iterdir()) == [
        "1-first.html",
        "2-second.html",
    ]


@pytest.mark.parametrize(
    ("models", "arguments", "words"),
    [
        (["first", "second"], ["--claim", "b.q"], "one model for --claim"),
        (["first", "second"], ["--against", "old.json"], "one model for --against"),
        (["first"], ["--workers", 2, "--cache-budget", 3], "one model for --cache-budget"),
        (["first"], ["--workers", 2, "--cluster", "local"], "both --workers and --cluster"),
        ([], [], "Missing argument"),
        (["none"], ["--workers", 1], "nothing of the kind"),
    ],
)
def test_what_cannot_be_done_is_said_first(place, models, arguments, words):
    refused = audited(place, *arguments, models=models)

    assert refused.exit_code == 2
    assert words in " ".join(refused.output.split())
