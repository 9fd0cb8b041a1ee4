"""Which keys can win, in up to six dimensions: what qhull says, proven for all keys at once.

Reading order: `facets` (what qhull is asked), `simplices` (where a point lies between an apex and a
facet, with error bounds), `cover` (simplices that leave no gap, and the points that are certainly
in one of them), `on_facets` (points exactly on a facet, or within rounding of it), `corners` (who
wins), `fan` (all of it in order).
"""
