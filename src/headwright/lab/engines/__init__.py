"""The computations of the page, in processes that can be ended.

Reading order: `calls` (what may be asked), `process` (one engine, which answers a line with a
line), `pool` (a few of them, and what happens to the slow one).
"""
