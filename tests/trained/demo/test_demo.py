"""The demo's heads do what they were built to do, seen by the model's own attention; an audit finds
exactly that."""

import json

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch
from tests.cli.test_conventions import run_here
from tests.tolerances import SINGLE

from headwright.trained import demo
from headwright.trained.demo import rhyme
from headwright.trained.demo.model import made
from headwright.trained.loading.load import load

# By what an audit should know each head
MEASURES = {"0.0": "previous", "0.1": "first", "1.0": "induction", "1.1": "effective_keys"}
# A head leads by so many logits that less than this is left for all other keys together
LEFT_OVER = 0.02


@pytest.fixture(scope="module")
def weights():
    """(layer, head, query, key), from the library's own attention; and the token numbers."""
    model = made().eval()
    model.set_attn_implementation("eager")
    tokens = rhyme.tokenizer()(demo.TEXT.read_text("utf-8"))["input_ids"]
    with torch.no_grad():
        layers = model(torch.tensor([tokens]), output_attentions=True).attentions
    return np.stack([one[0].numpy() for one in layers]), tokens


def test_the_heads_are_what_they_were_built_to_be(weights):
    looks, tokens = weights
    n = len(tokens)
    seen = np.arange(1, n + 1)

    assert np.diagonal(looks[0, 0], -1).min() > 1.0 - LEFT_OVER
    assert looks[0, 1][:, 0].min() > 1.0 - LEFT_OVER
    np.testing.assert_allclose(looks[1, 1], np.tril(np.ones((n, n))) / seen[:, None], atol=SINGLE)
    # The first token has none before it, and notes itself
    noted = [tokens[0], *tokens[:-1]]
    for query in range(n):
        after = [key for key in range(query + 1) if noted[key] == tokens[query]]
        if after:
            assert looks[1, 0][query, after].sum() > 1.0 - 2.0 * LEFT_OVER


def test_the_model_says_what_followed_before():
    """In the last verse, where each word but `the` and `that` had one that followed."""
    model, tokenizer = load(demo.NAME, kind="AutoModelForCausalLM")
    tokens = tokenizer(demo.TEXT.read_text("utf-8"))["input_ids"]
    with torch.no_grad():
        said = model(torch.tensor([tokens])).logits[0].argmax(-1)
    words = tokenizer.convert_ids_to_tokens(tokens)
    place = len(words) - 1 - words[::-1].index("Jack")

    assert tokenizer.convert_ids_to_tokens(said[place : place + 2].tolist()) == ["built", "."]


def test_an_audit_finds_exactly_what_was_built_in():
    done = run_here("audit", "--demo", "--json")
    found = json.loads(done.stdout)

    assert done.exit_code == 0, done.stderr
    assert [one["heads"] for one in found["remarkable"]] == [[name] for name in MEASURES]
    assert [one["numbers"]["measure"] for one in found["remarkable"]] == list(MEASURES.values())
    assert found["breaks_first"][0]["head"] == "1.0"


def test_what_is_typed_beside_the_demo(tmp_path):
    beside = ("--key-bits", "8,2", "--html", str(tmp_path), "--cache-budget", "3")
    shown = run_here("audit", "--demo", *beside)

    assert shown.exit_code == 0, shown.stderr
    assert "1.0 needs 8 bits" in shown.stdout
    assert "3.00 bits per channel" in shown.stdout
    assert "headwright-demo" in (tmp_path / "report.html").read_text("utf-8")
