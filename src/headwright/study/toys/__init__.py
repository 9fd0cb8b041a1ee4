"""The study `trained`: do heads that are trained by gradient descent find the designs?

Reading order: `task` (average every pair of keys, and when a pair counts as solved), `training`
(many heads in one tensor program), `shortest` (what the solver does with the same keys),
`random_length` and `away` (a key of random length, and queries that never meet it), `columns`,
`measures` and `job` (from heads to a row), `settings`, `figures` and `page` (what people look at).
"""
