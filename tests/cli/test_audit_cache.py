"""`headwright audit --cache-budget` as a newcomer runs it."""

import json

import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from click.testing import CliRunner

from headwright.cli.audit.command import command
from headwright.trained.cache.budget.document import read_plan

_WORDS = [f"word{i}" for i in range(40)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small random language model with a tokenizer, and two texts that share no passage."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    words = {word: i for i, word in enumerate(["[UNK]", *_WORDS])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]").save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=41, max_position_embeddings=256, initializer_range=0.15,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    (folder / "seen.txt").write_text(" ".join(_WORDS[i * i % 40] for i in range(120)))
    (folder / "unseen.txt").write_text(" ".join(_WORDS[(i * i + i // 7) % 39] for i in range(120)))
    return folder


def _run(folder, *arguments):
    known = [folder, "--text", folder / "seen.txt", "--rows", "0", *arguments]
    return CliRunner().invoke(command, [str(a) for a in known], env={"COLUMNS": "80"})


def test_json_has_the_plan_and_what_decoding_gave(folder):
    reply = _run(folder, "--cache-budget", "3", "--verify", folder / "unseen.txt", "--json")
    assert reply.exit_code == 0, reply.output
    found = json.loads(reply.stdout)
    assert [(row["layer"], row["key_head"]) for row in found["plan"]] == [
        (0, 0), (0, 1), (1, 0), (1, 1)
    ]  # fmt: skip
    bits = [b for row in found["plan"] for b in row["channels"]]
    assert found["mean_bits"] == sum(bits) / len(bits) == 3
    assert found["predicted_kl"] > 0
    verified = found["verified"]
    for name in ("kl", "perplexity", "top1"):
        low, high = verified[f"{name}_interval"]
        assert low <= verified[name] <= high
        assert f"uniform_{name}" in verified
    assert len(found["heads"]) == 8


def test_per_head_with_values_and_exports(folder, tmp_path):
    plan, yaml = tmp_path / "plan.json", tmp_path / "kvtuner.yaml"
    exports = ("--export", f"transformers={plan}", "--export", f"kvtuner={yaml}")
    asked = ("--cache-budget", "3.5", "--per", "head", "--values", *exports)
    reply = _run(folder, *asked, "--json")
    assert reply.exit_code == 0, reply.output
    found = json.loads(reply.stdout)
    assert found["verified"] is None
    assert found["signal"] == "fisher"
    rows = list(read_plan(plan).rows())
    assert rows == found["plan"]
    first = yaml.read_text().splitlines()[0]
    assert str(rows[0]["bits"]) in first
    assert str(rows[0]["value_bits"]) in first


def test_the_plan_is_shown_and_drawn(folder, tmp_path):
    verify = ("--verify", folder / "unseen.txt")
    reply = _run(folder, "--cache-budget", "3", *verify, "--html", tmp_path)
    assert reply.exit_code == 0, reply.output
    assert "cache plan: 3.00 bits per channel by energy" in reply.stdout
    assert "decoded through the cache: 120 tokens" in reply.stdout
    assert max(map(len, reply.stdout.splitlines())) <= 80
    page = (tmp_path / "report.html").read_text()
    assert "The cache in 3.00 bits" in page
    assert page.count(" bits</title>") == 4


def test_directions_go_into_a_file_and_no_other_program(folder, tmp_path):
    path = tmp_path / "plan.json"
    asked = ("--cache-budget", "3", "--per", "direction")
    reply = _run(folder, *asked, "--export", f"transformers={path}", "--json")
    assert reply.exit_code == 0, reply.output
    found = json.loads(reply.stdout)
    assert found["per"] == "direction"
    assert found["mean_bits"] <= 3
    rows = list(read_plan(path).rows())
    assert rows == found["plan"]
    assert len(rows[0]["directions"]) == len(rows[1]["directions"])
    assert min(min(row["directions"]) for row in rows) < 2

    refused = _run(folder, *asked, "--export", f"kvtuner={tmp_path / 'x.yaml'}")
    assert refused.exit_code == 2
    assert "--per head" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--cache-budget", "3", "--verify", "seen.txt"), "has not seen"),
        (("--cache-budget", "0.5"), "cache budget in [1, 16]"),
        (("--cache-budget", "nan"), "cache budget in [1, 16]"),
        (("--cache-budget", "3", "--per", "row"), "per one of"),
        (("--cache-budget", "3", "--export", "gguf=x"), "FORMAT=FILE"),
        (("--cache-budget", "3", "--export", "vllm=x.yaml"), "nearest it can"),
        (("--cache-budget", "3", "--widths", "a"), "bits like 2,4,8"),
        (("--cache-budget", "3", "--verify", "none.txt"), "readable text file"),
        (("--keep-first", "1"), "--cache-budget with --keep-first"),
    ],
)
def test_one_line_for_what_cannot_be(folder, arguments, said, monkeypatch):
    monkeypatch.chdir(folder)
    reply = _run(folder, *arguments)
    assert reply.exit_code == 2
    assert said in reply.stderr
    assert len(reply.stderr.splitlines()) == 1
    assert not (folder / "x").exists()
