"""A trained model in, head cards out: `audit`; or its layers, one at a time: `layers`. Needs the
extra `models`; importing this needs nothing.

Reading order: `auditing` (the whole way), `preparation` (the model and its batches), then along
the way `loading/`, `batches` and `own_inputs/` (what the model reads), `capture` and `own_code/` (a
layer's queries, keys and values), `heads`, `rows/` (one pass over their weights), `gathering` (what
is kept of a layer), `measures/`, `weights/` and `cache/` (numbers per head), `passage/` (where some
queries look), `cards`, `findings/` (what all heads say together), `table` (what comes back) and
`page/`. Beside it: `jobs/` (many models and texts), `layer_by_layer`, `claim`, and `demo/` (a model
made by code, to try an audit on).
"""

from __future__ import annotations

from typing import Any

__all__ = ["audit", "layers"]


def audit(model: Any, texts: Any, **options: Any) -> Any:
    """What every head of `model` does on `texts`: see `headwright.trained.auditing.audit`.

    >>> from transformers import LlamaConfig, LlamaModel
    >>> sizes = {"hidden_size": 8, "intermediate_size": 8, "vocab_size": 16}
    >>> config = LlamaConfig(**sizes, num_hidden_layers=1, num_attention_heads=2)
    >>> hw.audit(LlamaModel(config), [[1, 2, 3, 1, 2, 3]]).extent
    '2 heads, 6 tokens in 1 text'
    """
    from headwright.trained.auditing import audit as run

    return run(model, texts, **options)


def layers(model: Any, words: Any) -> Any:
    """The queries, keys and values of `model` on `words`:
    `headwright.trained.layer_by_layer.layers`.

    >>> import torch
    >>> from headwright.trained import layers
    >>> from transformers import LlamaConfig, LlamaModel
    >>> sizes = {"hidden_size": 8, "intermediate_size": 8, "vocab_size": 16}
    >>> config = LlamaConfig(**sizes, num_hidden_layers=2, num_attention_heads=2)
    >>> words = {"input_ids": torch.tensor([[1, 2, 3]])}
    >>> for layer in layers(LlamaModel(config), words):
    ...     print(layer)
    <Layer 0 of model (layers.0.self_attn): q (1, 2, 3, 4), k (1, 2, 3, 4), v (1, 2, 3, 4)>
    <Layer 1 of model (layers.1.self_attn): q (1, 2, 3, 4), k (1, 2, 3, 4), v (1, 2, 3, 4)>
    """
    from headwright.trained.layer_by_layer import layers as run

    return run(model, words)
