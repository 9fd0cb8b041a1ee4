"""From letters with places to text with formulas.

Reading order: `signs`, `strikes`, `stacks`, `words`, `lines`, `scripts`, `formulas`, `paragraphs`.
"""
