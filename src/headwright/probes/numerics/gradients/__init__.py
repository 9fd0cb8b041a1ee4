"""What autograd says against what the layer does.

Reading order: `recorded` (gradients by torch or JAX), `slopes` (one directional derivative, told
and measured), `masked` (keys that nobody sees), `probe` (all of them).
"""
