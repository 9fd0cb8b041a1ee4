"""The commands about heads given as arrays, one file each.

Reading order: `attend` is the shortest whole command; `options` holds what several of them take,
`law` is how noise is spelled. Where showing takes more room than asking, what people see is in a
file of its own: `design_view`, `stress_view`.
"""
