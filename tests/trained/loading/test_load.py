"""Model files that lie: missing weights, pickles, sizes that no file holds, damaged headers. Each
is one clear error, before weights are made up, code could run, or memory is asked for."""

# ruff: noqa: E402

import json
import pickle
import struct
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'models'")
tf = pytest.importorskip("transformers", reason="needs the extra 'models'")
gguf = pytest.importorskip("gguf", reason="needs the extra 'models'")

from safetensors.torch import load_file, save_file
from tests.trained.families import FAMILIES, build
from tests.trained.loading.refusals import refused

import headwright as hw
from headwright.errors import InputError
from headwright.trained.loading.load import load


@pytest.fixture
def folder(tmp_path):
    """A whole small model."""
    model, _ = build("llama")
    model.float().save_pretrained(tmp_path)
    return tmp_path


def _keep(folder: Path, kept) -> None:
    path = folder / "model.safetensors"
    save_file(
        {name: x for name, x in load_file(path).items() if kept(name)},
        path,
        metadata={"format": "pt"},
    )


def _configure(folder: Path, **fields) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize(
    ("kept", "named"),
    [
        (
            lambda name: "self_attn" not in name,
            r"layers\.0\.self_attn\.k_proj\.weight.* and 5 more",
        ),
        (lambda name: "layers.1.self_attn" not in name, r"layers\.1\.self_attn\.k_proj\.weight"),
        (
            lambda name: "layers.1.self_attn.q_proj" not in name,
            r"layers\.1\.self_attn\.q_proj\.weight; try",
        ),
        (lambda name: "mlp" not in name, r"layers\.0\.mlp\.down_proj\.weight"),
        (lambda name: "embed" not in name, r"embed_tokens\.weight"),
    ],
    ids=[
        "no attention",
        "half of the attention",
        "one query projection",
        "no perceptrons",
        "no embedding",
    ],
)
def test_missing_weights_are_named_and_not_made_up(folder, kept, named):
    _keep(folder, kept)
    with pytest.raises(InputError, match=named):
        hw.audit(folder, [[1, 2, 3]])


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        ("BertForMaskedLM", "bert"),
        ("LlamaForCausalLM", "llama"),
        ("GPT2LMHeadModel", "gpt2"),
        ("T5ForConditionalGeneration", "t5"),
        ("WhisperForConditionalGeneration", "whisper"),
        ("ViTForImageClassification", "vit"),
    ],
)
def test_checkpoints_with_another_head_have_all_that_is_needed(tmp_path, kind, family):
    """A pooler that they had no use for may be missing; the head they have instead may be left
    over."""
    getattr(tf, kind)(FAMILIES[family][1]).save_pretrained(tmp_path)
    assert isinstance(load(tmp_path)[0], FAMILIES[family][0])


class _Trap:
    """Unpickled, it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize(
    "name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth", "adapter_model.bin"]
)
@pytest.mark.parametrize("by", ["folder", "file", "config", "decoy"])
def test_nothing_is_unpickled(folder, tmp_path_factory, monkeypatch, name, by):
    """Neither by us nor by torch's restricted loader, which the library falls back to."""
    sprung = tmp_path_factory.mktemp("trap") / "sprung"
    (folder / name).write_bytes(pickle.dumps(_Trap(sprung)))
    monkeypatch.setattr(torch, "load", lambda *_, **__: sprung.touch())
    if by == "config":
        _configure(folder, transformers_weights=name)
    elif by == "decoy":
        (folder / "model.safetensors").rename(folder / "other.safetensors")
    else:
        (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match="safetensors"):
        load(folder / name if by == "file" else folder)
    assert not sprung.exists()


def test_safetensors_are_taken_where_a_pickle_lies_beside_them(folder, monkeypatch):
    (folder / "pytorch_model.bin").write_bytes(b"not even a pickle")
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("unpickled"))
    assert load(folder)[0].config.num_hidden_layers == 2


def test_code_beside_a_model_is_not_run(folder):
    trap = folder / "sprung"
    (folder / "modeling_evil.py").write_text(f"open({str(trap)!r}, 'w')\nclass Evil: pass\n")
    _configure(
        folder, auto_map={"AutoModel": "modeling_evil.Evil", "AutoConfig": "modeling_evil.Evil"}
    )
    load(folder)
    _configure(folder, model_type="evil")
    with pytest.raises(InputError):
        load(folder)
    assert not trap.exists()


def test_an_adapter_and_a_single_file_are_told_what_to_do(folder):
    with pytest.raises(InputError, match="the folder of a model"):
        load(folder / "model.safetensors")
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match="merge the adapter"):
        load(folder)


