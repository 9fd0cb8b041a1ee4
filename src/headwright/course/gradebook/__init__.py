"""Marks go into the sheet that a platform exported, and nothing else in it changes.

Reading order: `columns` (what a platform's columns mean), `fill`.
"""

from headwright.course.gradebook.columns import columns
from headwright.course.gradebook.fill import Filled, fill

__all__ = ["Filled", "columns", "fill"]
