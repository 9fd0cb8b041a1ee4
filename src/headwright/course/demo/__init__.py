"""A sample class with known verdicts, to try everything out with.

Reading order: `tables` (who answers what: class.toml and answers.toml), `documents` (hand-ins in
four formats), `teacher` (roster, rubric, exported gradebooks, what is expected), `writing` (all of
it, into a folder).
"""

from headwright.course.demo.writing import write_demo

__all__ = ["write_demo"]
