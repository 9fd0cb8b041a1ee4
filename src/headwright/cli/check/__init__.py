"""`headwright check`. Reading order: `command`, `options`, `run` (one call), `documents` (what is
given), `marking` (whose it is and what it is worth), `view` and `course_view` (what the terminal
shows)."""
