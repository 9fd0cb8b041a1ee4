"""From bytes to text that knows where it came from.

Reading order: `sources`, `traced`, `formats`, then `tex`, `typst`, `macros`; `regions`, `labels`,
`segments`, `voices`; `document` is the result.
"""
