"""The audit as a page that needs no other file.

Reading order: `report` (the sections), `summary` (what stands out, also for notebooks), `payload`
(the numbers that the page's scripts read), `tokens` (where a head looks, packed; and its view in a
notebook), `key_noise` (keys in few bits), `changes` (against another audit). `static/` has the
scripts and styles, which `embedding` puts into the page as they are.
"""
