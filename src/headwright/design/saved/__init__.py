"""Designs on disk: one versioned JSON document, and the check that believes none of it.

Reading order: `fields` (one field of a stranger's file), `document` (all of them, and the digest),
`checks` (each statement against the keys), `recheck` (`certify`: all checks of one file).
"""
