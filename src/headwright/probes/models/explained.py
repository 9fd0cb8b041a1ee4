"""Findings that the configuration explains: what is so on purpose is not broken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headwright.probes.layer.library import EPS
from headwright.probes.models.intents import (
    has_absolute_positions,
    has_experts,
    rotation_by_length,
)
from headwright.probes.record import BROKEN, NOT_APPLICABLE, UNCLEAR, Finding

_SHIFT = "shift"
_PERMUTATION = "permutation"


@dataclass(frozen=True)
class Design:
    """What is known of a stack as a whole."""

    absolute_positions: bool
    rotation_by_length: str
    experts: bool
    dtype: str

    @classmethod
    def of(cls, model: Any) -> Design:
        return cls(
            has_absolute_positions(model),
            rotation_by_length(model.config),
            has_experts(model),
            str(model.dtype).removeprefix("torch."),
        )


def explained(
    finding: Finding, design: Design, *, whole: bool, told_positions: bool = False
) -> Finding:
    """The finding itself where nothing explains it. `told_positions`: the model tells this layer
    where its tokens stand."""
    unmeant = finding.status in (BROKEN, UNCLEAR)
    if finding.name == _PERMUTATION and unmeant and told_positions:
        words = "the model tells the layer where its tokens stand: none may change places"
        return Finding(_PERMUTATION, NOT_APPLICABLE, words)
    if finding.name == _SHIFT and unmeant and design.absolute_positions and whole:
        words = "positions are a table that is added to the embeddings: no shift is meant to hold"
        return Finding(_SHIFT, NOT_APPLICABLE, words)
    if finding.status != BROKEN:
        return finding
    if finding.name == _SHIFT and design.rotation_by_length:
        words = f"rotations of the kind {design.rotation_by_length} depend on the length of a text"
        return Finding(_SHIFT, NOT_APPLICABLE, words)
    if whole and design.experts and EPS[design.dtype] > EPS["float32"]:
        # A rounding error can send a token to another expert, and the output jumps.
        words = f"{finding.evidence}; in {design.dtype} rounding may choose another expert"
        return replace(finding, status=UNCLEAR, evidence=words, counterexample=None)
    return finding
