"""From letters with places to text with formulas.

Reading order: `strikes`, `italics`, `signs`, `words`, `shelf`, `limits`, `stacks`, `lines`,
`scripts`, `formulas`, `paragraphs`.
"""
