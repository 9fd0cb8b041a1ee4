"""Reports as people and other programs want them.

`pages` (one document; `example_tables` are its counterexamples) and `page_folder` (where they are
written; the index of a class is `course/class_report`); `exports` (rows, CSV, faults of a class)
and `human_queue` (what a person should look at); `quoting` is how an answer is quoted
everywhere.
"""
