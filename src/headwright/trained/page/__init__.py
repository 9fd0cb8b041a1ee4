"""The audit as a page that needs no other file.

Reading order: `drawings` (a map of all heads, one head's weights), `key_noise` (the section on keys
in few bits), `report` (the page, and what moves on it).
"""
