"""What a format adds to text, taken away: afterwards every format is lines and formulas.

Reading order: `notebook`, `markdown`; `tex`, and for the text between its formulas `tex_text` and
`tex_lists`; `typst`, `typst_formulas`. All of them meet in `switches` (what a wrapper meant),
`macros` with `macro_definitions`, and `braces`.
"""
