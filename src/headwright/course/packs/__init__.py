"""What a learning platform runs: an autograder in a zip, and the results it reads.

Reading order: on the platform `grader` (one hand-in, from files to results), `hand_in` (judging
within what a platform allows), `told` (a mark in words), `gradescope` and `prairielearn` (the
results of each), `previous` (what changed since the last hand-in). Where packs are made: `archive`
(the zip), `wheels` (what the checker needs to run), `wheel_file` (how a wheel is written).
"""
