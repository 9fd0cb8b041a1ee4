"""Words of the command line: scales, key numbers, wrong names and missing options."""

import math

import numpy as np
import pytest
from tests.cli.test_conventions import run_here

from headwright.cli.arguments import Scale, key_numbers
from headwright.cli.heads.law import law_from_text
from headwright.errors import InputError

KEYS = np.ones((5, 16))
ARRAYS = ("--keys", "[[1,0],[0,1],[-1,-1]]")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5", 0.5),
        ("-1", -1.0),
        ("1e-3", 1e-3),
        ("1/8", 0.125),
        ("1/d", 0.0625),
        ("1/sqrt(d)", 0.25),
        (" 2 / SQRT(16) ", 0.5),
    ],
)
def test_a_scale_is_a_number_or_a_quotient(text, number):
    assert Scale(text).of(KEYS) == number


@pytest.mark.parametrize("text", ["", "d", "sqrt(d)", "1/0", "1/sqrt(0)", "1..2", "nan", "__d__"])
def test_other_scales_are_refused(text):
    with pytest.raises(InputError, match="--scale"):
        Scale(text).of(KEYS)


def test_the_width_needs_keys_that_have_one():
    with pytest.raises(InputError, match="keys"):
        Scale("1/sqrt(d)").of(np.float64(3.0))


@pytest.mark.parametrize("command", ["attend", "design", "stress"])
def test_every_command_with_a_scale_knows_the_width(command):
    words = {
        "attend": ("--values", "[[1],[2],[3]]", "--query", "[1,0]"),
        "design": ("--copy", "0"),
        "stress": ("--values", "[[1],[2],[3]]", "--query", "[1,0]", "--noise", "isotropic=.1"),
    }[command]
    symbol = run_here(command, *ARRAYS, *words, "--scale", "1/sqrt(d)", "--json")
    number = run_here(command, *ARRAYS, *words, "--scale", repr(1 / math.sqrt(2)), "--json")

    assert symbol.exit_code == 0, symbol.stderr
    assert symbol.stdout == number.stdout


def test_keys_are_counted_from_0_and_ranges_have_both_ends():
    assert key_numbers("--average", "1-3") == [1, 2, 3]
    assert key_numbers("--average", "0, 4-5,2") == [0, 4, 5, 2]


@pytest.mark.parametrize("text", ["", "1-", "-1", "3-1", "1-x", "a", "1,,2", "0-99999999999", "²"])
def test_other_keys_are_refused(text):
    with pytest.raises(InputError, match="--average"):
        key_numbers("--average", text)


def test_noise_may_be_that_of_a_range_of_keys():
    one_by_one = law_from_text("radial@1=.5,radial@2=.5", KEYS)

    assert repr(law_from_text("radial@1-2=.5", KEYS)) == repr(one_by_one)


def test_a_range_of_keys_is_that_list_of_keys():
    range_ = run_here("design", *ARRAYS, "--average", "0-1", "--json")

    assert range_.stdout == run_here("design", *ARRAYS, "--average", "0,1", "--json").stdout
    assert run_here("reach", *ARRAYS, "--set", "0-1").exit_code == 0


def test_a_wrong_name_gets_the_right_one():
    assert "did you mean design?" in run_here("desing").stderr
    assert "headwright --help" in run_here("zzzzz").stderr


def test_a_missing_option_says_what_to_try():
    missing = run_here("design")

    assert missing.exit_code == 2
    assert "wanted --keys" in missing.stderr
    assert "try: --keys FILE" in missing.stderr
    assert "headwright symmetry --help" in run_here("symmetry").stderr


def test_a_design_shows_its_queries():
    one = run_here("design", *ARRAYS, "--copy", "0")
    two = run_here("design", *ARRAYS, "--average", "0-2", "--heads", "2")

    assert "query = (" in one.stdout
    assert "query of head 2 = (" in two.stdout


@pytest.fixture
def completed(monkeypatch):
    def complete(words, place):
        monkeypatch.setenv("_HEADWRIGHT_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(place))
        return run_here().stdout.split()

    return complete


def test_shells_complete_commands_and_options(completed):
    assert completed("headwright des", 1) == ["plain,design"]
    assert completed("headwright design --av", 2) == ["plain,--average"]
    assert completed("headwright desing --av", 2) == []


def test_no_digit_is_cut_in_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = run_here("stress", "--demo").stdout

    assert "…" not in shown
    assert max(len(line) for line in shown.splitlines()) <= 60
