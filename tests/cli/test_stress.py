"""`headwright stress` as people and scripts meet it."""

import json
import re

import mpmath as mp
import numpy as np
import pytest
from click.testing import CliRunner
from tests import reference, tolerances

import headwright as hw
from headwright.cli.heads.stress import command

N, A, B, BETA = 20, 3, 5, 30.0
K = np.eye(N)
CLASSIC = f"radial@{A}=0.5"
FLIP = float(reference.normal_cdf(-mp.sqrt(2)))


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "K.npy", K)
    np.save(tmp_path / "one.npy", BETA * (K[A] + K[B]))
    np.save(tmp_path / "two.npy", BETA * K[[A, B]])
    return tmp_path


def run(files, *args, query="two.npy", noise=CLASSIC):
    keys = ["--keys", str(files / "K.npy"), "--values", str(files / "K.npy")]
    heads = [] if query is None else ["--query", str(files / query)]
    return CliRunner(env={"COLUMNS": "80"}).invoke(
        command, [*keys, *heads, "--noise", noise, *args]
    )


def test_json_holds_the_numbers_of_the_classic_example(files):
    tau = str(np.sqrt(0.05))
    done = run(files, "--json", "--tau", tau)
    assert done.exit_code == 0
    got = json.loads(done.stdout)
    assert got["flip"] == pytest.approx([FLIP, 0.0], abs=tolerances.ROUNDING)
    assert got["far"]["probability"]["value"] == pytest.approx(0.103, abs=tolerances.QUOTED_THREE)
    assert (got["method"], got["status"]) == ("exact", "done")
    direct = hw.moments(BETA * K[[A, B]], hw.GaussianKeys(K).radial({A: 0.5}), K)
    assert got["mean"] == pytest.approx(direct.mean.tolist(), abs=tolerances.ROUNDING)
    assert np.array(got["covariance"]) == pytest.approx(direct.covariance, abs=tolerances.ROUNDING)
    assert len(got["weights_mean"]) == N
    assert got["error"] < tolerances.EXACT_COVARIANCE
    # The target is the output without noise, so the squared error is bias^2 + trace of the
    # covariance.
    bias = np.array(got["mean"]) - np.array(got["noiseless"])
    assert got["squared_error"] == pytest.approx(
        bias @ bias + np.trace(got["covariance"]), abs=tolerances.ROUNDING
    )


@pytest.mark.parametrize("method", ["sampled", "limit"])
def test_every_method_answers_in_the_same_shape(files, method):
    samples = ["--samples", "4096"]
    exact, other = (
        json.loads(run(files, "--json", "--method", m, *samples).stdout) for m in ("exact", method)
    )
    assert list(other) == list(exact)
    assert other["method"] == method
    # At sharpness 30 the limit is near: 0.461 against 0.449.
    assert other["mean"][A] == pytest.approx(exact["mean"][A], abs=0.02)


def test_people_get_tables_of_eighty_columns(files):
    done = run(files)
    assert done.exit_code == 0
    assert "flip 7.865%" in done.stdout
    assert "head" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert "…" not in done.stdout


def test_one_head_is_a_coin(files):
    done = run(files, query="one.npy")
    for key in (A, B):
        assert f"key {key} 50.000%" in done.stdout


def test_a_saved_design_is_read(files):
    design = {
        "version": 1,
        "queries": (BETA * K[[A, B]]).tolist(),
        "mix": [0.5, 0.5],
        "scale": 1.0,
        "bias": None,
    }
    (files / "D.json").write_text(json.dumps(design))
    done = run(files, "--design", str(files / "D.json"), "--json", query=None)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["mean"] == json.loads(run(files, "--json").stdout)["mean"]


def test_quantised_keys_are_a_law_too(files):
    done = run(files, "--json", noise="bits=4/channel/8,isotropic=1e-4")
    assert json.loads(done.stdout)["noise"] == f"GaussianKeys(n={N}, d={N}, isotropic, diagonal)"


def test_figures_are_written(files):
    done = run(files, "--out", str(files / "pictures"), "--json")
    assert done.exit_code == 0
    written = {path.rpartition("/")[2] for path in json.loads(done.stdout)["figures"]}
    assert written == {
        f"{name}.{kind}" for name in ("weights", "output", "beside") for kind in ("svg", "png")
    }
    for name in written:
        assert (files / "pictures" / name).stat().st_size > 1000


