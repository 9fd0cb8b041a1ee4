"""How a pack is made, where the teacher is.

Reading order: `archive` (the zip), `student_banks` (questions that differ from student to student),
`wheels` (what the checker needs to run), `wheel_file` (how a wheel is written). `files/` has the
programs that the platforms run.
"""
