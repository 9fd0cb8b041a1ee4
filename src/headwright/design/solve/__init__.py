"""The cheapest query for one head.

Reading order: `coordinates`, `margin`, `curvature`, `cheapest`, `nearest` (when out of reach),
`one_head`.
"""