def test_the_worst_case_encloses_the_mean_and_the_bounds_grow_with_the_box(files):
    small, large = (
        json.loads(run(files, "--json", "--sigmas", s).stdout)["worst"] for s in ("1", "4")
    )
    assert np.all(np.array(large["low"]) <= np.array(small["low"]) + tolerances.ROUNDING)
    assert np.all(np.array(large["high"]) >= np.array(small["high"]) - tolerances.ROUNDING)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--noise", "foo=1"], "isotropic"),
        (["--noise", "isotropic"], "NAME=VARIANCE"),
        (["--noise", ""], "NAME=VARIANCE"),
        (["--noise", "radial@20=1"], "between 0 and 19"),
        (["--noise", "radial@x=1"], "between 0 and 19"),
        (["--noise", "isotropic=-1"], "variance"),
        (["--noise", "isotropic=nan"], "variance"),
        (["--noise", "bits=40"], "bits"),
        (["--noise", "bits=4/row"], "channel"),
        (["--noise", "bits=4/channel/8/8"], "GROUP"),
        (["--query", "[1, 2]"], "queries"),
        (["--tau", "-1"], "tau"),
        (["--key", "20"], "key"),
        (["--target", "[1]"], "target"),
        (["--mix", "[1]"], "mix"),
        (["--bias", "[1]"], "bias"),
        (["--method", "guess"], "exact"),
        (["--design", "D.json"], "one of"),
    ],
)
def test_bad_input_is_one_line_and_exit_two(files, arguments, word):
    done = run(files, *arguments)
    assert done.exit_code == 2
    assert word in done.output
    assert "Traceback" not in done.output
    assert done.stdout == ""


@pytest.mark.parametrize(
    "text",
    ["", "[1]", "{}", '{"version": 2, "queries": [[1]]}',
     '{"version": 1, "queries": [[1, 2], [3]]}', '{"version": 1, "queries": "abc"}',
     '{"version": 1, "queries": [[1e999]]}', "[" * 100_000],
)  # fmt: skip
def test_bad_designs_are_refused(files, text):
    (files / "D.json").write_text(text)
    done = run(files, "--design", str(files / "D.json"), query=None)
    assert done.exit_code == 2
    assert "wanted" in done.output


def test_value_and_error_are_in_the_same_unit(files):
    done = run(files, "--tau", "0.1", noise=f"isotropic=1e-4,{CLASSIC}")
    value, error = re.search(
        r"> 0\.1\) = ([\d.]+)% \(sampled, ± ([\d.e-]+)%\)", done.stdout
    ).groups()
    data = json.loads(
        run(files, "--tau", "0.1", "--json", noise=f"isotropic=1e-4,{CLASSIC}").stdout
    )
    found = data["far"]["probability"]
    assert float(value) == pytest.approx(100 * found["value"], abs=tolerances.QUOTED_FOUR)
    # One digit is shown.
    assert float(error) == pytest.approx(100 * found["error"], rel=0.5)
    exact = run(files, "--tau", "0.1")
    assert re.search(r"= [\d.]+% \(exact, error at most [\d.e-]+%\)", exact.stdout)


@pytest.mark.parametrize(("tau", "said"), [("5", r"< 0\.0046%"), ("0", r"> 99\.9954%")])
def test_none_and_all_are_bounds(files, tau, said):
    done = run(files, "--tau", tau, noise="isotropic=1e-2")
    assert re.search(said + r" \(sampled, 95% confidence\)", done.stdout), done.stdout
    assert "± 0" not in done.stdout
    data = json.loads(run(files, "--tau", tau, "--json", noise="isotropic=1e-2").stdout)
    assert data["far"]["probability"]["error"] == pytest.approx(
        3 / 65536, rel=tolerances.NONE_OF_MANY / 2
    )


def test_a_small_share_is_not_printed_as_zero():
    from headwright.cli.heads.stress_view import share

    assert [share(p) for p in (0.0, 1e-9, 6e-6, 0.5)] == [
        "0.000%",
        "< 0.001%",
        "0.001%",
        "50.000%",
    ]
