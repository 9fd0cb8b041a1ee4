"""A whole transformers model: every attention layer alone, and the model from its embeddings on.

Reading order: `settings` (attributes in place during a call), `stacks` (the parts of a model that
run alone, and what they read), `calls` (how a model calls its attention modules), `subjects` (both
as layers that probes can run), `intents` (what the configuration says a layer should do), `explained`
(findings that the configuration explains), `implementations` (eager against sdpa), `attending`
(the library's attention function of a layer, for `numbers`, `heads` and `distribution`), `merged`
(one table from many), `probed` (the question itself).
"""
