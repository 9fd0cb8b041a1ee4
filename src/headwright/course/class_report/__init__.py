"""The page of a class: marks, distributions, common faults, answers that are the same.

Reading order: `record` (what the page is made from), `spread` (distributions), `alike` (the same
answer by several students), `bars` (how shares are drawn), `sections` (those as HTML), `students`
(the table that can be searched and sorted), `index` (the whole page). `static/` has its script and
its styles. `own_marks` is what a student's own page says of the marks.
"""

from headwright.course.class_report.index import index_page
from headwright.course.class_report.own_marks import own_marks
from headwright.course.class_report.record import ClassRecord

__all__ = ["ClassRecord", "index_page", "own_marks"]
