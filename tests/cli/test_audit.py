"""`headwright audit` as a newcomer runs it: tables, JSON, files, and one line for everything that goes wrong."""

import csv
import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from click.testing import CliRunner

from headwright.cli.audit import command

_TEXT = "One two three, one two three. " * 4


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A small random model with a tokenizer of its own, in a folder."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    words = {word: i for i, word in enumerate(["[UNK]", "One", "one", "two", "three", ",", "."])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]").save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        vocab_size=7, max_position_embeddings=64,
    )  # fmt: skip
    LlamaModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(_TEXT)
    return str(path)


def _run(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


def test_table(model, text):
    reply = _run(model, "--text", text, "--rows", "1", "--sort", "previous")
    assert reply.exit_code == 0, reply.output
    assert "0.0" in reply.stdout
    assert max(map(len, reply.stdout.splitlines())) <= 80


def test_json_csv_html(model, text, tmp_path):
    sheet, folder = tmp_path / "heads.csv", tmp_path / "out"
    reply = _run(model, "--text", text, "--rows", "2", "--key-bits", "4", "--json", "--csv", sheet, "--html", folder)
    assert reply.exit_code == 0, reply.output
    data = json.loads(reply.stdout)
    assert [(h["layer"], h["head"]) for h in data["heads"]] == [(i, j) for i in range(2) for j in range(4)]
    assert {"entropy", "copy", "induction", "reachable", "noise_gain_se", "sentence"} <= set(data["heads"][0])
    assert len(data["key_noise"]["settings"]) == 2
    with sheet.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["entropy"]) for row in rows] == [h["entropy"] for h in data["heads"]]
    noise = [h["channel4_predicted_se"] for h in data["key_noise"]["heads"]]
    assert [float(row["channel4_predicted_se"]) for row in rows] == noise
    page = (folder / "report.html").read_text()
    assert page.count("<article") == 8
    assert "http" not in page.replace("http://www.w3.org/", "")
    assert page.count('class="weights"') == 8


def test_key_noise_comes_with_standard_errors(model, text):
    reply = _run(model, "--text", text, "--rows", "2", "--key-bits", "8,4")
    assert reply.exit_code == 0, reply.output
    assert reply.stdout.count(" ± ") == 1 + 2 * 4  # the title, and two routes at two bit widths per token and channel
    assert max(map(len, reply.stdout.splitlines())) <= 80


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


@pytest.mark.parametrize(("content", "message"), [("", "an empty text"), (_TEXT * 9, "at most 64 tokens")])
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


def test_without_the_extra_the_install_line_is_the_answer(text):
    """In a process where transformers cannot be imported."""
    code = (
        "import sys; sys.modules['transformers'] = None; from headwright.cli.audit import command; "
        f"command(['any', '--text', {text!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONWARNINGS": "error"}
    )
    assert done.returncode == 2
    assert "pip install 'headwright[models]'" in done.stderr
    assert done.stderr.count("\n") == 1
