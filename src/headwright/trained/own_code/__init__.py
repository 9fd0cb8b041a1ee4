"""Families that compute attention in code of their own, where the library's interface is not asked:
one small adapter each, which puts our attention in the place of theirs.

An adapter replaces one method of the family's attention modules for the time of a forward pass. It
does what the method does up to the logits (projections, rotation, position terms), hands over
queries, keys and values, and takes the output from there. Whether it does so rightly is not
believed: the tapped model is compared with the untouched one, as every model is. Rejected: hooks,
which see neither the queries after rotation nor what is added to the logits.

Reading order: `adapter` (what one is), `causal` and `relative` (the families), `table` (which class
has which).
"""
