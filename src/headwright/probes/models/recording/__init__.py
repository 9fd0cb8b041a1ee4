"""How a model calls its attention modules.

Reading order: `settings` (attributes in place during a call), `stacks` (the parts of a model that
run alone, and what they read), `watching` (calls of attention modules), `calls` (their keywords,
recorded once for every size, padding and set of positions).
"""
