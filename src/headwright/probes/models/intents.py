"""What a model's configuration says its layers should do: whom a token sees, and in which way they
differ on purpose from plain attention."""

from __future__ import annotations

from typing import Any

from headwright.probes.intent import Intent
from headwright.probes.models.recording.calls import Place
from headwright.probes.models.recording.settings import shortened
from headwright.trained.library import torch, transformers

_FULL = "full_attention"
_SLIDING = "sliding_attention"
# Rotations whose angles change with the length of the text, by design.
_BY_LENGTH = ("dynamic", "longrope")
# Families that write texts though a token sees all others.
_BOTH_WAYS = ("xlnet", "xlm")
_POSITION_TABLES = ("position_emb", "embed_positions", "wpe", "pos_emb")


def layer_intent(config: Any, place: Place) -> Intent | None:
    """None where the configuration does not say, or says something that has no name here."""
    causal = is_causal(config, place.module)
    kind = _kind(config, place.index)
    if causal is None or kind not in (_FULL, _SLIDING):
        return None
    if kind == _FULL:
        return Intent("causal" if causal else "full")
    # A window to both sides has no name.
    window = shortened(configured_window(config))
    return Intent("window", window) if causal and window else None


def is_causal(config: Any, module: Any) -> bool | None:
    """None where nothing says so. A family that only ever writes texts is causal, whatever one of
    its modules says of itself, unless the configuration makes it look both ways."""
    stated = getattr(module, "is_causal", None)
    if stated or config.is_encoder_decoder:
        return stated
    both_ways = getattr(config, "use_bidirectional_attention", False)
    if both_ways or getattr(config, "is_causal", None) is False:
        return False
    kind = config.model_type
    auto = transformers.models.auto.modeling_auto
    fills_gaps = kind in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if kind in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and not fills_gaps and kind not in _BOTH_WAYS:
        return True
    return stated


def _kind(config: Any, index: int) -> str:
    config = config.get_text_config()
    kinds = getattr(config, "layer_types", None)
    if kinds:
        return kinds[index] if index < len(kinds) else ""
    local = getattr(config, "attention_layers", None)  # GPT-Neo
    if local:
        return _SLIDING if local[index] == "local" else _FULL
    return _SLIDING if configured_window(config) else _FULL


def configured_window(config: Any) -> int | None:
    """Keys that a layer with a window sees, its own among them."""
    config = config.get_text_config()
    if getattr(config, "attention_layers", None):
        return config.window_size
    window = getattr(config, "sliding_window", None)
    is_used = isinstance(window, int) and getattr(config, "use_sliding_window", True)
    return window if is_used else None


def whole_intent(intents: list[Intent | None]) -> Intent | None:
    """Of layers one after another: w keys each reach back L (w - 1) tokens; one layer that sees
    everything is enough for all."""
    known = [meant for meant in intents if meant is not None]
    if not known or len(known) < len(intents):
        return None
    kinds = {meant.kind for meant in known}
    if kinds == {"window"}:
        return Intent("window", 1 + sum((meant.size or 1) - 1 for meant in known))
    if "full" in kinds:
        return Intent("full")
    return Intent("causal")


def has_absolute_positions(model: Any) -> bool:
    """A table of positions that is added to the embeddings."""
    for name, module in model.named_modules():
        is_table = isinstance(module, torch.nn.Embedding)
        if is_table and any(word in name.lower() for word in _POSITION_TABLES):
            return True
    return False


def rotation_by_length(config: Any) -> str:
    """The kind of rotation, where its angles depend on the length of the text."""
    parameters = getattr(config.get_text_config(), "rope_parameters", None) or {}
    nested = [value for value in parameters.values() if isinstance(value, dict)]
    kinds = [each.get("rope_type", "") for each in (parameters, *nested)]
    return next((kind for kind in kinds if kind in _BY_LENGTH), "")


def has_sinks(module: Any) -> bool:
    return isinstance(getattr(module, "sinks", None), torch.Tensor)


def has_experts(model: Any) -> bool:
    return any("expert" in type(part).__name__.lower() for part in model.modules())
