"""One head over many keys, up to millions: keys share cells of a grid.

Reading order: `grid`, `cells`, `polynomials`, `transfer` (grid to keys and back), `blocks`
(memory), `cost` (is it worth it?), `moments`.
"""
