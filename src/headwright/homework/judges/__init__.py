"""How the answers of each kind of question are tested: a located answer in, an outcome out.

Begin with `distribution`, `output` and `matrix`, one file each; then `condition/` (worlds are
searched that satisfy what was said), `query/` (one head and two), `variation/` (a key of varying
length), `selfattention` and `permutation/` (layers on random matrices). `steps/` tests the formulas
on the way to an answer, and `claims` holds what several judges ask of a statement.
"""
