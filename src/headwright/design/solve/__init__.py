"""The cheapest query for one head.

Reading order: `coordinates` (the problem, in the directions that are free), `margin` and
`curvature` (a start, and the Newton matrix), `cheapest` (the solver), `nearest` (the closest
mixture when the exact one is out of reach), `stored` (the query as stored, and what the certificate
says of it), `refused` (no query: with a proof or without), `one_head` (who is asked when).
"""
