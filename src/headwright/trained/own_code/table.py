"""Which attention modules have an adapter, and a model with all of them in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from headwright.trained.own_code import causal, relative
from headwright.trained.own_code.adapter import Adapter, Attend

# By the file and class of the attention module, which say which code it runs: a variant for flash
# attention is another class, and has none.
_ADAPTERS = {
    "modeling_gptj.GPTJAttention": Adapter("_attn", causal.gptj),
    "modeling_codegen.CodeGenAttention": Adapter("_attn", causal.gptj),
    "modeling_gpt_neo.GPTNeoSelfAttention": Adapter("_attn", causal.gpt_neo),
    "modeling_falcon.FalconAttention": Adapter("forward", causal.falcon),
    "modeling_bloom.BloomAttention": Adapter("forward", causal.bloom),
    "modeling_mpnet.MPNetSelfAttention": Adapter("forward", relative.mpnet),
    "modeling_xlnet.XLNetRelativeAttention": Adapter("rel_attn_core", relative.xlnet),
    "modeling_deberta_v2.DisentangledSelfAttention": Adapter("forward", relative.deberta_v2),
    "modeling_deberta.DisentangledSelfAttention": Adapter("forward", relative.deberta),
}


def _adapter(module: Any) -> Adapter | None:
    kind = type(module)
    if not kind.__module__.startswith("transformers.models."):
        return None
    file = kind.__module__.rpartition(".")[2]
    return _ADAPTERS.get(f"{file}.{kind.__name__}")


def has_adapter(model: Any) -> bool:
    return any(_adapter(module) is not None for module in model.modules())


@contextmanager
def adapted(modules: Iterable[Any], attend: Attend) -> Iterator[None]:
    """`attend` in place of the attention of every module with an adapter; whatever happens inside,
    the modules leave as they came."""
    found = [(module, _adapter(module)) for module in modules]
    replaced = []
    try:
        for module, adapter in found:
            if adapter is not None:
                # On the module itself, where it hides the method of the class.
                setattr(module, adapter.method, adapter.made(module, attend))
                replaced.append((module, adapter.method))
        yield
    finally:
        for module, method in replaced:
            delattr(module, method)
