"""The same exercise with other numbers and letters: `variant` (what may differ), `bank` (the
questions of one sheet), `solvable` (the engines' proof that it can be answered)."""

from __future__ import annotations

from headwright.course.variants.bank import sheet_bank, variant_bank
from headwright.course.variants.solvable import prove_solvable
from headwright.course.variants.variant import Variant, drawn, restored_variant

__all__ = [
    "Variant",
    "drawn",
    "prove_solvable",
    "restored_variant",
    "sheet_bank",
    "variant_bank",
]
