"""What the calibration texts say of every channel.

Reading order: `signals` (energy, from one pass) and `fisher` (from one backward pass) for what an
error costs, `ranges` (where numbers may lie, and how large the errors are), `texts` (all of this,
text by text).
"""
