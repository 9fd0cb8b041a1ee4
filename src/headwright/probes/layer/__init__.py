"""What goes in, in one shape for all probes.

Reading order: `inputs` (arrays by name, tokens next to last), `layer` (what every form can do, and
the options of a call), `library` (arrays of torch, jax or NumPy), `drawing` (random or captured
numbers), `signature` (the keywords a callable takes), `masks` (how it wants them written),
`calling` (one call of somebody's code), `function` and `hidden` (the two forms), `mode` (evaluation
and training), `given` (from what the user has to one of them).
"""
