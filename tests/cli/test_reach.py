"""`headwright reach` as people and scripts meet it."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from tests.tolerances import COMBINATION

import headwright as hw
from headwright.cli.heads.reach import command

SQUARE = "[[0,0],[1,0],[0,1],[1,1],[0.5,0.5],[0.5,0],[1,1]]"


def run(*args):
    return CliRunner().invoke(command, list(args))


def test_json_has_the_verdict_of_every_key_and_proofs_that_multiply_out():
    done = run("--keys", SQUARE, "--json")
    assert done.exit_code == 0
    got = json.loads(done.stdout)
    assert got["reachable"] == [True, True, True, False, False, False, False]
    assert got["count"] == 3
    assert got["counts"] == {"reachable": 3, "shared": 2, "unreachable": 2, "undecided": 0}
    assert got["groups"] == [{"keys": [3, 6], "status": "shared"}]
    K = np.array(json.loads(SQUARE))
    for row in got["unreachable"]:
        proof = row["proof"]
        there = np.array(proof["outside_coefficients"]) @ K[proof["outside"]]
        np.testing.assert_allclose(there, K[row["index"]], rtol=0, atol=COMBINATION)
        assert 0 < row["ceiling"] <= 0.5


def test_people_get_a_table_of_eighty_columns():
    done = CliRunner(env={"COLUMNS": "80"}).invoke(command, ["--keys", SQUARE, "--witness", "0"])
    assert done.exit_code == 0
    assert "3 of 7 keys can win" in done.stdout
    assert "0 wins by" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_sets_and_the_limit_on_proofs():
    done = run(
        "--keys", SQUARE, "--set", "0,1", "--set", "0,1,5", "--set", "4", "--proofs", "1", "--json"
    )
    got = json.loads(done.stdout)
    assert got["status"] == ["unreachable", "reachable", "unreachable"]
    assert len(got["unreachable"]) == 1
    assert got["proofs_left_out"] == 1
    assert (
        "1 more: --proofs"
        in run("--keys", SQUARE, "--set", "0,1", "--set", "4", "--proofs", "1").stdout
    )


def test_a_figure_is_written_whole(tmp_path, rng):
    np.save(tmp_path / "k.npy", rng.standard_normal((50, 3)))
    done = run("--keys", str(tmp_path / "k.npy"), "--out", str(tmp_path / "out"), "--json")
    assert done.exit_code == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["reach.png", "reach.svg"]
    assert len(json.loads(done.stdout)["figures"]) == 2


@pytest.mark.parametrize("keys", ["[[1]]", "[[1,2],[1,2]]", "[[1],[2],[3]]"])
def test_figures_of_degenerate_keys(tmp_path, keys):
    assert run("--keys", keys, "--out", str(tmp_path)).exit_code == 0


SQUARE_KEYS = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.4]])
SPREAD = np.random.default_rng(0).standard_normal((30, 3))


@pytest.mark.parametrize(
    ("keys", "titles"),
    [
        (SQUARE_KEYS, ["hull", "margin", "most weight"]),
        (np.eye(2), ["hull", "margin"]),
        (np.ones((2, 2)), ["hull", "most weight"]),
        (np.ones((1, 2)), ["hull"]),
        (np.arange(4.0)[:, None], ["hull", "margin", "most weight"]),
        (SPREAD, ["two widest", "margin", "most weight"]),
        (SPREAD[:, :2] @ SPREAD[:2], ["hull", "margin", "most weight"]),
    ],
)
def test_a_figure_has_no_empty_axes(keys, titles):
    axes = hw.design.reach(keys).plot().axes

    assert len(axes) == len(titles)
    for one, title in zip(axes, titles, strict=True):
        assert title in one.get_title(loc="left")
        assert one.has_data()


def test_keys_are_numbered_where_that_covers_nothing():
    few = hw.design.reach(SQUARE_KEYS).plot().axes[0]
    crowded = np.random.default_rng(0).standard_normal((300, 2))
    many = hw.design.reach(crowded).plot().axes[0]

    assert sorted(text.get_text() for text in few.texts) == ["0", "1", "2", "3", "4"]
    assert 0 < len(many.texts) < 150


@pytest.mark.parametrize(
    "args",
    [
        ("--keys", "[[1,2],[3]]"),
        ("--keys", "[[1,2],[3,4]]", "--set", "a"),
        ("--keys", "[[1,2],[3,4]]", "--set", "0,0"),
        ("--keys", "[[1,2],[3,4]]", "--set", "5"),
        ("--keys", "[[1,2],[3,4]]", "--witness", "9"),
        ("--keys", "[[1],[2],[3]]", "--witness", "1"),
        ("--keys", "[[1,2],[3,4]]", "--tolerance", "-1"),
        ("--keys", "[[1,2],[3,4]]", "--set", "0", "--out", "somewhere"),
        ("--keys", "no-such-file.npy"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(args):
    done = run(*args)
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    assert "wanted" in done.output
