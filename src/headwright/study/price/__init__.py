"""The price of a dimension: how long must a query be to average q of N unit keys in d dimensions?

Reading order: `keys` (three families of unit keys), `bounds` (what theorems say of the length, from
below and from above), `job` (one set: its cheapest query, with its certificate), `predicted` (the
length on random keys, from a Gaussian comparison and no fit), `groups` (the sets of one family, N,
q and d together), `law` (how the price falls with d), `figures` and `page`.
"""