@pytest.mark.parametrize("size", [2**31, 2**62, 5000], ids=["2^31", "2^62", "5000"])
@pytest.mark.parametrize(
    "name", ["num_hidden_layers", "hidden_size", "intermediate_size", "vocab_size"]
)
def test_sizes_that_the_files_cannot_hold_are_refused(folder, monkeypatch, name, size):
    """Of 20,000 weights. 5,000 is no unusual number, and is found out by the size of the model it
    makes."""
    _configure(folder, **{name: size * 32 if size == 5000 and "layers" not in name else size})
    assert "claimed, with" in refused(folder, monkeypatch)


@pytest.mark.parametrize(
    "name", ["num_attention_heads", "max_position_embeddings", "num_labels", "head_dim"]
)
def test_other_numbers_beyond_all_files_are_refused(folder, monkeypatch, name):
    _configure(folder, **{name: 2**31})
    assert f"{name} = 2.14748e+09 claimed" in refused(folder, monkeypatch)


def test_masks_of_a_long_context_count_as_memory(tmp_path, monkeypatch):
    """This family keeps a mask of positions x positions in every layer."""
    sizes = {
        "hidden_size": 32,
        "num_layers": 2,
        "num_heads": 4,
        "vocab_size": 60,
        "max_position_embeddings": 64,
    }
    config = tf.GPTNeoConfig(**sizes, attention_types=[[["global"], 2]])
    tf.GPTNeoModel(config).save_pretrained(tmp_path)
    _configure(tmp_path, max_position_embeddings=100_000)
    assert "bytes of masks and positions claimed" in refused(tmp_path, monkeypatch)


def test_a_long_context_and_a_large_base_are_no_sizes(folder):
    """Rotary positions take no memory, whatever their number."""
    _configure(folder, max_position_embeddings=131_072, rope_theta=10_000_000)
    load(folder)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "7",
        "{",
        '{"model_type": "llama"',
        "[" * 100_000,
        '{"a": ' * 100_000 + "1" + "}" * 100_000,
        '{"model_type": "llama", "num_hidden_layers": ' + "9" * 6000 + "}",
        '{"model_type": "llama", "num_hidden_layers": 1e400}',
        '{"model_type": "llama", "num_hidden_layers": "many"}',
        '{"model_type": "llama", "num_hidden_layers": NaN}',
        '{"model_type": ["llama"]}',
        '{"model_type": "no such"}',
        '{"model_type": "llama", "hidden_size": -32}',
        '{"model_type": "llama", "num_attention_heads": 0}',
        '{"model_type": "llama", "hidden_size": 32, "num_key_value_heads": 0}',
        "\x00\x01",
    ],
    ids=lambda text: text[:40] or "empty",
)
def test_damaged_configurations_are_one_line(folder, text):
    (folder / "config.json").write_text(text)
    with pytest.raises(InputError) as caught:
        load(folder)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def _with_header(header: bytes, length: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header


def _one_tensor(dtype: str, *, shape: str, end: int = 16) -> bytes:
    """A file of one tensor, of which 16 bytes are there."""
    entry = f'{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{end}]}}'
    return _with_header(f'{{"w":{entry}}}'.encode()) + bytes(16)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00",
        _with_header(b"", 2**62),
        _with_header(b"{", 1),
        _with_header(b"[" * 50_000),
        _with_header(b'{"a":' * 5_000 + b"1" + b"}" * 5_000),
        _with_header(b"\xff\xfe"),
        _one_tensor("F32", shape="[9223372036854775807,4]"),
        _one_tensor("F32", shape="[2,2]", end=17179869184),
        _one_tensor("F32", shape="[-4]"),
        _one_tensor("Z99", shape="[4]"),
    ],
    ids=[
        "empty",
        "one byte",
        "2^62 of header",
        "half an object",
        "nested lists",
        "nested objects",
        "no text",
        "huge shape",
        "beyond the end",
        "negative shape",
        "unknown type",
    ],
)
def test_damaged_safetensors_are_one_line(folder, monkeypatch, content):
    (folder / "model.safetensors").write_bytes(content)
    assert "readable weights" in refused(folder, monkeypatch)


def test_a_damaged_tokenizer_leaves_token_numbers(folder):
    (folder / "tokenizer.json").write_text("[" * 100_000)
    (folder / "tokenizer_config.json").write_text('{"a": ' * 100_000)
    assert len(hw.audit(folder, [[1, 2, 3]], rows=0)) == 8
    with pytest.raises(InputError, match="a tokenizer"):
        hw.audit(folder, "words")
