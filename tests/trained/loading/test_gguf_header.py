"""Heads of GGUF files: read as the library reads them, and never believed."""

# ruff: noqa: E402

import struct
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")
gguf = pytest.importorskip("gguf", reason="needs the extra 'models'")

from tests.trained.loading.refusals import refused

import headwright as hw
from headwright.errors import InputError
from headwright.trained.loading import gguf_header
from headwright.trained.loading.load import load


def _gguf(path: Path, *, tensors=lambda name: True, **changed) -> Path:
    """A small LLaMA in GGUF; `changed` numbers of its head."""
    numbers = {
        "block_count": 1,
        "context_length": 64,
        "embedding_length": 32,
        "feed_forward_length": 32,
        "attention.head_count": 4,
        "attention.head_count_kv": 4,
        "vocab_size": 60,
        "rope.dimension_count": 8,
    } | changed
    writer = gguf.GGUFWriter(path, "llama")
    for name, value in numbers.items():
        writer.add_uint64(f"llama.{name}", value)
    writer.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-5)
    square, wide, row = (32, 32), (60, 32), (32,)
    shapes = {"token_embd.weight": wide, "output_norm.weight": row}
    shapes |= {
        f"blk.0.{name}.weight": square for name in ("attn_q", "attn_k", "attn_v", "attn_output")
    }
    shapes |= {f"blk.0.{name}.weight": square for name in ("ffn_gate", "ffn_up", "ffn_down")}
    shapes |= {f"blk.0.{name}.weight": row for name in ("attn_norm", "ffn_norm")}
    rng = np.random.default_rng(2)
    for name, shape in shapes.items():
        if tensors(name):
            writer.add_tensor(name, rng.standard_normal(shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_gguf_file_is_read_and_its_head_agrees_with_the_library(tmp_path):
    path = _gguf(tmp_path / "small.gguf")
    header, reader = gguf_header.read(path), gguf.GGUFReader(path)
    assert header.elements == sum(t.n_elements for t in reader.tensors)
    wanted = {
        name: f.parts[f.data[0]][0]
        for name, f in reader.fields.items()
        if f.types[-1].name.endswith("64")
    }
    assert {name: header.numbers[name] for name in wanted if "GGUF." not in name} == {
        name: x for name, x in wanted.items() if "GGUF." not in name
    }
    assert len(hw.audit(path, [[1, 2, 3, 4]], rows=1)) == 4


@pytest.mark.parametrize("missing", [("attn",), ("attn_q",), ("attn_q", "attn_k")])
def test_a_gguf_file_without_attention_is_refused(tmp_path, missing):
    path = _gguf(
        tmp_path / "x.gguf", tensors=lambda name: not any(f".{m}" in name for m in missing)
    )
    with pytest.raises(InputError, match=r"without layers\.0\.self_attn\.[kq]_proj\.weight"):
        load(path)


@pytest.mark.parametrize(
    "changed",
    [
        {"block_count": 2**31},
        {"block_count": 2**62},
        {"embedding_length": 2**31},
        {"vocab_size": 2**40},
        {"attention.head_count": 2**31},
        {"context_length": 2**50},
        {"feed_forward_length": 2**33},
        {"block_count": 4000},
        {"feed_forward_length": 2**17},
        {"vocab_size": 2**20},
    ],
    ids=str,
)
def test_a_gguf_head_that_claims_more_than_the_file_is_refused(tmp_path, monkeypatch, changed):
    path = _gguf(tmp_path / "x.gguf", tensors=lambda name: False, **changed)
    assert path.stat().st_size < 1000
    assert "claimed, with" in refused(path, monkeypatch)


def _head(*, tensors: int = 0, entries: int = 0, body: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, entries) + body


def _entry(kind: int, body: bytes) -> bytes:
    return struct.pack("<Q", 1) + b"a" + struct.pack("<I", kind) + body


def _named(body: bytes) -> bytes:
    """A tensor with the name w."""
    return struct.pack("<Q", 1) + b"w" + body


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GGUF",
        b"GGUF and then nothing",
        b"XXXX" + bytes(60),
        b"GGUF" + struct.pack("<IQQ", 9, 0, 0),
        _head(entries=2**60),
        _head(tensors=2**60),
        _head(entries=1, body=struct.pack("<Q", 2**60)),
        _head(entries=1, body=_entry(8, struct.pack("<Q", 2**60))),
        _head(entries=1, body=_entry(9, struct.pack("<IQ", 0, 2**40))),
        _head(entries=1, body=_entry(9, struct.pack("<IQ", 8, 2**40))),
        _head(entries=1, body=_entry(9, struct.pack("<IQ", 9, 1) * 50_000)),
        _head(entries=1, body=_entry(77, bytes(64))),
        _head(tensors=1, body=_named(struct.pack("<I", 2**31))),
        _head(tensors=1, body=_named(struct.pack("<IQQIQ", 2, 2**40, 2**40, 0, 0))),
    ],
    ids=[
        "empty",
        "letters",
        "text",
        "no letters",
        "version",
        "entries",
        "tensors",
        "long name",
        "long string",
        "array of numbers",
        "array of strings",
        "nested arrays",
        "unknown kind",
        "dimensions",
        "shape",
    ],
)
def test_damaged_gguf_heads_are_one_line(tmp_path, monkeypatch, content):
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    assert "readable weights" in refused(path, monkeypatch)
