"""The whole way: a model and texts in, a table and cards out; and what is refused."""

# ruff: noqa: E402

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'models'")
tf = pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.tolerances import AUDIT, EAGER_SOFTMAX, STREAMED
from tests.trained import naive
from tests.trained.families import FAMILIES, build

import headwright as hw
from headwright.errors import InputError
from headwright.trained import capture, layers
from headwright.trained.batches import Batch, batches
from headwright.trained.claim import check_claim
from headwright.trained.heads import Layer
from headwright.trained.loading.load import find
from headwright.trained.measures.from_rows import LEAK
from headwright.trained.preparation import output_only

_TEXT = (
    "The cat sat on the mat, and the dog sat on the log. "
    "The cat saw the dog, and the dog saw the cat."
)


def _from_full_maps(model, texts, tokenizer=None):
    """Every head's measures by the slow twin, text by text (one text: the numbers themselves)."""
    found = []
    for batch in batches(model, texts, tokenizer):

        def visit(layer, batch=batch):
            found.append(naive.measures(layer.text(0), batch.tokens_of(layer, 0), LEAK))
            return output_only(layer)

        capture.run(model, batch.arguments, visit)
    return {name: np.concatenate([layer[name] for layer in found]) for name in found[0]}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_audited_and_no_number_is_missing(family):
    model, inputs = build(family)
    result = hw.audit(model, inputs, rows=1)
    places = {(card.stack, card.layer, card.head) for card in result}
    layers_found = {(card.stack, card.layer) for card in result}
    assert len(places) == len(result) == 4 * len(layers_found)
    for card in result:
        missing = {name for name, value in card.measures.items() if not np.isfinite(value)}
        # DeBERTa's position terms read the keys: what noise on these does is not known.
        unknown = {"noise_gain"} if "deberta" in family else set()
        assert missing <= {"previous", "duplicate", "induction"} | unknown
        assert unknown <= missing
        assert card.sentence


def test_padding_changes_nothing():
    """Two texts in one padded batch give what they give one after the other."""
    model, _ = build("llama")
    texts = [list(range(1, 30)), list(range(40, 8, -1))]
    together, apart = (hw.audit(model, texts, rows=0, batch=size) for size in (2, 1))
    for a, b in zip(together, apart, strict=True):
        for name in a.measures:
            np.testing.assert_allclose(
                a.measures[name], b.measures[name], rtol=STREAMED, err_msg=name
            )


@pytest.mark.models
def test_minilm_equals_full_maps(minilm):
    from headwright.trained.loading.load import load

    model, tokenizer = load(minilm)
    wanted = _from_full_maps(model, _TEXT, tokenizer)
    ours = hw.audit(model, _TEXT, tokenizer=tokenizer, rows=0)
    assert len(ours) == 72
    for name, values in wanted.items():
        np.testing.assert_allclose(
            [c.measures[name] for c in ours], values, rtol=AUDIT, atol=AUDIT, err_msg=name
        )
    # Known of this model: one head of the first layer looks at the previous token.
    assert ours.sorted("previous")[0].name == "0.2"


@pytest.mark.models
def test_smollm2_equals_full_maps_and_has_its_induction_heads(smollm2):
    model, tokenizer = smollm2
    wanted = _from_full_maps(model, _TEXT, tokenizer)
    ours = hw.audit(model, _TEXT, tokenizer=tokenizer, rows=0)
    assert len(ours) == 270
    for name, values in wanted.items():
        np.testing.assert_allclose(
            [c.measures[name] for c in ours], values, rtol=AUDIT, atol=AUDIT, err_msg=name
        )
    half = np.random.default_rng(4).integers(100, 40_000, 64).tolist()
    repeated = hw.audit(model, [half + half], rows=0)
    best = repeated.sorted("induction")[0]
    assert (best.layer, best.head) == (18, 6)
    assert best.measures["induction"] > 0.5
    assert "repetitions" in best.sentence
    assert sum(c.measures["first"] >= 0.5 for c in ours) > 40


def test_the_head_on_top_is_not_run():
    """A language-model head has no attention and can be larger than the model."""
    config = FAMILIES["llama"][1]
    torch.manual_seed(0)
    top = tf.LlamaForCausalLM(config).eval()
    text = [[1, 2, 3, 2, 1]]
    assert hw.audit(top, text, rows=0).to_csv() == hw.audit(top.model, text, rows=0).to_csv()


