"""The key cache in fewer bits.

Reading order: `quantise`, `prediction`.
"""
