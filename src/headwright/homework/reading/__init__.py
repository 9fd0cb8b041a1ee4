"""From what a caller names to a document whose every segment knows where it was typed.

Reading order: `sources` (which documents), `formats` (the way through the readers), `encodings` and
`characters` (bytes to text), `markup` (what LaTeX, Typst, notebooks and Markdown add, taken away),
`segments` (lines and formulas, cut), `document` (the result). `traced_text` is the text all of them
rewrite.
"""
