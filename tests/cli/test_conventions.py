"""What every command promises: JSON alone on stdout, exit codes, one-line errors, a fast and light start."""

import json
import subprocess
import sys

import numpy as np
import pytest

from headwright.cli import COMMANDS


def run(*args, cwd=None):
    return subprocess.run([sys.executable, "-c", "from headwright.cli import main; main()", *args],
                          capture_output=True, text=True, timeout=120, cwd=cwd, check=False)  # fmt: skip


ATTEND = ("attend", "--keys", "[[1,0],[0,1]]", "--values", "[[1,2],[3,4]]", "--query", "[1,2]")


def test_json_is_one_document_and_nothing_else():
    done = run(*ATTEND, "--json")
    assert done.returncode == 0
    got = json.loads(done.stdout)
    np.testing.assert_allclose(got["weights"], [1 / (1 + np.e), np.e / (1 + np.e)], rtol=1e-12)
    assert done.stderr == ""


def test_people_get_a_table():
    done = run(*ATTEND)
    assert done.returncode == 0
    assert "output c" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_files_and_masks(tmp_path):
    np.save(tmp_path / "k.npy", np.eye(3))
    done = run(
        "attend",
        "--keys",
        "k.npy",
        "--values",
        "k.npy",
        "--query",
        "[5,0,0]",
        "--mask",
        "[0,1,1]",
        "--json",
        cwd=tmp_path,
    )
    assert json.loads(done.stdout)["weights"] == [0.0, 0.5, 0.5]


@pytest.mark.parametrize(
    "args",
    [
        ("attend",),
        ("attend", "--keys", "none.npy", "--values", "[[1]]", "--query", "[1]"),
        ("attend", "--keys", "[[1,2],[3]]", "--values", "[[1]]", "--query", "[1]"),
        ("attend", "--keys", "[[1,2]", "--values", "[[1]]", "--query", "[1]"),
        ("attend", "--keys", "[[NaN]]", "--values", "[[1]]", "--query", "[1]"),
        ("attend", "--keys", "[[1,0]]", "--values", "[[1]]", "--query", "[1,2,3]"),
        ("attend", "--keys", "[[1]]", "--values", "[[1]]", "--query", "[1]", "--mask", "[0]"),
        ("extract", "--a", "[[1],[0]]", "--b", "[[1],[0]]"),
        ("extract", "--a", "[1]", "--b", "[[1]]"),
        ("symmetry", "numpy", "--shape", "3,3"),
        ("symmetry", "numpy:nothing", "--shape", "3,3"),
        ("symmetry", "numpy:pi", "--shape", "3,3"),
        ("symmetry", "numpy:tanh", "--shape", "3"),
        ("symmetry", "numpy:tanh", "--shape", "0,3"),
        ("bench", "nothing"),
        ("no-such-command",),
    ],
)
def test_bad_input_is_one_line_and_exit_2(args):
    done = run(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_extract_reports_both_objects():
    done = run("extract", "--a", "[[1],[0],[0]]", "--b", "[[1],[1],[0]]", "--json")
    got = json.loads(done.stdout)
    np.testing.assert_allclose(np.array(got["matrix"]) @ [3, 1, 0], [2, 0, 0], atol=1e-12)
    assert got["amplification"] == pytest.approx(2**0.5)


def test_symmetry_exit_code_is_the_verdict(tmp_path):
    (tmp_path / "layers.py").write_text("def causal(x):\n    return x.cumsum(axis=0)\n")
    assert run("symmetry", "numpy:tanh", "--shape", "4,3").returncode == 0
    done = run("symmetry", "layers:causal", "--shape", "4,3", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert json.loads(done.stdout)["counterexample"]["swap"] == [0, 1]


def test_help_of_every_command():
    for name in COMMANDS:
        done = run(name, "--help")
        assert done.returncode == 0, (name, done.stderr)
        assert "--json" in done.stdout, name


def test_help_and_import_are_light():
    script = (
        "import sys, headwright; headwright.attend; from headwright.cli import COMMANDS;"
        "print([m for m in ('matplotlib', 'torch', 'starlette', 'transformers', 'jax') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
