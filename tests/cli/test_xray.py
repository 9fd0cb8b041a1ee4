"""`headwright xray`: what it prints, its exit codes, its files, and bad input in one line."""

import json
import os

import pytest
from click.testing import CliRunner

from headwright.cli.xray.command import command

SAMPLES = "tests.probes.sample_layers"
QUICK = ("--only", "determinism")


def invoke(*words, columns=80):
    runner = CliRunner(env={"COLUMNS": str(columns)})
    return runner.invoke(command, [str(word) for word in words])


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_break_is_a_table_a_sentence_and_exit_code_one(columns):
    told = invoke(f"{SAMPLES}:random", *QUICK, columns=columns)

    assert told.exit_code == 1
    assert "determinism  ✗ broken" in told.stdout
    assert "Broken: determinism." in told.stdout
    assert "--script F.py" in told.stdout
    assert max(len(line) for line in told.stdout.splitlines()) <= columns


def test_what_holds_is_exit_code_zero(tmp_path):
    told = invoke(f"{SAMPLES}:attention", *QUICK, "--script", tmp_path / "s.py", columns=400)
    assert told.exit_code == 0
    assert "✓ holds" in told.stdout
    assert "was not written" in told.stdout
    assert not (tmp_path / "s.py").exists()


def test_json_is_one_document_and_the_layer_prints_nothing():
    told = invoke(f"{SAMPLES}:prints", *QUICK, "--json")
    data = json.loads(told.stdout)
    assert told.exit_code == 0
    assert data["holds"] is True
    assert [row["name"] for row in data["properties"]] == ["determinism"]
    assert data["dtype"] == "float64"


def test_page_and_script_are_written(tmp_path):
    words = [*QUICK, "--html", tmp_path / "page", "--script", tmp_path / "again.py"]
    told = invoke(f"{SAMPLES}:random", *words, columns=400)
    assert told.exit_code == 1
    assert f"Reproduce: python {tmp_path / 'again.py'}" in told.stdout
    assert f'layer_of("{SAMPLES}:random")' in (tmp_path / "again.py").read_text()
    assert "X-ray of random" in (tmp_path / "page" / "index.html").read_text()


@pytest.mark.parametrize("option", ["--html", "--script"])
def test_a_place_that_cannot_be_written_is_one_line(tmp_path, option):
    blocked = tmp_path / "file"
    blocked.write_text("")
    told = invoke(f"{SAMPLES}:random", *QUICK, option, blocked / "below")
    assert told.exit_code == 2
    assert told.stderr.count("\n") == 1
    assert "wanted to use" in told.stderr
    assert "Broken: determinism." in told.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "wanted module:name or a model folder"),
        (("nowhere",), "which is neither"),
        (("tests.probes.nowhere:f",), "No module named"),
        ((f"{SAMPLES}:NUMBER",), "wanted a function or a module"),
        ((f"{SAMPLES}:NeedsArguments",), "missing 1 required positional argument"),
        ((f"{SAMPLES}:attention", "--shape", "6"), "--shape N,D"),
        ((f"{SAMPLES}:attention", "--shape", "6,x"), "--shape N,D"),
        ((f"{SAMPLES}:attention", "--shape", "0,8"), "--shape N,D"),
        ((f"{SAMPLES}:attention", "--shape", "100000,100000"), "--shape N,D"),
        ((f"{SAMPLES}:only_short", "--shape", "6,8"), "at most 3 tokens"),
        ((f"{SAMPLES}:attention", "--expect", "casual"), "full, causal, window=W"),
        ((f"{SAMPLES}:attention", "--only", "patern"), "got 'patern'"),
        ((f"{SAMPLES}:attention", "--dtype", "int8"), "wanted a dtype"),
        ((f"{SAMPLES}:attention", "--inputs", "nowhere.safetensors"), "nowhere.safetensors"),
        ((f"{SAMPLES}:attention", "--layer", "0"), "--layer for a model folder"),
        ((f"{SAMPLES}:endless", "--timeout", "0.1"), "within 0.1 s"),
        ((f"{SAMPLES}:attention", "--demo"), "wanted one layer"),
        ((os.curdir, "--shape", "6,8"), "wanted --shape for a layer"),
        ((os.curdir, "--only", "patern"), "got 'patern'"),
    ],
)
def test_bad_input_is_one_line(words, said):
    told = invoke(*words)
    assert told.exit_code == 2
    assert told.stdout == ""
    assert told.stderr.count("\n") == 1
    assert told.stderr.startswith("headwright xray: wanted ")
    assert said in told.stderr
