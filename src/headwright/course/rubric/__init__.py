"""What an answer is worth: a TOML file of a teacher, checked against the questions.

Reading order: `record` (what a rubric says), `read` (from TOML, with line numbers in every error),
`lines` (where in the file a key stands), `grading` (verdicts become marks).
"""

from headwright.course.rubric.grading import grade
from headwright.course.rubric.read import plain_rubric, read_rubric
from headwright.course.rubric.record import Rubric

__all__ = ["Rubric", "grade", "plain_rubric", "read_rubric"]
