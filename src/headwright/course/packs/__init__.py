"""What a learning platform runs: an autograder in a zip, and the results it reads.

Reading order: `grader` (one hand-in, from files to results), `place` (where the platform keeps
things), `own_banks` and `terms` (the questions and their points), `hand_in` (judging within what a
platform allows), `told` (a mark in words), `gradescope` and `prairielearn` (the results of each),
`previous` (what changed since the last hand-in). `making/` is where packs are made.
"""
