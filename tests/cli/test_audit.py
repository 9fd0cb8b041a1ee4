"""`headwright audit` as a newcomer runs it: tables, JSON, files, and one line for everything that
goes wrong."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from click.testing import CliRunner
from rich.console import Console
from tests.trained.small_model import saved_model

from headwright.cli.audit import view as audit_view
from headwright.cli.audit.command import command
from headwright.trained.cards import Card
from headwright.trained.measures.from_rows import TITLES
from headwright.trained.table import Audit

_TEXT = "One two three, one two three. " * 4


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(_TEXT)
    return str(path)


def _run(*arguments, columns=80):
    return CliRunner().invoke(command, [str(a) for a in arguments], env={"COLUMNS": str(columns)})


def test_table(model, text):
    reply = _run(model, "--text", text, "--rows", "1", "--sort", "previous")
    assert reply.exit_code == 0, reply.output
    assert "0.0" in reply.stdout
    assert max(map(len, reply.stdout.splitlines())) <= 80


def _header(lines):
    return next(line.split() for line in lines if line.split()[:1] == ["head"])


@pytest.mark.parametrize("columns", [80, 120])
def test_nothing_is_cut_off(model, text, columns):
    reply = _run(
        *(model, "--text", text, "--rows", "2", "--key-bits", "8,2", "--sort", "entropy"),
        columns=columns,
    )
    assert reply.exit_code == 0, reply.output
    assert "…" not in reply.stdout
    assert max(map(len, reply.stdout.splitlines())) <= columns
    wide = ["sharpness", "reachable", "margin"] if columns == 120 else []
    first = [
        "head",
        "entropy",
        "keys",
        "largest",
        "first",
        "previous",
        "induction",
        "copy",
        "noise",
    ]
    assert _header(reply.stdout.splitlines())[: 9 + len(wide)] == first + wide
    assert len(_header(reply.stdout.splitlines())) > 9 or columns == 80


@pytest.mark.parametrize("columns", [80, 120])
def test_long_names_and_huge_numbers_cost_columns_not_letters(columns):
    """Two stacks, three-digit places, and numbers as long as they get; what the heads are ordered
    by stays."""
    measures = dict.fromkeys([*TITLES, "twin"], -1.2345e17)
    cards = tuple(Card("language_model", 101, head, measures) for head in range(98, 102))
    out = io.StringIO()
    console = Console(width=columns, file=out, highlight=False)
    audit = Audit("a folder with a long name/" * 4, 1, 10**6, 0.0, cards)
    audit_view.heads(console, audit, cards, order="horizon")
    lines = out.getvalue().splitlines()
    assert "…" not in out.getvalue()
    assert max(map(len, lines)) <= columns
    assert _header(lines)[:3] == ["head", "horizon", "entropy"]
    assert sum("language_model 101." in line and "-1e+17" in line for line in lines) == 4


def test_a_terminal_too_narrow_for_the_rest_shows_the_order(model, text):
    reply = _run(model, "--text", text, "--rows", "0", "--sort", "margin", columns=20)
    assert _header(reply.stdout.splitlines())[:2] == ["head", "margin"]


def test_json_csv_html(model, text, tmp_path):
    sheet, folder = tmp_path / "heads.csv", tmp_path / "out"
    reply = _run(
        model,
        "--text",
        text,
        "--rows",
        "2",
        "--key-bits",
        "4",
        "--json",
        "--csv",
        sheet,
        "--html",
        folder,
    )
    assert reply.exit_code == 0, reply.output
    data = json.loads(reply.stdout)
    assert [(h["layer"], h["head"]) for h in data["heads"]] == [
        (i, j) for i in range(2) for j in range(4)
    ]
    assert {"entropy", "copy", "induction", "reachable", "noise_gain_se", "sentence"} <= set(
        data["heads"][0]
    )
    assert len(data["key_noise"]["settings"]) == 2
    with sheet.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["entropy"]) for row in rows] == [h["entropy"] for h in data["heads"]]
    noise = [h["channel4_predicted_se"] for h in data["key_noise"]["heads"]]
    assert [float(row["channel4_predicted_se"]) for row in rows] == noise
    assert data["remarkable"][0]["sentence"]
    assert data["breaks_first"][0]["why"].startswith("needs ")
    page = (folder / "report.html").read_text()
    assert "http" not in page.replace("http://www.w3.org/", "")
    told = json.loads(re.search(r'id="audit">(.*?)</script>', page)[1])
    assert len(told["heads"]) == len(told["pictures"]) == 8
    assert told["passages"]["model"]["keys"][:4] == ["One", "two", "three", ","]


def test_key_noise_comes_with_standard_errors(model, text):
    reply = _run(model, "--text", text, "--rows", "2", "--key-bits", "8,4")
    assert reply.exit_code == 0, reply.output
    # The title, and two routes at two bit widths per token and channel
    assert reply.stdout.count(" ± ") == 1 + 2 * 4
    assert max(map(len, reply.stdout.splitlines())) <= 80


def test_made_texts_and_weights(model, text):
    reply = _run(
        model, "--text", text, "--rows", "0", "--induction", "--weights", "--json",
        "--sort", "composition_k",
    )  # fmt: skip
    assert reply.exit_code == 0, reply.stderr
    first = json.loads(reply.stdout)["heads"][0]
    assert first["layer"] == 1
    assert first["composition_k_from"].startswith("0.")
    assert -1 <= first["copying"] <= 1
    assert 0 <= first["induction_random"] <= 1
    assert "retrieval" not in first


def test_a_needle_that_the_model_has_no_room_for_is_refused(model, text):
    reply = _run(model, "--text", text, "--rows", "0", "--needle")
    assert reply.exit_code == 2
    assert "64 tokens, the positions" in reply.stderr
    short = _run(model, "--text", text, "--rows", "0", "--needle", "word")
    assert short.exit_code == 2
    assert "two tokens or more" in short.stderr


def test_the_first_screen_says_what_stands_out(model, text):
    """Sentences, then what breaks first, then heads with a reason; not all heads from 0.0 on."""
    reply = _run(model, "--text", text, "--rows", "2")
    assert reply.exit_code == 0, reply.output
    lines = reply.stdout.splitlines()
    assert lines[1].startswith("1. ")
    breaks = next(i for i, line in enumerate(lines) if line.startswith("Breaks first"))
    table = next(i for i, line in enumerate(lines) if line.split()[:2] == ["head", "what"])
    assert 1 < breaks < table
    assert "largest" in lines[table + 2]
    assert "more heads: --json" in reply.stdout


def test_against_a_model_and_against_a_saved_audit(model, text, tmp_path):
    """The same model has not changed, whichever way it is given."""
    asked = (model, "--text", text, "--rows", "2")
    saved = tmp_path / "before.json"
    saved.write_text(_run(*asked, "--json").stdout)
    for before in (model, saved):
        data = json.loads(_run(*asked, "--against", before, "--json").stdout)
        assert data["changed"] == []
        assert data["change"] == ["None of the 8 heads changed by more than sampling error."]
    reply = _run(*asked, "--against", saved, "--html", tmp_path / "out")
    assert "None of the 8 heads changed" in " ".join(reply.stdout.split())
    assert "None of the 8 heads changed" in (tmp_path / "out" / "report.html").read_text()


def test_against_another_text_or_no_audit(model, text, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("three two one")
    saved = tmp_path / "before.json"
    saved.write_text(_run(model, "--text", other, "--rows", "0", "--json").stdout)
    reply = _run(model, "--text", text, "--rows", "0", "--against", saved)
    assert (reply.exit_code, reply.stderr.count("\n")) == (2, 1)
    assert "the same texts" in reply.stderr
    for against in (other.rename(tmp_path / "x.json"), tmp_path / "none.json", "no-such-model"):
        reply = _run(model, "--text", text, "--rows", "0", "--against", against)
        assert (reply.exit_code, reply.stderr.count("\n")) == (2, 1)


def test_claim(model, text):
    reply = _run(model, "--text", text, "--claim", "b.q", "--json")
    assert reply.exit_code == 0, reply.output
    data = json.loads(reply.stdout)
    assert data["claim"] == "b.q"
    assert len(data["heads"]) == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--key-bits", "four"), "bit widths like 8,4,2"),
        (("--key-bits", "99"), "key_bits"),
        (("--sort", "beauty"), "a measure:"),
        (("--claim", "zz"), "a claim about queries"),
        (("--tokens", "0"), "tokens"),
    ],
)
def test_bad_options(model, text, tmp_path, arguments, message):
    out = tmp_path / "out"
    reply = _run(model, "--text", text, "--html", out, "--csv", tmp_path / "x.csv", *arguments)
    assert reply.exit_code == 2
    assert message in reply.stderr
    assert reply.stderr.count("\n") == 1
    assert not out.exists()
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize(
    ("content", "message"), [("", "an empty text"), (_TEXT * 9, "at most 64 tokens")]
)
def test_bad_texts(model, tmp_path, content, message):
    path = tmp_path / "text.txt"
    path.write_text(content)
    reply = _run(model, "--text", path)
    assert (reply.exit_code, reply.stderr.count("\n")) == (2, 1)
    assert message in reply.stderr


def test_missing_text_and_model(model, text, tmp_path):
    assert "a readable text file" in _run(model, "--text", tmp_path / "none.txt").stderr
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in _run(model, "--text", binary).stderr
    reply = _run("no-such-model", "--text", text)
    assert reply.exit_code == 2
    assert "nothing of the kind" in reply.stderr


def test_a_model_without_its_weights_is_refused(model, text, tmp_path):
    """As a folder is after an unfinished download: the configuration alone, or with half of the
    weights."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(model, tmp_path / "half")
    weights = tmp_path / "half" / "model.safetensors"
    save_file(
        {name: x for name, x in load_file(weights).items() if "layers.1" not in name}, weights
    )
    reply = _run(tmp_path / "half", "--text", text)
    assert (reply.exit_code, reply.stderr.count("\n")) == (2, 1)
    assert "layers.1.self_attn.k_proj.weight" in reply.stderr
    weights.unlink()
    reply = _run(tmp_path / "half", "--text", text)
    assert (reply.exit_code, reply.stderr.count("\n")) == (2, 1)
    assert "safetensors or GGUF" in reply.stderr


def test_without_the_extra_the_install_line_is_the_answer(text):
    """In a process where transformers cannot be imported."""
    code = (
        "import sys; sys.modules['transformers'] = None; "
        "from headwright.cli.audit.command import command; "
        f"command(['any', '--text', {text!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONWARNINGS": "error"},
    )
    assert done.returncode == 2
    assert "pip install 'headwright[models]'" in done.stderr
    assert done.stderr.count("\n") == 1
