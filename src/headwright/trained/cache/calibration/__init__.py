"""What the calibration texts say of every channel.

Reading order: `sensitivity` (what an error costs), `signals` (by energy, from one pass) and
`fisher` (from one backward pass); `ranges` (where numbers may lie, and how large the errors are),
`directions` (the same in a basis of every key head's own), `texts` (all of this, text by text).
"""
