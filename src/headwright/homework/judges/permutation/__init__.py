"""Permuted rows of the input (p.perm), and whether positions break the symmetry (p.help).

`random_layer` is a transformer layer on random matrices, `notation` tells what the letters of an
answer stand for on it, `definitions` what the document adds, `spelling` what is spelled in a way of
its own. `equations` tries the equations of a proof in every reading, `roles` knows what each of
them says, and `equivariance` judges the proof; `positions` judges p.help.
"""
