"""The product of the parameters: its order, its size, and what is refused before it is built."""

from itertools import product

import pytest

from headwright.errors import InputError
from headwright.study.grid import MOST_POINTS, grid, insist_on_size

TEXT = """
[grid]
n = [4, 8]
kind = ["random", "cyclic"]
leak = {from = 0.1, to = 0.3, step = 0.1}
seed = 7
"""


def test_the_last_parameter_runs_fastest(tmp_path):
    file = tmp_path / "g.toml"
    file.write_text(TEXT)
    made = grid(file)
    wanted = product([4, 8], ["random", "cyclic"], [0.1, 0.2, 0.3], [7])

    assert [tuple(point.values()) for point in made.points()] == list(wanted)
    assert made.parameters == ["n", "kind", "leak", "seed"]
    assert made.varying == ["n", "kind", "leak"]
    assert made.count == 12


def test_a_dictionary_is_the_same_grid_with_or_without_its_heading():
    plain = {"n": [1, 2], "x": {"from": 0, "to": 1, "points": 3}}

    assert list(grid(plain).points()) == list(grid({"grid": plain}).points())
    # A parameter may be called grid, too
    assert list(grid({"grid": [1, 2]}).points()) == [{"grid": 1}, {"grid": 2}]
    assert grid({"grid": {"from": 0, "to": 1, "step": 1}}).count == 2


def test_blocks_follow_one_another(tmp_path):
    file = tmp_path / "g.toml"
    file.write_text("[[grid]]\nn = [1, 2]\nd = 3\n[[grid]]\nn = [2]\nd = [4, 5]\n")
    made = grid(file)

    assert [tuple(p.values()) for p in made.points()] == [(1, 3), (2, 3), (2, 4), (2, 5)]
    assert made.varying == ["n", "d"]
    assert made.count == 4


def test_the_first_points_of_a_large_grid_are_made_alone():
    made = grid({"a": {"from": 1, "to": 10**12, "step": 1}, "b": [1, 2], "c": [0, 1]})

    assert made.count == 4 * 10**12
    assert list(made.points(5))[-1] == {"a": 2, "b": 1, "c": 0}


def test_a_grid_that_explodes_is_counted_and_refused():
    large = grid({"a": {"from": 1, "to": 10**6, "step": 1}, "b": [1, 2]})
    with pytest.raises(InputError, match=r"a grid of 2,000,000 points.*--limit"):
        insist_on_size(large, None)
    insist_on_size(large, 100)
    insist_on_size(grid({"a": {"from": 1, "to": MOST_POINTS, "step": 1}}), None)

    names = "abcdefghijklmnopqrst"
    huge = grid({name: {"from": 1, "to": 10**12, "step": 1} for name in names})
    with pytest.raises(InputError, match=r"about 10\^240 points"):
        insist_on_size(huge, None)
    assert len(list(huge.points(2))) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an empty file"),
        ("n = [1]", "[n]"),
        ("[grid]", "parameters in [grid]"),
        ("grid = 3", "parameters in [grid]"),
        ("grid = []", "parameters in [grid]"),
        ("[grid]\nn = [1]\n[fixed]\nseed = 1", "[fixed]"),
        ("[grid]\nn = [1,", "TOML in g.toml"),
        ("[grid]\nn = [nan]", "finite values of n"),
        ("[grid]\nn = [1, 1]", "different values of n"),
        ("[grid]\n'a b' = [1]", "'a b'"),
        ("[grid]\nerror = [1]", "'error'"),
        ("[grid]\nn = 2026-01-01", "date"),
        ("[[grid]]\nn = [1, 2]\nd = 1\n[[grid]]\nd = [1, 3]\nn = 2", "n = 2, d = 1"),
        ("x = " + "[" * 5000, "TOML in g.toml"),
    ],
)
def test_what_is_no_grid_is_said_in_one_line(tmp_path, text, said):
    file = tmp_path / "g.toml"
    file.write_text(text)
    with pytest.raises(InputError) as refused:
        grid(file)

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "g.toml").write_bytes(b"\xff\xfe[grid]")
    for file in (tmp_path / "none.toml", tmp_path, tmp_path / "g.toml"):
        with pytest.raises(InputError):
            grid(file)
