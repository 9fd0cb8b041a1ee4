"""Every command has a worked example in its help; `--demo` needs nothing and stays JSON."""

import json
from importlib import import_module

import pytest
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
