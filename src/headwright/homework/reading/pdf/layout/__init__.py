"""From letters with places to text with formulas.

Reading order: `strikes`, `italics`, `signs`, `stacks`, `words`, `lines`, `scripts`,
`formulas`, `paragraphs`.
"""
