"""The computations of the page, in processes that can be ended.

Reading order: `calls`, `process`, `pool`.
"""
