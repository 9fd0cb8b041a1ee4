"""From lines and formulas to segments, each with its place, its label and its speaker.

Reading order: `assembly` cuts the text; it asks `delimiters` (with `dollars`) where formulas and
code stand, `item_labels` what a line begins with, `crossed_out` what is left of a formula,
`line_numbers` where it stands; `who_speaks` parts question and answer at the end, by markers or
else by what sentences do (`handout`, which asks `sentences` and `asking`).
"""
