"""What every command promises: JSON alone on stdout, exit codes, one-line errors, a fast and light
start."""

import functools
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.tolerances import ROUNDING

from headwright.cli import COMMANDS, main
from headwright.cli.conventions import progress, progress_bar

PROGRAM = (sys.executable, "-m", "headwright")


def run(*args, cwd=None, **environment):
    done = subprocess.run(
        [*PROGRAM, *args],
        capture_output=True,
        timeout=120,
        cwd=cwd,
        check=False,
        env=os.environ | environment,
    )
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    done.stdout, done.stderr = (said.decode(encoding) for said in (done.stdout, done.stderr))
    return done


run_once = functools.cache(run)


class Program:
    """The program as its entry point makes it, for a runner that knows commands."""

    name = "headwright"

    def main(self, args, prog_name, **settings):
        main(list(args))


def run_here(*args):
    """The program in this process: a start takes longer than most of what is tested. What a process
    alone has (a full disk, a closed pipe, an encoding, its own imports) is tested with `run`."""
    return CliRunner(catch_exceptions=False).invoke(Program(), args)


ATTEND = ("attend", "--keys", "[[1,0],[0,1]]", "--values", "[[1,2],[3,4]]", "--query", "[1,2]")


def test_json_is_one_document_and_nothing_else():
    done = run(*ATTEND, "--json")
    assert done.returncode == 0
    got = json.loads(done.stdout)
    np.testing.assert_allclose(got["weights"], [1 / (1 + np.e), np.e / (1 + np.e)], rtol=ROUNDING)
    assert done.stderr == ""


def test_people_get_a_table():
    done = run(*ATTEND)
    assert done.returncode == 0
    assert "output c" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_files_and_masks(tmp_path, monkeypatch):
    np.save(tmp_path / "k.npy", np.eye(3))
    monkeypatch.chdir(tmp_path)
    done = run_here(
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
        ("bench", "check_real"),
        ("bench", "check", "a folder"),
        ("no-such-command",),
    ],
)
def test_bad_input_is_one_line_and_exit_2(args):
    done = run_here(*args)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_extract_reports_both_objects():
    done = run_here("extract", "--a", "[[1],[0],[0]]", "--b", "[[1],[1],[0]]", "--json")
    got = json.loads(done.stdout)
    np.testing.assert_allclose(np.array(got["matrix"]) @ [3, 1, 0], [2, 0, 0], atol=ROUNDING)
    assert got["amplification"] == pytest.approx(2**0.5)


