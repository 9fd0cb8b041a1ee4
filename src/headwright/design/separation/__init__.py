"""Which keys, or sets of keys, can ever win?

Reading order: `hull` (copies, and coordinates in use), `placed` (points among the keys), `few` (few
dimensions: what qhull says, proven), `screens` (cheap queries for most keys), `cone` and `pursuit`
(one set against all others, in floats), `exact_rows` and `rational` (the last word), `separate`
(the verdict on one set), `reachability` (all keys), `record` (what was found), `figures`.
"""
