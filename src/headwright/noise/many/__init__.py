"""One head over many keys, up to millions: keys share cells of a grid.

Reading order: `grid` and `cells` (keys in the cells of a grid), `table` (psi, r and w on that
grid), `groups` (heavy, light and faint keys), `series` and `polynomials` (functions on each piece
of a cell, by few terms), `transfer` (grid to keys and back), `integrand`, `columns` and
`value_sums` (one pass over the values), `cost` (is it worth it?), `moments` (all of it in order).
"""
