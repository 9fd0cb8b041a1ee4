"""Made texts through whole models."""

import numpy as np
import pytest
from tests.tolerances import AUDIT
from tests.trained import naive

torch = pytest.importorskip("torch", reason="needs the extra 'models'")
tf = pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.trained.families import build  # noqa: E402

import headwright as hw  # noqa: E402
from headwright.errors import InputError  # noqa: E402
from headwright.trained import capture  # noqa: E402
from headwright.trained.batches import Batch  # noqa: E402
from headwright.trained.measures.probes import passes  # noqa: E402
from headwright.trained.measures.probes.repeated import repeated_tokens  # noqa: E402
from headwright.trained.preparation import output_only  # noqa: E402


class Words:
    """As much of a tokenizer as an audit needs."""

    all_special_ids = ()

    def __call__(self, text, **_):
        return {"input_ids": [sum(map(ord, word)) % 60 for word in text.split()]}

    def decode(self, ids):
        return "word"


@pytest.fixture
def long_model():
    torch.manual_seed(5)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 60}
    model = tf.LlamaModel(tf.LlamaConfig(**sizes, **heads, pad_token_id=0)).eval()
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.2)
    return model


def test_repeated_tokens_are_different_and_twice():
    ids = repeated_tokens(50, longest=64, seed=1)
    assert len(ids) == 64
    assert ids[:32] == ids[32:]
    assert len(set(ids)) == 32
    assert len(repeated_tokens(10**5, longest=None, seed=0)) == 256
    with pytest.raises(InputError, match="twice"):
        repeated_tokens(60, longest=3, seed=0)


def test_induction_on_random_tokens_is_that_of_the_full_maps():
    model, _ = build("gpt2")
    found = passes.induction_random(model, seed=4)
    ids = repeated_tokens(60, longest=64, seed=4)
    half = len(ids) // 2

    def visit(layer):
        p = naive.full_weights(layer.text(0))
        later = np.arange(half, 2 * half)
        expected = p[:, later, later - half + 1].mean(axis=1)
        np.testing.assert_allclose(found["model", layer.index], expected, atol=AUDIT)
        return output_only(layer)

    capture.run(model, Batch({"input_ids": torch.tensor([ids])}).arguments, visit)
    assert len(found) == 2


def test_an_audit_with_everything_asked(long_model):
    table = hw.audit(
        long_model,
        [[1, 2, 3, 4, 1, 2, 3]],
        tokenizer=Words(),
        rows=0,
        needle=True,
        induction=True,
        weights=True,
    )
    first = table.cards[0].measures
    last = table.cards[-1].measures
    asked = ("retrieval", "induction_random", "copying", "composition_k")
    assert set(asked) <= set(table.columns)
    assert all(np.isfinite(last[name]) for name in asked)
    assert np.isnan(first["composition_k"])
    row = table.cards[-1].plain()
    assert row["composition_k_from"] in {"0.0", "0.1", "0.2", "0.3"}
    assert len(table.plain()["rotary_energy"][0]) == 4
    assert "OV copying" in table.to_html()
    assert "composition_q_from" in table.to_csv().splitlines()[0]


def test_an_encoder_retrieves_nothing_since_it_sees_the_answer():
    config = tf.BertConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=4,
        vocab_size=60,
    )  # fmt: skip
    found = passes.retrieval(tf.BertModel(config).eval(), Words(), needle=None, seed=0)
    assert np.isnan(found["model", 0]).all()


def test_what_cannot_be_asked_is_refused(long_model):
    with pytest.raises(InputError, match="tokenizer"):
        hw.audit(long_model, [[1, 2, 3]], rows=0, needle=True)
    with pytest.raises(InputError, match="needle"):
        hw.audit(long_model, [[1, 2, 3]], rows=0, needle="")
    with pytest.raises(InputError, match="positions"):
        passes.retrieval(build("gpt2")[0], Words(), needle=None, seed=0)
