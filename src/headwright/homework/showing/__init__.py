"""Reports as people and other programs want them.

`pages` (one document; `example_tables` are its counterexamples), `class_page` (the index) and
`page_folder` (where they are written); `exports` (rows, CSV, Gradescope) and `human_queue` (what a
person should look at); `quoting` is how an answer is quoted everywhere.
"""
