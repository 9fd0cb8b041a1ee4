"""What a head's weights say by themselves, without a text.

Reading order: `projections` (the matrices of every head, probed through the model), `circuits`
(what two of them make together: does a head copy, and which earlier heads does it read).
"""
