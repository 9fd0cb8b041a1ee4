"""The key cache in fewer bits: how far each head's output moves.

Reading order: `prediction` (the expected error of one row), `quantise` (predicted and measured, on
the sampled rows of a layer), `key_noise` (the table of all heads).
"""
