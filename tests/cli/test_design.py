"""`headwright design` and `headwright certify` as a newcomer runs them."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from headwright.cli import app


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["headwright", "design"])
    rng = np.random.default_rng(0)
    np.save(tmp_path / "K.npy", rng.standard_normal((40, 8)))
    np.save(tmp_path / "flat.npy", np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.3, 0.3]]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_design_then_certify_then_tamper(files):
    made = run("design", "--keys", "K.npy", "--average", "1,2", "--save", "D.json")
    assert made.exit_code == 0, made.output
    assert "reached" in made.output
    fine = run("certify", "D.json", "--keys", "K.npy")
    assert fine.exit_code == 0, fine.output
    body = json.loads((files / "D.json").read_text())
    body["queries"][0][0] += 1e-3
    (files / "T.json").write_text(json.dumps(body))
    broken = run("certify", "T.json", "--keys", "K.npy", "--json")
    assert broken.exit_code == 1
    assert json.loads(broken.stdout)["holds"] is False


def test_json_has_the_promised_fields(files):
    reply = run("design", "--keys", "K.npy", "--copy", "3", "--json")
    assert reply.exit_code == 0
    data = json.loads(reply.stdout)
    assert {"status", "queries", "mix", "leak", "sharpness", "certificate", "proof"} <= set(data)
    assert data["status"] == "reached"
    assert data["certificate"]["leak_bound"] <= 1e-3
    assert data["proof"] is None


def test_an_impossible_target_is_an_answer(files):
    reply = run("design", "--keys", "flat.npy", "--copy", "3")
    assert reply.exit_code == 0
    assert "impossible" in reply.output
    assert "proof: 1 k_3 = " in reply.output
    assert run("design", "--keys", "flat.npy", "--copy", "3", "--save", "D.json").exit_code == 0
    assert run("certify", "D.json", "--keys", "flat.npy").exit_code == 0


BAD = [
    ["--copy", "99"],
    ["--copy", "x"],
    [],
    ["--copy", "1", "--average", "1,2"],
    ["--mixture", "1=.5,2"],
    ["--mixture", "1=.5,2=.6"],
    ["--mixture", "1=.5,1=.5"],
    ["--copy", "1", "--leak", "0"],
    ["--copy", "1", "--heads", "many"],
    ["--copy", "1", "--storage", "int4"],
    ["--copy", "1", "--noise", "loud"],
]


@pytest.mark.parametrize("words", BAD, ids=" ".join)
def test_bad_input_is_one_line_and_exit_2(files, words):
    reply = run("design", "--keys", "K.npy", *words)
    assert reply.exit_code == 2
    assert "Traceback" not in reply.output
    assert "wanted" in reply.stderr


def test_figures_are_written(files):
    reply = run("design", "--keys", "K.npy", "--mixture", "1=.7,2=.3", "--out", "figures", "--json")
    assert reply.exit_code == 0, reply.output
    written = json.loads(reply.stdout)["figures"]
    assert {name.rsplit("/", 1)[-1] for name in written} >= {
        "weights.svg",
        "margins.svg",
        "norm-against-leak.svg",
    }
    for name in written:
        assert (files / name).stat().st_size > 1000


def test_noise_reports_both_routes(files):
    reply = run(
        "design",
        "--keys",
        "flat.npy",
        "--average",
        "1,2",
        "--heads",
        "2",
        "--noise",
        "radial@1=0.2",
        "--json",
    )
    assert reply.exit_code == 0, reply.output
    robust = json.loads(reply.stdout)["robust"]
    assert robust["gain"] >= 1
    assert abs(robust["error"] - robust["sampled"]) < 5 * robust["sampled_error"]


@pytest.mark.parametrize(
    "change",
    [{"status": "Reached"}, {"scale": 0}, {"norm": 10**400}, {"mix": [True]}, {"bias": "x"}],
)
def test_a_file_that_cannot_be_meant_is_one_line_and_exit_2(files, change):
    assert run("design", "--keys", "K.npy", "--copy", "1", "--save", "D.json").exit_code == 0
    body = json.loads((files / "D.json").read_text())
    (files / "T.json").write_text(json.dumps(body | change))
    reply = run("certify", "T.json", "--keys", "K.npy")
    assert reply.exit_code == 2
    assert "Traceback" not in reply.output
    assert "wanted" in reply.stderr