def test_symmetry_exit_code_is_the_verdict(tmp_path):
    (tmp_path / "layers.py").write_text("def causal(x):\n    return x.cumsum(axis=0)\n")
    assert run("symmetry", "numpy:tanh", "--shape", "4,3").returncode == 0
    done = run("symmetry", "layers:causal", "--shape", "4,3", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert json.loads(done.stdout)["counterexample"]["swap"] == [0, 1]


def test_help_of_every_command():
    for name in COMMANDS:
        done = run_here(name, "--help")
        assert done.exit_code == 0, (name, done.stderr)
        assert "--json" in done.stdout, name


def test_help_and_import_are_light():
    heavy = ("matplotlib", "torch", "starlette", "transformers", "jax", "jaxtyping")
    program = "import headwright; headwright.attend; from headwright.cli import COMMANDS"
    assert not imported_by(program, heavy)
    assert not imported_by("import headwright.noise", ("scipy.interpolate", "scipy.stats"))


def test_the_process_that_judges_and_the_one_that_asks_are_light():
    """Their imports are a third of the time that one document takes."""
    judge = (
        "scipy",
        "jaxtyping",
        "array_api_compat.numpy",
        "rich",
        "psutil",
        "headwright.crew.running",
    )
    assert not imported_by("import headwright.crew.worker, headwright.homework", judge)
    assert not imported_by("import headwright.homework.judging_process", judge)
    before_the_judge_starts = (
        "numpy",
        "rich.console",
        "headwright.crew.executor",
        "headwright.homework.batch",
        "headwright.course",
    )
    assert not imported_by("import headwright.cli.check.command", before_the_judge_starts)


def imported_by(program, modules):
    """Which of these modules are there after this program."""
    script = f"{program}; import sys; print(*[m for m in {modules!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


FULL = "/dev/full"
HEADS = (
    "stress",
    "--keys",
    "[[1,0],[0,1]]",
    "--values",
    "[[1,0],[0,1]]",
    "--query",
    "[3,0]",
    "--noise",
    "isotropic=.01",
)
DESIGN = ("design", "--keys", "[[1,0],[0,1]]", "--copy", "0")


@pytest.mark.skipif(not Path(FULL).exists(), reason="a disk that is always full")
@pytest.mark.parametrize(
    "args",
    [
        (*DESIGN, "--save", FULL),
        ("check", "answers.md", "--csv", FULL),
        ("check", "answers.md", "--gradescope", FULL),
    ],
    ids=["design", "csv", "gradescope"],
)
def test_a_full_disk_is_one_line_and_exit_2(args, tmp_path):
    (tmp_path / "answers.md").write_text("(c) i. $q = \\beta(\\mu_a + \\mu_b)$, $\\beta \\gg 0$")
    done = run(*args, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"wanted to use {FULL}; got No space left on device; try:" in done.stderr


@pytest.mark.skipif(not Path(FULL).exists(), reason="a disk that is always full")
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["table", "json"])
def test_output_that_cannot_be_written_is_one_line_and_exit_2(form):
    with open(FULL, "w") as full:
        done = subprocess.run(
            [*PROGRAM, *ATTEND, *form], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        (*HEADS, "--out", "taken"),
        (*HEADS, "--out", "taken/deeper"),
        (*DESIGN, "--save", "taken/D.json"),
        (*DESIGN, "--save", "folder"),
        (*DESIGN, "--out", "taken/deeper"),
        ("reach", "--keys", "[[1,0],[0,1],[-1,-1]]", "--out", "taken/deeper"),
        ("tour", "--out", "taken/deeper"),
        ("lab", "--export", "taken/deeper"),
    ],
    ids=lambda args: " ".join(word for word in args if "[" not in word),
)
def test_a_file_where_a_folder_is_wanted_is_one_line_and_exit_2(args, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    done = run_here(*args)
    assert done.exit_code == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert (tmp_path / "taken").read_text() == "a file"


@pytest.mark.skipif(not Path(FULL).exists(), reason="a disk that is always full")
def test_what_can_be_written_is_written(tmp_path):
    done = run(*DESIGN, "--save", FULL, "--out", "figures", "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    said = json.loads(done.stdout)
    assert said["status"] == "reached"
    assert said["figures"]
    assert all((tmp_path / name).stat().st_size > 1000 for name in said["figures"])


def test_what_can_be_shown_is_shown_when_figures_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file")
    monkeypatch.chdir(tmp_path)
    done = run_here(*HEADS, "--out", "taken/deeper", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["status"] == "done"


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["table", "json"])
def test_a_closed_pipe_is_no_failed_check(form):
    with subprocess.Popen(
        [*PROGRAM, *ATTEND, *form], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        program.stdout.close()
        assert program.stderr.read() == b""
        assert program.wait(60) == 141


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize(
    "args",
    [
        ATTEND,
        (*ATTEND, "--json"),
        ("check", "--questions"),
        ("--help",),
        ("attend", "--keys", "ключ.npy"),
    ],
    ids=["table", "json", "bank", "help", "error"],
)
def test_no_encoding_of_the_terminal_is_fatal(args, encoding):
    usual = run_once(*args)
    done = run(*args, PYTHONIOENCODING=encoding)
    assert done.returncode == usual.returncode
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == len(usual.stderr.splitlines())
    if "--json" in args:
        assert done.stdout == usual.stdout


def test_a_name_that_is_not_utf_8_can_be_spoken_of(tmp_path):
    name = os.fsdecode(b"caf\xe9.npy")
    done = run("attend", "--keys", name, "--values", "[[1]]", "--query", "[1]", cwd=tmp_path)
    assert done.returncode == 2
    assert "caf\\udce9.npy" in done.stderr


EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e[red]"


@pytest.mark.parametrize(
    "args",
    [
        ("attend", "--keys", f"{EVIL}.npy", "--values", "[[1]]", "--query", "[1]"),
        ("attend", "--keys", f"there{EVIL}.npy", "--values", "[[1]]", "--query", "[1,2,3]"),
        ("attend", f"--{EVIL}"),
        (EVIL,),
        ("certify", f"{EVIL}.json", "--keys", "[[1]]"),
        ("check", f"{EVIL}.md"),
        ("check", f"there{EVIL}.md"),
        ("check", f"there{EVIL}.md", "--json"),
        ("symmetry", f"{EVIL}:f", "--shape", "3,3"),
        ("audit", EVIL, "--text", f"there{EVIL}.md"),
        (*HEADS, "--out", f"figures{EVIL}"),
        (*HEADS, "--out", f"figures{EVIL}", "--json"),
        (*DESIGN, "--out", f"figures{EVIL}"),
        ("reach", "--keys", "[[1,0],[0,1],[-1,-1]]", "--out", f"figures{EVIL}"),
        ("lab", "--export", f"figures{EVIL}"),
        ("bench", EVIL),
    ],
    ids=lambda args: args[0] if args[0].isalpha() else "no command",
)
def test_escapes_in_names_do_not_reach_the_terminal(args, tmp_path, monkeypatch):
    np.save(tmp_path / f"there{EVIL}.npy", np.eye(2))
    (tmp_path / f"there{EVIL}.md").write_text(
        "(c) i. $q = \\beta(\\mu_a + \\mu_b)$, $\\beta \\gg 0$"
    )
    monkeypatch.chdir(tmp_path)
    done = run_here(*args)
    assert done.exit_code in (0, 1, 2)
    assert "Traceback" not in done.stderr
    for said in (done.stdout, done.stderr):
        assert not set(said) & set("\x1b\x07\x9b\u202e"), said


def test_words_of_a_file_are_not_markup(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run_here(*HEADS, "--out", "[bold]figures[/x]")
    assert done.exit_code == 0, done.stderr
    assert "[bold]figures[/x]/output.svg" in done.stdout.replace("\n", "")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_bar_is_drawn_on_a_terminal_and_nowhere_else(stream, monkeypatch):
    stderr = stream()
    monkeypatch.setattr(sys, "stderr", stderr)

    assert list(progress(iter("abc"), "walking", total=3)) == ["a", "b", "c"]
    with progress_bar("deciding") as step:
        step(1, 2)
        step(2, 2)

    drawn = stderr.getvalue()
    assert ("walking" in drawn) is stderr.isatty()
    assert ("deciding" in drawn) is stderr.isatty()