def test_table_forms():
    pandas = pytest.importorskip("pandas")
    model, inputs = build("gpt2")
    result = hw.audit(model, inputs, rows=2)
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.loc["model", 1, 3]["entropy"] == result.cards[7].measures["entropy"]
    lines = result.to_csv().splitlines()
    assert len(lines) == 9
    assert lines[0].startswith("layer,head,stack,entropy")
    sharpest = result.sorted("sharpness")
    assert sharpest[0].measures["sharpness"] == max(c.measures["sharpness"] for c in result)


def test_seeded_samples_repeat():
    model, inputs = build("gpt2")
    one, two, other = (hw.audit(model, inputs, rows=2, seed=seed) for seed in (1, 1, 2))
    assert [c.measures["noise_gain"] for c in one] == [c.measures["noise_gain"] for c in two]
    assert [c.measures["noise_gain"] for c in one] != [c.measures["noise_gain"] for c in other]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "at least one text"),
        ([[]], "an empty text"),
        ("words", "a tokenizer"),
        ([list(range(1, 60)) * 2], "at most 64 tokens"),
        ([[1, 2, 99]], "token numbers below 60"),
        (None, "got NoneType"),
        (7, "got int"),
        (b"words", "got bytes"),
        ([[1.5, 2.5]], "lists of token numbers"),
        ([None], "lists of token numbers"),
        ({}, "an empty mapping"),
        ({"input_ids": torch.arange(3)}, r"shape \(3,\)"),
        ({"input_ids": torch.zeros((1, 0), dtype=torch.long)}, r"shape \(1, 0\)"),
        ({"input_ids": "words"}, "input_ids as an array"),
        ({"input_ids": [[1, 99]]}, "token numbers below 60"),
    ],
)
def test_bad_texts(texts, message):
    model, _ = build("gpt2")
    with pytest.raises(InputError, match=message):
        hw.audit(model, texts, rows=0)


def test_a_long_text_can_be_cut():
    model, _ = build("gpt2")
    assert hw.audit(model, [list(range(1, 60)) * 2], rows=0, tokens=40).token_count == 40


def test_nan_activations_name_the_layer():
    model, inputs = build("llama")
    model.layers[1].self_attn.k_proj.weight.data[3, 5] = float("nan")
    with pytest.raises(InputError, match=r"NaN or infinity in layer 1"):
        hw.audit(model, inputs, rows=0)


def test_nan_in_the_output_alone_is_named_as_such():
    """No attention layer sees it: it arises after the last of them."""
    model, inputs = build("llama")
    model.layers[1].mlp.down_proj.weight.data[3, 5] = float("nan")
    with pytest.raises(InputError, match=r"NaN or infinity in the output of LlamaModel"):
        hw.audit(model, inputs, rows=0)


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_encoder_and_decoder_in_every_form(family):
    """Encoder, decoder and cross attention in one table; the last has no previous token."""
    pytest.importorskip("pandas")
    model, _ = build(family)
    result = hw.audit(model, [[5, 6, 7, 5, 6, 7, 8, 9]], rows=2, key_bits=(4,))
    assert {card.stack for card in result} == {"encoder", "decoder", "cross"}
    for card in result:
        assert np.isnan(card.measures["previous"]) == (card.stack == "cross")
        assert card.sentence
    assert {card.stack for card in result.sorted("previous")[-8:]} == {"cross"}
    assert len(result.to_csv().splitlines()) == 1 + len(result) == 1 + len(result.to_pandas())
    for stack in ("encoder", "decoder", "cross"):
        assert result.tokens(0, 1, stack).to_html()
    with pytest.raises(InputError, match="of which there are 3"):
        result.tokens(0, 1)
    assert result.to_html()


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_a_decoder_may_read_more_than_its_encoder(family):
    model, _ = build(family)
    words = {"input_ids": torch.arange(1, 6)[None], "decoder_input_ids": torch.arange(1, 40)[None]}
    for card in hw.audit(model, words, rows=3):
        assert 0.0 <= card.measures["reachable"] <= 1.0


def test_a_decoder_whose_tokens_are_not_known_has_no_patterns():
    """BART makes its decoder's tokens by shifting the text; the text itself would put every pattern
    one place off."""
    model, _ = build("bart")
    ids = torch.tensor([[5, 6, 5, 6, 5, 6]])
    for card in hw.audit(model, {"input_ids": ids}, rows=0):
        assert np.isnan(card.measures["duplicate"]) == (card.stack != "encoder")


