"""A process that answers requests, one line of JSON each, watched by the processor time and memory
it uses.

A process can be ended wherever it is stuck, on every system alike, and it is watched by what it has
used itself, so that a busy machine ends nothing. Rejected: an alarm inside the process (raises
anywhere, is swallowed in finalisers, unknown to threads and to Windows) and `multiprocessing`
(imports the caller's script again, unpickles the answers).

`process` is the parent's side, `answering` the child's, which imports nothing of the other's.
"""
