"""Marks go into the sheet that a platform exported, and nothing else in it changes.

Reading order: `columns` (what a platform's columns mean), `fill`.
"""

from headwright.course.gradebook.columns import columns
from headwright.course.gradebook.fill import Filled, fill, students_of_rows

__all__ = ["Filled", "columns", "fill", "students_of_rows"]