@pytest.mark.parametrize(
    ("family", "reads"), [("vit", "pixel_values"), ("whisper", "input_features")]
)
@pytest.mark.parametrize("texts", ["words", [[1, 2, 3]]])
def test_models_that_read_no_text_say_what_to_pass(family, reads, texts):
    model, _ = build(family)
    with pytest.raises(InputError, match=rf"which reads {reads}; got a text; try: --.*hw\.audit"):
        hw.audit(model, texts)


def test_what_a_model_cannot_run_on_it_says_itself():
    for family, texts in (
        ("t5", {"input_ids": torch.arange(4)[None]}),
        ("gpt2", {"inputs": torch.arange(4)[None]}),
    ):
        with pytest.raises(InputError, match="to which it answers ValueError: You"):
            hw.audit(build(family)[0], texts)


def test_a_family_without_a_limit_of_positions_has_none():
    """XLNet says -1."""
    assert len(hw.audit(build("xlnet")[0], [[1, 2, 3]], rows=0)) == 8


def test_learned_sinks_are_what_the_library_s_maps_leave_out():
    """Straight from the maps that the library's own code gives, whose rows do not sum to 1."""
    model, _ = build("gpt_oss, sinks")
    ids = torch.randint(1, 60, (1, 40), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        maps = model(input_ids=ids, output_attentions=True).attentions
    p = np.concatenate([layer[0].numpy() for layer in maps])
    sink = 1.0 - p.sum(axis=-1)
    assert sink.min() > 0.0
    with_sink = np.concatenate([p, sink[..., None]], axis=-1)
    logarithms = np.log(np.where(with_sink > 0, with_sink, 1.0))
    wanted = {
        "sink_share": sink,
        "largest": p.max(axis=-1),
        "first": p[..., 0],
        "entropy": -np.sum(with_sink * logarithms, axis=-1),
    }
    result = hw.audit(model, ids.tolist(), rows=0)
    assert result.difference < EAGER_SOFTMAX
    for name, rows in wanted.items():
        found = [card.measures[name] for card in result]
        np.testing.assert_allclose(found, rows.mean(axis=-1), atol=AUDIT, err_msg=name)
    previous = np.trace(p, offset=-1, axis1=1, axis2=2) / 39
    found = [card.measures["previous"] for card in result]
    np.testing.assert_allclose(found, previous, atol=AUDIT)


def test_sinks_are_told_of_where_there_are_any():
    model, inputs = build("gpt_oss, sinks")
    model.layers[1].self_attn.sinks.data[2] = 30.0
    result = hw.audit(model, inputs, rows=2, key_bits=(4,))
    assert "sink_share" in result.columns
    assert result.cards[6].sentence == (
        "Rests on no key: 100% of its weight goes to the learned sink."
    )
    assert "learned sink" in result.to_html()
    assert "sink_share" not in hw.audit(*build("llama"), rows=0).columns


def test_a_sink_that_is_no_number_names_its_layer():
    model, inputs = build("gpt_oss, sinks")
    model.layers[1].self_attn.sinks.data[2] = float("nan")
    with pytest.raises(InputError, match=r"NaN or infinity in (layer 1|the output)"):
        hw.audit(model, inputs, rows=0)


@pytest.mark.parametrize("tokens", [[7], [7, 7], [7] * 30])
def test_next_to_nothing_to_look_at(tokens):
    """One token, and one token again and again: every form, and no number that is not one."""
    result = hw.audit(build("gpt2")[0], [tokens], rows=2, key_bits=(4, 1))
    assert all(card.measures["largest"] > 0.0 for card in result)
    assert json.dumps(result.plain(), allow_nan=False)
    assert result.to_csv()
    assert result.to_html()
    assert repr(result)


def test_texts_in_other_clothes():
    model, _ = build("gpt2")
    ids = [3, 5, 3, 8]
    wanted = hw.audit(model, [ids], rows=0).to_csv()
    mapping = {"input_ids": [ids]}
    for texts in (
        ids,
        tuple(ids),
        np.asarray(ids),
        np.asarray([ids]),
        torch.tensor(ids),
        [torch.tensor(ids)],
        mapping,
    ):
        assert hw.audit(model, texts, rows=0).to_csv() == wanted


def test_every_layer_is_told_of():
    """One text moves the bar layer by layer; two texts go on where the first one ended."""
    model, _ = build("gpt2")
    told = []
    hw.audit(model, [[1, 2, 3], [4, 5]], rows=0, progress=lambda *step: told.append(step))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_notebook_shows_what_stands_out():
    model, inputs = build("gpt2")
    result = hw.audit(model, inputs, rows=2)
    shown = result._repr_html_()
    assert result.remarkable.findings[0].sentence.split(":")[0] in shown
    assert "Breaks first" in shown
    assert "<script" not in shown
    with pytest.raises(InputError, match="queries=24"):
        hw.audit(model, inputs, rows=0, queries=0).tokens(0, 0)
    with pytest.raises(InputError, match=r"9\.0, of which there are 0"):
        result.tokens(9, 0)


def test_parts_of_the_text_make_up_the_whole():
    model, _ = build("bert")
    card = hw.audit(model, [list(range(1, 33))], rows=0).cards[0]
    for name, parts in card.parts.items():
        np.testing.assert_allclose(np.mean(parts), card.measures[name], rtol=AUDIT, err_msg=name)


def test_reprs_are_short():
    """Of a result, and of all that is found in it: a notebook prints the last line of a cell."""
    model, inputs = build("llama")
    result = hw.audit(model, inputs, rows=2, key_bits=(8, 4, 2))
    assert repr(result).startswith("<Audit of LlamaModel: 8 heads, 34 tokens in 2 texts;")
    claim = check_claim(model, inputs, "b.q")
    layer = next(iter(layers(model, inputs)))
    noise = result.key_noise
    for shown in (result, result.cards[3], noise, noise.settings[0], claim, layer, layer.text(0)):
        assert len(repr(shown)) < 300
        assert "\n" not in repr(shown)
    assert "".join(map(repr, result)).count("<Card") == 8


def _tokens(ids, separators, mask=None):
    """What is known of the keys of a layer that reads these tokens."""
    words = {"input_ids": torch.tensor([ids])} | (
        {} if mask is None else {"attention_mask": torch.tensor([mask])}
    )
    plane = torch.zeros((1, 1, len(ids), 2))
    layer = Layer(
        "model",
        0,
        "layer",
        plane,
        plane,
        plane,
        scale=1.0,
        causal=True,
        mask=None,
        bias=None,
        softcap=None,
    )
    return Batch(words, frozenset(separators)).tokens_of(layer, 0)


def test_the_first_token_is_no_separator():
    """It has a measure of its own; a sink on a start token would otherwise count twice."""
    assert _tokens([5, 3, 5, 7], {5}).separators.tolist() == [False, False, True, False]
    padded = _tokens([5, 5, 3, 5], {5}, mask=[0, 1, 1, 1])
    assert padded.first == 1
    assert padded.separators.tolist() == [False, False, False, True]


def test_first_and_separators_share_one_weight():
    """On a text of separators alone the two make up all of every row."""
    result = hw.audit(build("gpt2")[0], [[7] * 12], tokenizer=_Punctuation(), rows=0)
    for card in result:
        np.testing.assert_allclose(
            card.measures["first"] + card.measures["separators"], 1.0, rtol=AUDIT
        )


class _Punctuation:
    """A tokenizer whose every token is a comma."""

    all_special_ids = ()

    def decode(self, ids):
        return "," * len(ids)


@pytest.mark.parametrize("option", [{"rows": -1}, {"batch": 0}, {"tokens": 0}, {"key_bits": (40,)}])
def test_bad_options(option):
    model, inputs = build("gpt2")
    with pytest.raises(InputError):
        hw.audit(model, inputs, **option)


def test_missing_and_damaged_models(tmp_path):
    with pytest.raises(InputError, match="nothing of the kind"):
        find("no-such-model-anywhere")
    with pytest.raises(InputError, match="nothing of the kind"):
        find(str(tmp_path))
    model, _ = build("bert")
    model.save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(InputError, match="readable weights"):
        hw.audit(str(tmp_path), [[1, 2, 3]])
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "x.gguf").write_bytes(b"GGUF and then nothing")
    with pytest.raises(InputError, match="readable weights"):
        hw.audit(tmp_path / "broken", [[1, 2, 3]])


def test_a_saved_folder_is_read_back(tmp_path):
    model, _ = build("llama")
    model.float().save_pretrained(tmp_path)
    live = hw.audit(model, [[5, 6, 7, 8]], rows=0)
    saved = hw.audit(tmp_path, [[5, 6, 7, 8]], rows=0)
    assert [c.measures["entropy"] for c in live] == [c.measures["entropy"] for c in saved]
