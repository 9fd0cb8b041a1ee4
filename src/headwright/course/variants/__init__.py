"""The same exercise with other numbers and letters: `variant` (what may differ), `bank` (the
questions of one sheet), `solvable` (the engines' proof that it can be answered; imported where
sheets are made alone: who reads a manifest needs no engines)."""

from __future__ import annotations

from headwright.course.variants.bank import sheet_bank, variant_bank
from headwright.course.variants.variant import Variant, drawn, restored_variant

__all__ = [
    "Variant",
    "drawn",
    "restored_variant",
    "sheet_bank",
    "variant_bank",
]
