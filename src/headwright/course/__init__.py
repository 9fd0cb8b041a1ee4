"""Everything around a class: who is who, what an answer is worth, sheets, gradebooks, packs.

Reading order: `people` (students), `marks` (a verdict becomes points).
"""
