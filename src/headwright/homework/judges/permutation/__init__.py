"""Permuted rows of the input (p.perm), and whether positions break the symmetry (p.help).

`random_layer` is a transformer layer on random matrices, `notation` tells what the letters of an
answer stand for on it; `equivariance` and `positions` evaluate the answers' equations.
"""
