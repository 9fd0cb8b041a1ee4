"""An X-ray as HTML: self-contained, light and dark, readable on a phone.

Reading order: `parts` (the table, the counterexamples), `dependency` and `group` (the two
pictures, as inline SVG), `several` (the layers of a model), `document` (a whole page), `notebook`
(a cell).
"""
