"""psi, r and w on the grid: `strip` (short functions on a lattice) and `graded` (every entry) make
up the table of a `host`; and `device`, every entry beside the keys on an accelerator."""
