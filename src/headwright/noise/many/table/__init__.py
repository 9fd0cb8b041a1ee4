"""psi, r and w on the grid: `host`, by short functions on a lattice, and `device`, every entry
beside the keys on an accelerator."""
