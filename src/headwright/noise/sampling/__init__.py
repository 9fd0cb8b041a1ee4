"""Moments by sampling, where no integral is affordable.

Reading order: `normals` (the points), `noisy_keys` (only these need random numbers), `moments`.
"""
