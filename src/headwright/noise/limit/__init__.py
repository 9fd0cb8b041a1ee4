"""Infinitely sharp heads: the largest logit takes all.

Reading order: `winner` (one head), `joint_winners` (several), `moments`.
"""
