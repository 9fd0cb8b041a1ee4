"""The names by which libraries call what probes may pass: found in the callable's own signature."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from headwright.probes.layer.layer import (
    CACHE,
    CAUSAL,
    DOCUMENTS,
    MASK,
    PAIRS,
    POSITIONS,
    WEIGHTS,
    Options,
    Refusal,
)
from headwright.probes.layer.library import Library
from headwright.probes.layer.masks import ADDED, MaskForm, usual

# What a probe means -> the keywords that mean it, the most usual first.
KEYWORDS = {
    MASK: ("attention_mask", "padding_mask", "key_padding_mask"),
    PAIRS: ("attn_mask", "mask"),
    POSITIONS: ("position_ids", "positions", "input_pos"),
    DOCUMENTS: ("document_ids", "doc_ids", "segment_ids", "document_id", "documents"),
    CAUSAL: ("is_causal", "causal"),
    CACHE: ("past_key_values", "past_key_value", "layer_past", "cache", "kv_cache"),
    WEIGHTS: ("need_weights", "output_attentions", "return_attention_scores"),
}
# Of these True means a token that is NOT real.
HIDING = ("key_padding_mask",)
SWITCH_OF_CACHE = "use_cache"
GROUPED_SWITCH = "enable_gqa"

_QUERIES = ("q", "query", "queries", "xq", "Q")


@dataclass(frozen=True)
class Signature:
    """`required` parameters by position, the keyword for each option that is taken, and the form
    that its masks have."""

    required: tuple[str, ...]
    known: dict[str, str]
    names: frozenset[str]
    forms: dict[str, MaskForm] = field(default_factory=dict)
    one_row: bool = False  # positions are (n,), the same for all texts

    @property
    def wants_three(self) -> bool:
        """Queries, keys and values apart."""
        return len(self.required) >= 3 or (bool(self.required) and self.required[0] in _QUERIES)

    def form(self, meaning: str) -> MaskForm:
        """How a mask is written: as was found, or as is usual."""
        return self.forms.get(meaning) or usual(meaning, self.known[meaning] in HIDING)

    def words(self, options: Options, lib: Library, queries: int) -> dict[str, Any]:
        """The keywords of one call on so many queries."""
        made = {}
        for meaning in (MASK, PAIRS):
            seen = getattr(options, meaning)
            if seen is not None:
                form = self.form(meaning)
                form = replace(form, kind=ADDED) if options.additive else form
                array = form.written(seen.astype(bool), queries)
                is_added = form.kind == ADDED
                made[self.known[meaning]] = lib.floats(array) if is_added else lib.whole(array)
        for meaning in (POSITIONS, DOCUMENTS):
            numbered = getattr(options, meaning)
            if numbered is not None:
                rows = numbered.astype(np.int64)
                rows = self._for_all(rows) if meaning == POSITIONS else rows
                made[self.known[meaning]] = lib.whole(rows)
        for meaning in (CAUSAL, WEIGHTS):
            switch = getattr(options, meaning)
            if switch is not None:
                made[self.known[meaning]] = switch
        if options.use_cache is not None:
            made[SWITCH_OF_CACHE] = options.use_cache
        return made

    def _for_all(self, places: np.ndarray) -> np.ndarray:
        """One row of positions, where the layer takes one for all texts."""
        if not self.one_row:
            return places
        if (places != places[:1]).any():
            raise Refusal("takes one row of positions for all texts")
        return places[0]


def keywords_of(layer: Any) -> Signature:
    """Of a layer in one of the two forms; empty where it is of another making."""
    return getattr(layer, "signature", None) or Signature((), {}, frozenset())


def signature(thing: Any) -> Signature:
    """Of a function, or of a module's `forward`. What is written in C has none: three arrays."""
    function = getattr(thing, "forward", thing)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return _documented(function)
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = tuple(p.name for p in by_place if p.default is p.empty)
    return _with_names(required, frozenset(p.name for p in parameters))


def _documented(function: Any) -> Signature:
    """The names stand at the head of the description, as for PyTorch's own functions."""
    head = (getattr(function, "__doc__", None) or "").partition("->")[0]
    inside = head.partition("(")[2].rpartition(")")[0]
    names = frozenset(part.partition("=")[0].strip(" *\n") for part in inside.split(","))
    return _with_names(("query", "key", "value"), names)


def _with_names(required: tuple[str, ...], names: frozenset[str]) -> Signature:
    known = {}
    for meaning, keywords in KEYWORDS.items():
        found = next((word for word in keywords if word in names), None)
        if found is not None:
            known[meaning] = found
    return Signature(required, known, names)
