"""Every command has a worked example in its help; `--demo` needs nothing and stays JSON."""

import json
import re
from importlib import import_module

import pytest
from rich.cells import cell_len
from tests.cli.test_conventions import run_here

from headwright.cli import COMMANDS

# A demo that shows a mistake ends as the mistake of a user's would
DEMOS = {
    "attend": 0,
    "design": 0,
    "certify": 0,
    "reach": 0,
    "stress": 0,
    "extract": 0,
    "symmetry": 1,
    "check": 1,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_a_worked_example(command):
    module = import_module(f"headwright.cli.{COMMANDS[command][0]}")

    assert module.command.epilog.startswith(f"Example: headwright {command}")


@pytest.mark.parametrize(("command", "code"), DEMOS.items())
def test_a_demo_needs_nothing(command, code):
    done = run_here(command, "--demo", "--json")

    assert done.exit_code == code, done.stderr
    assert json.loads(done.stdout)
    assert done.stderr.startswith(f"demo: headwright {command} ")
    assert "--demo" not in done.stderr


def test_what_is_typed_beside_a_demo_replaces_its_own():
    copied = json.loads(run_here("design", "--demo", "--copy", "1", "--json").stdout)
    sharper = json.loads(run_here("attend", "--demo", "--query=[50,0]", "--json").stdout)

    assert copied["target"]["support"] == [1]
    assert sharper["logits"][0] == 50


def test_a_missing_option_offers_the_demo():
    assert "headwright reach --demo" in run_here("reach").stderr


@pytest.mark.parametrize(
    ("words", "attempt"),
    [
        (["new"], "headwright new --roster roster.csv --seed 1 --out sheets"),
        (["course"], "headwright course demo"),
        (["study", "pric"], "headwright study price"),
        (["bench", "moment"], "headwright bench moments"),
        (["tour", "--seed", "a"], "'a' is not a whole number; try: headwright tour --help"),
        (["design", "--lek", "1"], "--leak"),
    ],
)
def test_what_is_missing_or_mistyped_says_what_to_try(words, attempt):
    done = run_here(*words)

    assert done.exit_code == 2
    assert attempt in done.stderr
    assert done.stdout == ""


# A number that lost its end: digits, or a power of ten without its exponent, before the mark
CUT_OFF = re.compile(r"\d…|…\d|[0-9.]e-?\s|█…")


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", [*DEMOS, "xray"])
def test_a_demo_stays_readable_in_a_narrow_terminal(command, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = run_here(command, "--demo").stdout

    too_wide = [line for line in shown.splitlines() if cell_len(line) > columns]
    # A path is never broken: it could not be copied
    assert [line for line in too_wide if " " in line] == []
    assert not CUT_OFF.search(shown)
