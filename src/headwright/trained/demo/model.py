"""The made weights as a folder, which every part of an audit reads like any other model's."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from typing import Any

import numpy as np

from headwright.trained.demo import rhyme, weights
from headwright.trained.library import torch, transformers

_LAYERS = (weights.first_layer, weights.second_layer)


@cache
def folder() -> str:
    """Written once in a run, and gone when the run ends."""
    place = tempfile.mkdtemp(prefix="headwright-demo-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    rhyme.tokenizer().save_pretrained(place)
    made().save_pretrained(place)
    return place


def made() -> Any:
    """A GPT-2 of two layers: its attention is written down, its other parts pass by."""
    words = rhyme.words()
    config = transformers.GPT2Config(
        vocab_size=len(words),
        n_positions=weights.PLACES,
        n_embd=weights.WIDTH,
        n_layer=len(_LAYERS),
        n_head=weights.HEADS,
        n_inner=1,
        bos_token_id=None,
        eos_token_id=None,
    )
    model = transformers.GPT2LMHeadModel(config)
    for parameter in model.parameters():
        parameter.data.zero_()
    body = model.transformer
    _put(body.wte, weights.word_codes(len(words)))
    _put(body.wpe, weights.place_codes())
    _put(body.ln_f, np.ones(weights.WIDTH))
    for block, layer in zip(body.h, _LAYERS, strict=True):
        _fill(block, layer())
    return model


def _fill(block: Any, layer: weights.MadeLayer) -> None:
    # The norm makes a vector of so many codes as long as sqrt(width); with this weight each of
    # its codes has length one again
    per_code = np.sqrt(layer.codes / weights.WIDTH)
    _put(block.ln_1, np.full(weights.WIDTH, per_code))
    _put(block.attn.c_attn, layer.columns)
    block.attn.c_attn.bias.data.copy_(torch.as_tensor(layer.offset))
    _put(block.attn.c_proj, layer.output)


def _put(part: Any, numbers: np.ndarray) -> None:
    part.weight.data.copy_(torch.as_tensor(numbers))
